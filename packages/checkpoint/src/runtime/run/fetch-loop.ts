import type { PollResult } from '@tidemark/log'
import { dirtyReason } from '../dirty-reason.ts'
import { createHistoryGuard } from './history-guard.ts'
import type { IdentityGuard } from './identity-guard.ts'
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

/** The fetch loop of a run. Promises: CKP-41. */
export function createFetchLoop<Writer>(context: RunContext<Writer>, guard: IdentityGuard): FetchLoop {
  const { reader, signal, lanes } = context
  const { limits, leaseMs } = context.options
  const history = createHistoryGuard(context)
  let ended = false
  let wake: (() => void) | undefined
  const roomMade = (): void => wake?.()
  signal.addEventListener('abort', roomMade, { once: true })

  const isOver = (): boolean => ended || signal.aborted
  const roomInQueue = async (): Promise<void> => {
    while (!isOver() && queuedBytes(context) >= limits.queuedBytesMax) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    async run() {
      const recordsMax = Math.min(pollRecordsMax, limits.queuedRecordsMax * Math.max(1, lanes.length))
      for (;;) {
        await roomInQueue()
        if (isOver()) return
        const result = await reader.poll({ recordsMax, waitMs: Math.min(leaseMs, pollWaitMsMax) })
        if (signal.aborted) return
        if (result.kind === 'failed') return readFailed(context, result)
        if (!(await history.prove(result.batches))) return
        if (result.batches.length > 0) takeBatches(context, guard, result)
      }
    },
    roomMade,
    end() {
      ended = true
      roomMade()
    },
  }
}

function takeBatches<Writer>(
  context: RunContext<Writer>,
  guard: IdentityGuard,
  result: Extract<PollResult, { kind: 'fetched' }>,
): void {
  const fetch = guard.countFetch()
  for (const batch of result.batches) {
    const { partition } = batch
    const lane = context.laneOf.get(partition)
    if (lane === undefined) {
      const message = `the log delivered partition ${partition}, which was not assigned`
      return context.fail(dirtyReason('READ_FAILED', message, {}, partition))
    }
    const fault = lane.enqueue(batch, fetch)
    if (fault !== undefined) {
      const { expected, found } = fault
      const message = `partition ${partition} delivered ${found} where ${expected} or more was due`
      const values = { expected: String(expected), found: String(found) }
      return context.fail(dirtyReason('OFFSETS_BACKWARDS', message, values, partition))
    }
    if (!lane.paused && lane.queuedRecords >= context.options.limits.queuedRecordsMax) {
      lane.paused = true
      context.reader.pause([partition])
    }
  }
}

function readFailed<Writer>(context: RunContext<Writer>, result: Extract<PollResult, { kind: 'failed' }>): void {
  const { reason, partition, message } = result.failure
  const code = reason === 'out-of-range' ? 'OUT_OF_RANGE' : 'READ_FAILED'
  context.fail(dirtyReason(code, message, { reason }, partition))
}

function queuedBytes<Writer>({ lanes }: RunContext<Writer>): number {
  let bytes = 0
  for (const lane of lanes) bytes += lane.queuedBytes
  return bytes
}
