import { systemClock } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { boundsFault } from '@tidemark/log'
import type { BoundsReading, PartitionBounds } from '@tidemark/log'
import type { AnswerCallback, BrokerConnections, Send } from './broker-connections.ts'
import type { FirstAnswer } from './ask-any-broker.ts'
import type { BrokerAddress } from '../connection-options.ts'
import { answerOf, brokersOfAnswer, isLeaderless } from './topic-metadata.ts'
import type { MetadataAnswer, PartitionMetadata } from './topic-metadata.ts'

/** Which end of a partition is asked for. Source: Kafka's ListOffsets, KIP-98. */
interface OffsetSpec {
  readonly name: 'low' | 'lastStableOffset' | 'highWatermark'
  readonly timestamp: bigint
  readonly isolationLevel: 0 | 1
}

/**
 * Low first and the high watermark last: each can only grow between the requests, so a reading in this order can be
 * true of one log, and `low > last stable > high` remains a proof that it is not.
 */
const specs: readonly OffsetSpec[] = [
  { name: 'low', timestamp: -2n, isolationLevel: 0 },
  { name: 'lastStableOffset', timestamp: -1n, isolationLevel: 1 },
  { name: 'highWatermark', timestamp: -1n, isolationLevel: 0 },
]

/** Errors after which another leader, or the same one a moment later, may answer. */
const movedCodes: ReadonlySet<number> = new Set([3, 5, 6, 8, 9, 74, 75, 78])

/** How long a moved leader is given to settle before the one retry. */
const RETRY_AFTER_MS = 250

interface Unreadable {
  readonly kind: 'unreadable'
  readonly partition: number | undefined
  readonly message: string
  /** Whether fresh metadata may help. */
  readonly moved: boolean
}

type Attempt = { readonly kind: 'bounds'; readonly partitions: readonly PartitionBounds[] } | Unreadable

/** Fetches fresh metadata of the topic, or the reason there is none. */
export type FreshMetadata = (deadlineMs: number) => Promise<FirstAnswer<MetadataAnswer>>

/**
 * Reads low, last stable offset and high watermark of every partition: three requests a leader, leaders in parallel.
 *
 * One missing or failed partition makes the reading unreadable. A moved leader is looked up anew once.
 * Promises: KAF-11.
 */
export async function readPartitionBounds(
  connections: BrokerConnections,
  topic: string,
  partitionCount: number,
  deadlineMs: number,
  metadata: FreshMetadata,
): Promise<BoundsReading> {
  const until = systemClock.monotonicMs() + deadlineMs
  const remainingMs = (): number => Math.max(0, until - systemClock.monotonicMs())
  for (let retried = false; ; retried = true) {
    const attempt = await readOnce(connections, topic, partitionCount, remainingMs, metadata)
    if (attempt.kind === 'unreadable' && attempt.moved && !retried && remainingMs() > RETRY_AFTER_MS) {
      await systemClock.sleep(RETRY_AFTER_MS)
      continue
    }
    if (attempt.kind === 'unreadable') {
      return { kind: 'unreadable', partition: attempt.partition, message: attempt.message }
    }
    const fault = boundsFault(attempt.partitions, partitionCount)
    return fault === undefined ? attempt : { kind: 'unreadable', partition: undefined, message: fault }
  }
}

async function readOnce(
  connections: BrokerConnections,
  topic: string,
  partitionCount: number,
  remainingMs: () => number,
  metadata: FreshMetadata,
): Promise<Attempt> {
  const fresh = await metadata(remainingMs())
  if (fresh.kind === 'none') return unreadable(undefined, fresh.message, false)
  const partitions = fresh.answer.topics.find((entry) => entry.name === topic)?.partitions ?? []
  if (partitions.length !== partitionCount) {
    return unreadable(undefined, `${topic} has ${partitions.length} partitions, ${partitionCount} were expected`, false)
  }
  const leaderless = partitions.find(isLeaderless)
  if (leaderless !== undefined) {
    const { partitionIndex } = leaderless
    return unreadable(partitionIndex, `${topic}[${partitionIndex}] has no leader`, true)
  }
  const addresses = brokersOfAnswer(fresh.answer)
  const byLeader = groupByLeader(partitions)
  const readings = await Promise.all(
    [...byLeader].map(([leaderId, led]) =>
      readLeader(connections, topic, led, addresses.get(leaderId), leaderId, remainingMs),
    ),
  )
  const failure = readings.find((reading) => reading.kind === 'unreadable')
  if (failure !== undefined) return failure
  const bounds = readings.flatMap((reading) => (reading.kind === 'bounds' ? reading.partitions : []))
  return { kind: 'bounds', partitions: bounds.sort((a, b) => a.partition - b.partition) }
}

