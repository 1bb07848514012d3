import { nextOffset } from '@tidemark/core'
import type { Clock, Offset } from '@tidemark/core'
import type {
  ClientStatement,
  LogReader,
  LogRecord,
  PartitionBatch,
  PartitionPosition,
  PollRequest,
  PollResult,
  ReaderRequest,
  ReadFailure,
} from '@tidemark/log'
import type { CallGate } from './call-gate.ts'
import { simErrors } from './errors.ts'
import type { SeededChooser } from './seeded-chooser.ts'
import type { SimCluster } from './sim-cluster.ts'
import type { SimTopic } from './sim-topic.ts'

/** How the simulated client behaves; shared by all readers of a log, changed by the test at any time. */
export interface ReaderFaults {
  /** Answers the client's own question about the topic instead of the truth. */
  clientStatement: ClientStatement | undefined
  /** Swallows the one report of a dead partition, as a client does that already gathered records in the same call. */
  swallowFailures: boolean
  /** No fetch is answered while set: positions stay where they are. */
  frozen: boolean
  /** Batches handed out before anything else, wherever the positions stand: late answers of an earlier fetch. */
  readonly staleBatches: PartitionBatch[]
  /** A failure reported by the next poll. */
  nextFailure: ReadFailure | undefined
  /** Never reports reaching the end. */
  endsUnreported: boolean
}

/**
 * What a reader does when the topic under it is recreated: go on silently, or fail because it fetches by id. One that
 * fetches by id says with every batch under which id it was served.
 */
export type RecreationBehaviour = 'silent' | 'fails'

interface Cursor {
  position: Offset
  paused: boolean
  /** Set after an out-of-range answer: the client never fetches this partition again. */
  dead: boolean
  reportedEnd: Offset | undefined
}

/** Everything a simulated reader stands on. */
export interface SimReaderWorld {
  readonly cluster: SimCluster
  readonly clock: Clock
  readonly chooser: SeededChooser
  readonly gate: CallGate
  readonly faults: ReaderFaults
  readonly recreation: RecreationBehaviour
  /** How often an idle poll looks again. */
  readonly idleStepMs: number
}

/** A reader with explicit positions. The topic and its partitions must exist. */
export function createSimReader(world: SimReaderWorld, request: ReaderRequest): LogReader {
  const { cluster, clock, gate, faults } = world
  const topic = cluster.topic(request.topic)
  // An identity that the caller proved is what is fetched, also when the topic was recreated since.
  const openedUnder = request.identity?.topicId ?? topic.topicId
  const cursors = cursorsAt(topic, request.positions)
  let finished: ReadFailure | undefined

  const setPaused = (partitions: readonly number[], paused: boolean): void => {
    for (const partition of partitions) {
      const cursor = cursors.get(partition)
      if (cursor !== undefined) cursor.paused = paused
    }
  }
  const fetchOnce = (recordsMax: number): PollResult | undefined => {
    if (finished !== undefined) return { kind: 'failed', failure: finished }
    if (faults.nextFailure !== undefined) {
      finished = faults.nextFailure
      faults.nextFailure = undefined
      return { kind: 'failed', failure: finished }
    }
    if (faults.staleBatches.length > 0) return { kind: 'fetched', batches: faults.staleBatches.splice(0) }
    // A deleted topic produces neither records nor an error; the client only waits.
    const live = faults.frozen ? undefined : cluster.findTopic(request.topic)
    if (live === undefined) return undefined
    if (world.recreation === 'fails' && live.topicId !== openedUnder) {
      finished = { reason: 'unknown-topic', partition: undefined, message: `topic id ${openedUnder} is unknown` }
      return { kind: 'failed', failure: finished }
    }
    const gathered = gather(world, live, cursors, recordsMax)
    if (gathered.failure !== undefined && !faults.swallowFailures) {
      finished = gathered.failure
      return { kind: 'failed', failure: finished }
    }
    if (gathered.batches.length === 0) return undefined
    if (world.recreation === 'silent') return { kind: 'fetched', batches: gathered.batches }
    return { kind: 'fetched', batches: gathered.batches.map((batch) => ({ ...batch, servedTopicId: live.topicId })) }
  }
  return {
    poll: (poll: PollRequest) =>
      gate.pass('poll', async (): Promise<PollResult> => {
        const untilMs = clock.monotonicMs() + poll.waitMs
        for (;;) {
          const result = fetchOnce(poll.recordsMax)
          if (result !== undefined) return result
          const leftMs = untilMs - clock.monotonicMs()
          if (leftMs <= 0) return { kind: 'fetched', batches: [] }
          await clock.sleep(Math.min(leftMs, world.idleStepMs))
        }
      }),
    pause: (partitions) => setPaused(partitions, true),
    resume: (partitions) => setPaused(partitions, false),
    describeTopic: () =>
      gate.pass('describeTopic', (): ClientStatement => {
        if (finished?.reason === 'closed') throw simErrors.create('TM_SIM_CLOSED', { what: 'the reader' })
        if (faults.clientStatement !== undefined) return faults.clientStatement
        const live = cluster.findTopic(request.topic)
        if (live === undefined) {
          return { kind: 'no-answer', reason: 'unknown-topic', message: `no topic ${request.topic}` }
        }
        return { kind: 'described', topicId: live.topicId, partitionCount: live.partitionCount }
      }),
    async close() {
      finished = { reason: 'closed', partition: undefined, message: 'the reader is closed' }
    },
  }
}

