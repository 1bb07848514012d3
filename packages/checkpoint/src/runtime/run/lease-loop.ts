import { isTidemarkError, withDeadline } from '@tidemark/core'
import { boundsFault, decideIdleLease } from '@tidemark/log'
import type { BoundsReading } from '@tidemark/log'
import { dirtyReason } from '../dirty-reason.ts'
import { portGraceMs } from './identity-guard.ts'
import type { IdentityGuard } from './identity-guard.ts'
import { watchProgress } from './progress-watch.ts'
import type { RunContext } from './run-context.ts'
import type { StoreWatch } from './store-watch.ts'

/** Third arrow of a run: identity, store and bounds are read again, also without records. */
export interface LeaseLoop {
  /** Re-reads at every lease until the run is aborted. */
  run(): Promise<void>
  /** Monotonic time at which the last complete and good re-read was begun. */
  readonly confirmedAtMs: number
  /** Whether the re-read is overdue, so that nothing may be served. */
  expired(): boolean
}

/** The lease loop of a run. Promises: CKP-39. */
export function createLeaseLoop<Writer>(
  context: RunContext<Writer>,
  guard: IdentityGuard,
  watch: StoreWatch,
): LeaseLoop {
  const { clock, leaseMs, limits } = context.options
  const { signal } = context
  let confirmedAtMs = clock.monotonicMs()
  let boundsReadAtMs = confirmedAtMs
  return {
    async run() {
      let isConfirmed = true
      while (!signal.aborted) {
        await pause(context, isConfirmed)
        if (signal.aborted) return
        const askedAtMs = clock.monotonicMs()
        const asked = [guard.freshVerdict(), watch.recheck(), rereadBounds(context)] as const
        const [verdict, storeReadAtMs, bounds] = await Promise.all(asked)
        if (signal.aborted) return
        if (bounds === undefined) boundsReadAtMs = clock.monotonicMs()
        else failOnLongSilence(context, bounds, clock.monotonicMs() - boundsReadAtMs)
        isConfirmed = verdict.kind === 'proven' && bounds === undefined
        // A reading of the store that was under way already says nothing of what came after it began.
        if (isConfirmed) confirmedAtMs = Math.min(askedAtMs, storeReadAtMs)
      }
    },
    get confirmedAtMs() {
      return confirmedAtMs
    },
    expired: () =>
      decideIdleLease({ leaseMs, stallMsMax: limits.stallMsMax, confirmedAtMs }, clock.monotonicMs()).kind ===
      'expired',
  }
}

/**
 * Waits until the next re-read is due: a lease, or less where trouble was seen.
 *
 * What was not confirmed is asked again soon, and a partition that stands still is looked at again when its time is up:
 * a long lease must not make `stallMsMax` longer.
 */
async function pause<Writer>(context: RunContext<Writer>, isConfirmed: boolean): Promise<void> {
  const { clock, leaseMs, limits } = context.options
  if (!isConfirmed) return clock.sleep(Math.min(leaseMs, Math.ceil(limits.stallMsMax / 5)), context.signal)
  const watchedMs = Math.min(leaseMs, limits.stallMsMax + 1)
  await clock.sleep(watchedMs, context.signal)
  if (context.lanes.some((lane) => lane.stalledSinceMs !== undefined)) return
  await clock.sleep(leaseMs - watchedMs, context.signal)
}

/** Without bounds nobody can tell a partition that is at its end from one that is stuck, so silence is bounded too. */
function failOnLongSilence<Writer>(context: RunContext<Writer>, message: string, silentMs: number): void {
  const { leaseMs, limits } = context.options
  if (silentMs <= leaseMs + limits.stallMsMax) return
  context.fail(dirtyReason('BOUNDS_UNREADABLE', `no offsets for ${Math.round(silentMs)} ms: ${message}`))
}

/** Reads the bounds into the lanes; says why when they could not be read. */
async function rereadBounds<Writer>(context: RunContext<Writer>): Promise<string | undefined> {
  const { limits, clock } = context.options
  const before = new Map(context.lanes.map((lane) => [lane.partition, lane.next]))
  const reading = await askBounds(context)
  if (reading.kind === 'unreadable') return reading.message
  for (const bounds of reading.partitions) {
    const lane = context.laneOf.get(bounds.partition)
    if (lane === undefined) continue
    const reason = watchProgress(lane, bounds, before.get(bounds.partition)!, clock.monotonicMs(), limits.stallMsMax)
    if (reason === undefined) continue
    context.fail(reason)
    break
  }
  return undefined
}

/** Asks for the bounds; what is late, incomplete or not of one log is as good as unread. */
async function askBounds<Writer>(context: RunContext<Writer>): Promise<BoundsReading> {
  const { log, topic, limits, clock } = context.options
  const { partitionCount } = context.start.plan.identity
  const inspect = { deadlineMs: limits.inspectMsMax, signal: context.signal }
  const asked = log.inspector.readBounds(topic, partitionCount, inspect)
  try {
    const reading = await withDeadline(clock, 'reading offsets', limits.inspectMsMax + portGraceMs, asked)
    const fault = reading.kind === 'bounds' ? boundsFault(reading.partitions, partitionCount) : undefined
    return fault === undefined ? reading : { kind: 'unreadable', partition: undefined, message: fault }
  } catch (error) {
    if (!isTidemarkError(error, 'TM_CORE_DEADLINE_EXCEEDED')) throw error
    return { kind: 'unreadable', partition: undefined, message: error.message }
  }
}
