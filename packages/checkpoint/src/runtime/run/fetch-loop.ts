import { originOfBatch, PROVEN_BY_ORIGIN } from '@tidemark/log'
import type { PartitionBatch, PollResult } from '@tidemark/log'
import { dirtyReason } from '../dirty-reason.ts'
import { createBackPressure } from './back-pressure.ts'
import { createHistoryGuard } from './history-guard.ts'
import type { IdentityGuard } from './identity-guard.ts'
import type { PartitionLane } from './partition-lane.ts'
import type { RunContext } from './run-context.ts'

/** First arrow of a run: what the reader delivers goes into the lanes, as far as there is room. */
export interface FetchLoop {
  /** Fetches until ended, failed or aborted. */
  run(): Promise<void>
  /** Says that a lane has given up records. */
  roomMade(): void
  /** Fetches no more; what is in the lanes stays there. */
  end(): void
}

/** The most records asked for in one poll, over all partitions. */
const pollRecordsMax = 10_000

/** The longest a poll waits for nothing, so that an end is noticed soon. */
const pollWaitMsMax = 100

/** The fetch loop of a run; `proven` is told of lanes that got what needs no check. Promises: CKP-31, CKP-41. */
export function createFetchLoop<Writer>(
  context: RunContext<Writer>,
  guard: IdentityGuard,
  proven: (lane: PartitionLane) => void,
): FetchLoop {
  const { reader, signal, lanes } = context
  const { limits, leaseMs } = context.options
  const history = createHistoryGuard(context, guard)
  let ended = false
  const isOver = (): boolean => ended || signal.aborted
  const backPressure = createBackPressure(context, isOver)
  return {
    async run() {
      for (;;) {
        await backPressure.room()
        if (isOver()) return
        const recordsMax = Math.min(pollRecordsMax, roomInLanes(lanes, limits.queuedRecordsMax))
        const result = await reader.poll({ recordsMax, waitMs: Math.min(leaseMs, pollWaitMsMax) })
        if (signal.aborted) return
        if (result.kind === 'failed') return readFailed(context, result)
        if (!(await history.prove(result.batches))) return
        if (result.batches.length > 0) takeBatches(context, guard, result.batches, proven)
      }
    },
    roomMade: () => backPressure.roomMade(),
    end() {
      ended = true
      backPressure.roomMade()
    },
  }
}

function takeBatches<Writer>(
  context: RunContext<Writer>,
  guard: IdentityGuard,
  batches: readonly PartitionBatch[],
  proven: (lane: PartitionLane) => void,
): void {
  const { identity } = context.start.plan
  // Before anything of the answer is queued: what came beside a foreign batch is not applied either.
  const foreign = batches.find((batch) => originOfBatch(batch, identity) === 'foreign')
  if (foreign !== undefined) return foreignBatch(context, foreign)
  const lanes = new Set<PartitionLane>()
  let fetch: number | undefined
  for (const batch of batches) {
    const lane = context.laneOf.get(batch.partition)
    if (lane === undefined) {
      const { partition } = batch
      const message = `the log delivered partition ${partition}, which was not assigned`
      return context.fail(dirtyReason('READ_FAILED', message, {}, partition))
    }
    const isProven = originOfBatch(batch, identity) === 'held'
    if (isProven) lanes.add(lane)
    // A check that covers the others must start after all of them came, so they count as one fetch.
    if (!enqueue(context, lane, batch, isProven ? PROVEN_BY_ORIGIN : (fetch ??= guard.countFetch()))) return
  }
  for (const lane of lanes) proven(lane)
}

/** Queues a batch; says whether it could follow what came before. */
function enqueue<Writer>(
  context: RunContext<Writer>,
  lane: PartitionLane,
  batch: PartitionBatch,
  fetch: number,
): boolean {
  const { partition } = lane
  const fault = lane.enqueue(batch, fetch)
  if (fault !== undefined) {
    const { expected, found } = fault
    const message = `partition ${partition} delivered ${found} where ${expected} or more was due`
    const values = { expected: String(expected), found: String(found) }
    context.fail(dirtyReason('OFFSETS_BACKWARDS', message, values, partition))
    return false
  }
  return true
}

function foreignBatch<Writer>(context: RunContext<Writer>, { partition, servedTopicId }: PartitionBatch): void {
  const { topic, topicId } = context.start.plan.identity
  const message = `partition ${partition} of ${topic} was served as topic ${servedTopicId}; ${topicId} is held`
  const differences = [{ field: 'topicId', expected: topicId, found: String(servedTopicId) }]
  context.fail(dirtyReason('IDENTITY_MISMATCH', message, { broker: 'reader', differences }, partition))
}

function readFailed<Writer>(context: RunContext<Writer>, result: Extract<PollResult, { kind: 'failed' }>): void {
  const { reason, partition, message } = result.failure
  const code = reason === 'out-of-range' ? 'OUT_OF_RANGE' : 'READ_FAILED'
  context.fail(dirtyReason(code, message, { reason }, partition))
}

/** How many records a poll may bring: what fits into all lanes, and one lane's worth at least, lest polls become tiny. */
function roomInLanes(lanes: readonly PartitionLane[], queuedRecordsMax: number): number {
  let room = 0
  for (const lane of lanes) if (!lane.paused) room += Math.max(0, queuedRecordsMax - lane.queuedRecords)
  return Math.max(queuedRecordsMax, room)
}
