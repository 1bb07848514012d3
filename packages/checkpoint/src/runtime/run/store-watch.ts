import { maxOffset, withDeadline } from '@tidemark/core'
import { dirtyReasonOfThrown } from '../dirty-reason.ts'
import type { RunContext } from './run-context.ts'
import { judgeRecheck } from './store-recheck.ts'
import type { PositionRange } from './store-recheck.ts'

/** Re-reads the store and knows which of its lives was last found to hold what this run wrote. */
export interface StoreWatch {
  /** The server process last verified; writes are bound to it. */
  readonly process: string
  /**
   * Re-reads everything, adopts the process or fails the run; tells when (monotonic, milliseconds) its reading began.
   *
   * One reading at a time serves everyone who asks meanwhile, so it may have begun before it was asked for: what it
   * confirms is the store at its beginning.
   */
  recheck(): Promise<number>
}

/** The watch of a run. Promises: CKP-38. */
export function createStoreWatch<Writer>(context: RunContext<Writer>): StoreWatch {
  let process = context.start.process
  let underWay: Promise<number> | undefined
  const recheck = async (): Promise<void> => {
    const { store, topic, limits, clock, declarations } = context.options
    const { identity } = context.start.plan
    const { nonce } = context.start
    const { fences } = context.start.claim
    // Steps go on while the store is being read, so a position may be anything from here to where its step leads.
    const before = new Map(context.lanes.map((lane) => [lane, { checkpoint: lane.checkpointAt, data: lane.dataAt }]))
    try {
      const reading = store.read({ topic, partitionCount: identity.partitionCount })
      const stored = await withDeadline(clock, 're-reading the stored state', limits.stallMsMax, reading)
      const rangesOf = (side: 'checkpoint' | 'data'): ReadonlyMap<number, PositionRange> =>
        new Map(
          context.lanes.map((lane) => {
            const lowest = before.get(lane)![side]
            // A step that ended meanwhile is in flight no more, but what it wrote may have been read.
            const reached = side === 'checkpoint' ? lane.checkpointAt : lane.dataAt
            return [lane.partition, { lowest, highest: maxOffset(maxOffset(lowest, lane.inFlightTo), reached) }]
          }),
        )
      const [positions, dataPositions] = [rangesOf('checkpoint'), rangesOf('data')]
      const change = judgeRecheck({ identity, declarations, nonce, fences, positions, dataPositions }, stored)
      if (change !== undefined) return context.fail(change)
      process = stored.incarnation.process
    } catch (error) {
      context.fail(dirtyReasonOfThrown('STORE_FAILED', 're-reading the stored state', error))
    }
  }
  return {
    get process() {
      return process
    },
    recheck() {
      const beganAtMs = context.options.clock.monotonicMs()
      underWay ??= recheck()
        .then(() => beganAtMs)
        .finally(() => {
          underWay = undefined
        })
      return underWay
    },
  }
}
