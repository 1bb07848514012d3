import type { CancelSignal, Clock } from '@tidemark/core'
import type { LogReader } from '@tidemark/log'
import type { DirtyReason } from '../dirty-reason.ts'
import type { PartitionLane } from './partition-lane.ts'
import type { ProjectionObserver } from '../projection-observer.ts'
import type { ResolvedOptions } from '../projection-options.ts'
import type { ClaimedStart } from '../start-sequence.ts'

/** What every part of a run works with. */
export interface RunContext<Writer> {
  readonly options: ResolvedOptions<Writer> & { readonly clock: Clock }
  readonly start: ClaimedStart
  readonly reader: LogReader
  /** Aborted when the run is over; nothing is applied afterwards. */
  readonly signal: CancelSignal
  readonly lanes: readonly PartitionLane[]
  readonly laneOf: ReadonlyMap<number, PartitionLane>
  readonly counts: RunCounts
  /** The run cannot go on. Only the first reason of a run counts. */
  fail(reason: DirtyReason): void
  /** Calls one hook of the observer, shielded from what it throws. */
  notify(call: (observer: ProjectionObserver) => void): void
}

/** Totals of a run. */
export interface RunCounts {
  recordsApplied: number
  stepsApplied: number
  stepsResent: number
  conflicts: number
  identityChecks: number
  quarantinedHere: number
}

/** Totals of a run that has not begun. */
export function noRunCounts(): RunCounts {
  return { recordsApplied: 0, stepsApplied: 0, stepsResent: 0, conflicts: 0, identityChecks: 0, quarantinedHere: 0 }
}