function groupByLeader(partitions: readonly PartitionMetadata[]): ReadonlyMap<number, readonly PartitionMetadata[]> {
  const groups = new Map<number, PartitionMetadata[]>()
  for (const partition of partitions) {
    const group = groups.get(partition.leaderId)
    if (group === undefined) groups.set(partition.leaderId, [partition])
    else group.push(partition)
  }
  return groups
}

async function readLeader(
  connections: BrokerConnections,
  topic: string,
  partitions: readonly PartitionMetadata[],
  address: BrokerAddress | undefined,
  leaderId: number,
  remainingMs: () => number,
): Promise<Attempt> {
  if (address === undefined) return unreadable(undefined, `leader ${leaderId} is not among the listed brokers`, true)
  const found = new Map(partitions.map(({ partitionIndex }) => [partitionIndex, new Map<OffsetSpec['name'], bigint>()]))
  for (const spec of specs) {
    const exchange = await connections.exchange(address, remainingMs(), askOffsets(topic, partitions, spec))
    if (exchange.kind === 'silence') {
      return unreadable(undefined, `leader ${leaderId}: ${exchange.message}`, exchange.reason === 'unreachable')
    }
    const fault = takeOffsets(topic, exchange.answer, spec, found)
    if (fault !== undefined) return fault
  }
  return {
    kind: 'bounds',
    partitions: [...found].map(([partition, ends]) => ({
      partition,
      low: ends.get('low')! as Offset,
      lastStableOffset: ends.get('lastStableOffset')! as Offset,
      highWatermark: ends.get('highWatermark')! as Offset,
    })),
  }
}

/** A ListOffsets answer, as the wire carries it. */
interface ListOffsetsAnswer {
  readonly topics: readonly {
    readonly name: string | null | undefined
    readonly partitions: readonly {
      readonly partitionIndex: number
      readonly errorCode: number
      readonly offset: bigint
    }[]
  }[]
}

const LIST_OFFSETS_KEY = 2

function askOffsets(
  topic: string,
  partitions: readonly PartitionMetadata[],
  spec: OffsetSpec,
): Send<ListOffsetsAnswer> {
  // The leader epoch makes a deposed leader refuse instead of answering for a log it no longer leads.
  const wanted = partitions.map(({ partitionIndex, leaderEpoch }) => ({
    partitionIndex,
    currentLeaderEpoch: leaderEpoch,
    timestamp: spec.timestamp,
  }))
  return (link, done) => {
    const { client, connection } = link
    const answered: AnswerCallback<ListOffsetsAnswer> = (error, answer) => {
      const partial = answerOf<ListOffsetsAnswer>(error)
      if (partial === undefined) done(error, answer)
      else done(null, partial)
    }
    const api = {
      5: client.listOffsetsV5,
      6: client.listOffsetsV6,
      7: client.listOffsetsV7,
      8: client.listOffsetsV8,
      9: client.listOffsetsV9,
    }
    const version = link.newest(LIST_OFFSETS_KEY, [5, 6, 7, 8, 9])
    if (version === undefined) {
      return done(Object.assign(new Error('the broker speaks no known ListOffsets'), { code: 'UNSUPPORTED_VERSION' }))
    }
    api[version].api(connection, -1, spec.isolationLevel, [{ name: topic, partitions: wanted }], answered)
  }
}

function takeOffsets(
  topic: string,
  answer: ListOffsetsAnswer,
  spec: OffsetSpec,
  found: ReadonlyMap<number, Map<OffsetSpec['name'], bigint>>,
): Unreadable | undefined {
  const answered = answer.topics.find((entry) => entry.name === topic)?.partitions ?? []
  for (const { partitionIndex, errorCode, offset } of answered) {
    const ends = found.get(partitionIndex)
    if (ends === undefined) continue
    if (errorCode !== 0) {
      const message = `${spec.name} of ${topic}[${partitionIndex}]: error code ${errorCode}`
      return unreadable(partitionIndex, message, movedCodes.has(errorCode))
    }
    if (offset < 0n)
      return unreadable(partitionIndex, `${spec.name} of ${topic}[${partitionIndex}] is ${offset}`, false)
    ends.set(spec.name, offset)
  }
  for (const [partition, ends] of found) {
    if (!ends.has(spec.name))
      return unreadable(partition, `${spec.name} of ${topic}[${partition}] was not answered`, false)
  }
  return undefined
}

function unreadable(partition: number | undefined, message: string, moved: boolean): Unreadable {
  return { kind: 'unreadable', partition, message, moved }
}