interface Gathered {
  readonly batches: readonly PartitionBatch[]
  readonly failure: ReadFailure | undefined
}

function cursorsAt(topic: SimTopic, positions: readonly PartitionPosition[]): ReadonlyMap<number, Cursor> {
  const cursors = new Map<number, Cursor>()
  for (const { partition, nextOffset: position } of positions) {
    topic.partition(partition)
    cursors.set(partition, { position, paused: false, dead: false, reportedEnd: undefined })
  }
  return cursors
}

/** One fetch over all live partitions. The chooser decides how it is cut into polls; the order within one never changes. */
function gather(
  world: SimReaderWorld,
  topic: SimTopic,
  cursors: ReadonlyMap<number, Cursor>,
  recordsMax: number,
): Gathered {
  const batches: PartitionBatch[] = []
  let failure: ReadFailure | undefined
  let room = recordsMax
  for (const [partition, cursor] of shuffled(world.chooser, [...cursors])) {
    // Records of a partition the client no longer finds do not come; it says nothing about it either.
    if (cursor.paused || cursor.dead || partition >= topic.partitionCount) continue
    // Answers arrive per broker: a poll may see only some of what is ready. At least one look always comes through.
    if (batches.length > 0 && world.chooser.chance(0.4)) continue
    const { low, lastStableOffset, highWatermark } = topic.partition(partition).bounds()
    if (cursor.position < low || cursor.position > highWatermark) {
      cursor.dead = true
      const message = `offset ${cursor.position} out of range (low ${low}, high ${highWatermark})`
      failure ??= { reason: 'out-of-range', partition, message }
      continue
    }
    const wanted = Math.min(room, world.chooser.whole(1, Math.max(1, recordsMax)))
    const read = wanted === 0 ? undefined : topic.partition(partition).readCommitted(cursor.position, wanted)
    const batch = read && advanceCursor(world, partition, cursor, read, lastStableOffset)
    if (batch === undefined) continue
    room -= batch.records.length
    batches.push(batch)
  }
  return { batches, failure }
}

function advanceCursor(
  world: SimReaderWorld,
  partition: number,
  cursor: Cursor,
  read: { readonly records: readonly LogRecord[]; readonly next: Offset },
  end: Offset,
): PartitionBatch | undefined {
  const { records, next } = read
  // `next` lies above the end where the position already did: the end reported is then the position itself.
  const reachedEnd = next >= end && cursor.reportedEnd !== next && !world.faults.endsUnreported
  // The end is an event of its own: it may come with the last records or in a later poll, never before them.
  const reportsEnd = reachedEnd && (records.length === 0 || world.chooser.chance(0.5))
  if (records.length === 0 && !reportsEnd) return undefined
  cursor.position = reportsEnd ? next : nextOffset(records.at(-1)!.offset)
  if (!reportsEnd) return { partition, records }
  cursor.reportedEnd = next
  return { partition, records, endOffset: next }
}

function shuffled<T>(chooser: SeededChooser, items: T[]): T[] {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = chooser.whole(0, index)
    ;[items[index], items[other]] = [items[other]!, items[index]!]
  }
  return items
}
