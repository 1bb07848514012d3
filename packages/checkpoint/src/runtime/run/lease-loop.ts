import { decideIdleLease } from '@tidemark/log'
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
  return {
    async run() {
      while (!signal.aborted) {
        await clock.sleep(leaseMs, signal)
        if (signal.aborted) return
        const askedAtMs = clock.monotonicMs()
        const [verdict] = await Promise.all([guard.freshVerdict(), watch.recheck(), rereadBounds(context)])
        if (verdict.kind === 'proven' && !signal.aborted) confirmedAtMs = askedAtMs
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

async function rereadBounds<Writer>(context: RunContext<Writer>): Promise<void> {
  const { log, topic, limits, clock } = context.options
  const before = new Map(context.lanes.map((lane) => [lane.partition, lane.next]))
  const { partitionCount } = context.start.plan.identity
  const inspect = { deadlineMs: limits.inspectMsMax, signal: context.signal }
  const reading = await log.inspector.readBounds(topic, partitionCount, inspect)
  // Unreadable bounds prove nothing either way; the identity lease bounds how long brokers may stay silent.
  if (reading.kind === 'unreadable') return
  for (const bounds of reading.partitions) {
    const lane = context.laneOf.get(bounds.partition)
    if (lane === undefined) continue
    const reason = watchProgress(lane, bounds, before.get(bounds.partition)!, clock.monotonicMs(), limits.stallMsMax)
    if (reason !== undefined) return context.fail(reason)
  }
}
