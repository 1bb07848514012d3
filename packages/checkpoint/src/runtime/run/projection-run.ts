import type { LogIdentity, SurveyVerdict } from '@tidemark/log'
import { createApplyScheduler } from './apply-scheduler.ts'
import { dirtyReason, dirtyReasonOfThrown } from '../dirty-reason.ts'
import { createFetchLoop } from './fetch-loop.ts'
import { createIdentityGuard } from './identity-guard.ts'
import type { IdentityGuard } from './identity-guard.ts'
import { createLeaseLoop } from './lease-loop.ts'
import { createPartitionLane } from './partition-lane.ts'
import type { PartitionLane } from './partition-lane.ts'
import { noRunCounts } from './run-context.ts'
import type { RunContext, RunCounts } from './run-context.ts'
import { createStepApplier } from './step-applier.ts'
import { createStoreWatch } from './store-watch.ts'

/** The running part of a projection: fetch, prove, apply, re-read. */
export interface ProjectionRun {
  readonly identity: LogIdentity
  readonly lanes: readonly PartitionLane[]
  readonly counts: RunCounts
  /** Monotonic times at which the identity was last proven, and everything last re-read. */
  readonly provenAtMs: number
  readonly confirmedAtMs: number
  /** Whether the periodic re-read is overdue, so that nothing may be served. */
  leaseExpired(): boolean
  /** Applies what is fetched and proven, fetching no more; resolves when done or when the run is aborted. */
  drain(): Promise<void>
}

/** What a run is made of and whom it tells. */
export interface RunParts<Writer> extends Omit<RunContext<Writer>, 'lanes' | 'laneOf' | 'counts'> {
  /** Every partition reached its target and a check that started afterwards proved the identity. */
  caughtUp(): void
}

/** Pause before asking again after an identity check that got no answer. */
const retryMs = 100

/** Starts fetching and applying. Everything ends when the signal is aborted. */
export function startRun<Writer>(parts: RunParts<Writer>): ProjectionRun {
  const context = newContext(parts)
  const { lanes, counts, options, signal, start } = context
  const { identity } = start.plan
  const guard: IdentityGuard = createIdentityGuard({
    inspector: options.log.inspector,
    reader: context.reader,
    held: identity,
    clock: options.clock,
    signal,
    inspectMsMax: options.limits.inspectMsMax,
    stallMsMax: options.limits.stallMsMax,
    retryMs,
    onChecked(verdict, durationMs) {
      counts.identityChecks += 1
      context.notify((observer) => observer.onIdentityCheck?.(verdict, durationMs))
      if (!signal.aborted) judgeCheck(context, guard, verdict)
      if (signal.aborted || verdict.kind !== 'proven') return
      for (const lane of lanes) if (lane.headFetch !== undefined) scheduler.kick(lane)
    },
  })
  const fetching = createFetchLoop(context, guard, (lane) => scheduler.kick(lane))
  const watch = createStoreWatch(context)
  const leases = createLeaseLoop(context, guard, watch)
  const confirmIfCaughtUp = confirmOnce(parts, context, guard)
  const applier = createStepApplier(context, guard, watch, () => {
    fetching.roomMade()
    confirmIfCaughtUp()
  })
  const scheduler = createApplyScheduler(options.limits.stepsInFlightMax, (lane) => applier.applyStep(lane))

  spawn(context, 'fetching', fetching.run())
  spawn(context, 're-reading identity, store and bounds', leases.run())
  confirmIfCaughtUp()
  return {
    identity,
    lanes,
    counts,
    get provenAtMs() {
      return guard.lease.provenAtMs
    },
    get confirmedAtMs() {
      return leases.confirmedAtMs
    },
    leaseExpired: () => leases.expired(),
    async drain() {
      fetching.end()
      await scheduler.whenIdle()
      // What is fetched but unproven waits for one more check; without an answer the stop's deadline ends the wait.
      while (!signal.aborted && lanes.some((lane) => lane.headFetch !== undefined)) {
        await guard.freshVerdict()
        await scheduler.whenIdle()
      }
    },
  }
}

function newContext<Writer>(parts: RunParts<Writer>): RunContext<Writer> {
  const { options, start, reader, signal } = parts
  const lanes = start.plan.partitions.map(createPartitionLane)
  // A replay from zero sets the same records aside again; only a resumed partition adds to what is stored.
  start.plan.partitions.forEach(({ partition, origin }, index) => {
    if (origin === 'checkpoint') lanes[index]!.quarantined = start.quarantined.get(partition) ?? 0
  })
  return {
    options,
    start,
    reader,
    signal,
    lanes,
    laneOf: new Map(lanes.map((lane) => [lane.partition, lane])),
    counts: noRunCounts(),
    fail: (reason) => {
      if (!signal.aborted) parts.fail(reason)
    },
    notify: (call) => parts.notify(call),
  }
}

/** Ends the run on a contradiction, and on silence that lasted too long. */
function judgeCheck<Writer>(context: RunContext<Writer>, guard: IdentityGuard, verdict: SurveyVerdict): void {
  const { clock, limits } = context.options
  if (verdict.kind === 'mismatch') {
    const text = verdict.differences.map((d) => `${d.field} was ${d.expected}, is ${d.found}`).join('; ')
    const values = { broker: verdict.brokerId, differences: verdict.differences.map((d) => ({ ...d })) }
    return context.fail(dirtyReason('IDENTITY_MISMATCH', `broker ${verdict.brokerId}: ${text}`, values))
  }
  const since = guard.lease.unansweredSinceMs
  if (verdict.kind === 'proven' || since === undefined) return
  const unansweredMs = clock.monotonicMs() - since
  if (unansweredMs <= limits.stallMsMax) return
  const message = `no proof of identity for ${Math.round(unansweredMs)} ms (${verdict.reason}): ${verdict.message}`
  context.fail(dirtyReason('IDENTITY_UNPROVEN', message, { broker: verdict.brokerId, reason: verdict.reason }))
}

/** Makes the function that, once every lane is at its target, has the identity inspected again and then says so. */
function confirmOnce<Writer>(parts: RunParts<Writer>, context: RunContext<Writer>, guard: IdentityGuard): () => void {
  const { signal, lanes, options } = context
  let confirming = false
  const confirm = async (): Promise<void> => {
    while (!signal.aborted) {
      const verdict = await guard.freshVerdict()
      if (signal.aborted) return
      if (verdict.kind === 'proven') return parts.caughtUp()
      await options.clock.sleep(retryMs, signal)
    }
  }
  return () => {
    if (confirming || !lanes.every((lane) => lane.next >= lane.target)) return
    confirming = true
    spawn(context, 'confirming the identity', confirm())
  }
}

/** Runs a loop whose own rejection would otherwise be nobody's. */
function spawn<Writer>(context: RunContext<Writer>, doing: string, loop: Promise<void>): void {
  loop.catch((error: unknown) => context.fail(dirtyReasonOfThrown('INTERNAL', doing, error)))
}
