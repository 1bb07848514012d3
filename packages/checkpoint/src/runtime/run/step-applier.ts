import type { AdvanceOutcome } from '../../projection-store.ts'
import { dirtyReason, dirtyReasonOfThrown } from '../dirty-reason.ts'
import type { IdentityGuard } from './identity-guard.ts'
import type { PartitionLane } from './partition-lane.ts'
import type { RunContext } from './run-context.ts'
import { buildStep } from './step-builder.ts'
import type { BuiltStep } from './step-builder.ts'
import type { StoreWatch } from './store-watch.ts'

/** Second arrow of a run: proven records of a lane become one confirmed step. */
export interface StepApplier {
  /** Applies the next step of a lane, if its oldest records are proven. Never rejects. */
  applyStep(lane: PartitionLane): Promise<'more' | 'nothing'>
}

/**
 * How often in a row a step of one lane may find the store's process changed. Each time everything is re-read and the process
 * adopted, so a store that goes on denying it contradicts itself, and building the step again would never end.
 */
const PROCESS_CHANGES_MAX = 16

/** The applier of a run; `advanced` is called after every confirmed step. Promises: CKP-81. */
export function createStepApplier<Writer>(
  context: RunContext<Writer>,
  guard: IdentityGuard,
  watch: StoreWatch,
  advanced: () => void,
): StepApplier {
  const { options, signal } = context
  const { store } = options
  const changes = new Map<number, number>()
  const settings = {
    project: options.project,
    undecodable: options.undecodable,
    recordsMax: options.limits.batchRecordsMax,
    limits: store.stepLimits,
    newWrites: () => store.newWrites(),
  }
  const apply = async (lane: PartitionLane): Promise<'more' | 'nothing'> => {
    if (signal.aborted || lane.headFetch === undefined) return 'nothing'
    if (guard.decide(lane.headFetch).kind !== 'apply') return 'nothing'
    const step = buildStep(lane.provenItems(guard.lease.proven), settings)
    switch (step.kind) {
      case 'nothing':
        return 'nothing'
      case 'undecodable': {
        const message = `record ${step.offset} of partition ${lane.partition} cannot be projected: ${step.reason}`
        context.fail(dirtyReason('UNDECODABLE', message, { offset: String(step.offset) }, lane.partition))
        return 'nothing'
      }
      case 'threw': {
        const doing = `projecting record ${step.offset} of partition ${lane.partition}`
        context.fail(dirtyReasonOfThrown('PROJECT_FAILED', doing, step.error, lane.partition))
        return 'nothing'
      }
      case 'step':
        return advance({ context, watch, changes, advanced }, lane, step)
    }
  }
  return {
    applyStep: (lane) =>
      apply(lane).catch((error: unknown): 'nothing' => {
        context.fail(dirtyReasonOfThrown('INTERNAL', `applying partition ${lane.partition}`, error, lane.partition))
        return 'nothing'
      }),
  }
}

/** What every step of a run is applied with. */
interface Applying<Writer> {
  readonly context: RunContext<Writer>
  readonly watch: StoreWatch
  /** By partition: how often in a row its step found the process changed. */
  readonly changes: Map<number, number>
  readonly advanced: () => void
}

async function advance<Writer>(
  applying: Applying<Writer>,
  lane: PartitionLane,
  step: BuiltStep<Writer>,
): Promise<'more' | 'nothing'> {
  const { context, watch, changes, advanced } = applying
  const { store, clock } = context.options
  const { partition } = lane
  const startedMs = clock.monotonicMs()
  lane.begin(step.to)
  let outcome: AdvanceOutcome
  try {
    outcome = await store.advance({
      identity: context.start.plan.identity,
      partition,
      fence: context.start.claim.fences.get(partition)!,
      process: watch.process,
      from: lane.next,
      to: step.to,
      ...(lane.apart === undefined ? {} : { apart: lane.apart }),
      writes: step.writes,
      witness: step.witness,
      quarantine: step.quarantine,
    })
  } catch (error) {
    context.fail(dirtyReasonOfThrown('STORE_FAILED', `writing partition ${partition}`, error, partition))
    return 'nothing'
  }
  if (outcome.kind !== 'advanced') return lost(applying, lane, outcome)
  changes.delete(partition)
  confirmed(context, lane, step, outcome.resent, clock.monotonicMs() - startedMs)
  advanced()
  return 'more'
}

function confirmed<Writer>(
  context: RunContext<Writer>,
  lane: PartitionLane,
  step: BuiltStep<Writer>,
  resent: boolean,
  durationMs: number,
): void {
  const { counts, reader, signal, options } = context
  const { partition } = lane
  lane.finish()
  lane.stalledSinceMs = undefined
  lane.quarantined += step.quarantine.length
  counts.recordsApplied += step.records
  counts.stepsApplied += 1
  counts.stepsResent += resent ? 1 : 0
  counts.quarantinedHere += step.quarantine.length
  const writes = step.writes.writeCount
  const report = { partition, records: step.records, writes, nextOffset: step.to, resent, durationMs }
  context.notify((observer) => observer.onStep?.(report))
  for (const entry of step.quarantine) context.notify((observer) => observer.onQuarantine?.(entry))
  if (lane.paused && lane.queuedRecords <= options.limits.queuedRecordsMax / 2 && !signal.aborted) {
    lane.paused = false
    reader.resume([partition])
  }
}

async function lost<Writer>(
  { context, watch, changes }: Applying<Writer>,
  lane: PartitionLane,
  outcome: Exclude<AdvanceOutcome, { kind: 'advanced' }>,
): Promise<'more' | 'nothing'> {
  const { partition } = lane
  lane.begin(lane.next)
  context.counts.conflicts += 1
  context.notify((observer) => observer.onConflict?.(partition, outcome.kind))
  switch (outcome.kind) {
    case 'process-changed': {
      const times = (changes.get(partition) ?? 0) + 1
      changes.set(partition, times)
      if (times > PROCESS_CHANGES_MAX) {
        const found = outcome.process
        const message = `the store's process changed ${times} times in a row under one step of partition ${partition}, last to ${found}`
        context.fail(dirtyReason('STORE_FAILED', message, { times, held: watch.process, found }, partition))
        return 'nothing'
      }
      // The checkpoint did not move; data that lives apart may have. The step is built again once everything has been re-read and found to be ours.
      if (outcome.dataAt !== undefined) lane.dataMoved(outcome.dataAt)
      await watch.recheck()
      return context.signal.aborted ? 'nothing' : 'more'
    }
    case 'fenced': {
      const found = outcome.found ?? 'none'
      context.fail(dirtyReason('FENCED', `partition ${partition} was claimed by another writer`, { found }, partition))
      return 'nothing'
    }
    case 'conflict': {
      const { key, field, expected } = outcome
      const found = outcome.found ?? null
      const message = `${key}: ${field} is ${found ?? 'missing'}, ${expected} was due`
      context.fail(dirtyReason('CONFLICT', message, { key, field, expected, found }, partition))
      return 'nothing'
    }
  }
}
