import type { SurveyVerdict } from '@tidemark/log'
import type { QuarantineEntry } from '../quarantine-entry.ts'
import type { DirtyReason } from './dirty-reason.ts'
import type { ProjectionState } from './projection-state.ts'

/** Metric and log hooks. They must be quick and are never awaited; one that throws is counted and otherwise ignored. */
export interface ProjectionObserver {
  /** The state changed; `reason` is set when it became dirty. */
  onState?(state: ProjectionState, reason: DirtyReason | undefined): void
  /** A step was confirmed. */
  onStep?(step: StepReport): void
  /** An identity check ended. */
  onIdentityCheck?(verdict: SurveyVerdict, durationMs: number): void
  /** A store refused a step because something else had changed what it compares. */
  onConflict?(partition: number, kind: 'fenced' | 'conflict' | 'process-changed'): void
  /** A record was set aside, durably. */
  onQuarantine?(entry: QuarantineEntry): void
}

/** One confirmed step of one partition. */
export interface StepReport {
  readonly partition: number
  readonly records: number
  readonly writes: number
  readonly nextOffset: bigint
  /** True when the store found the step already done: a resent command. */
  readonly resent: boolean
  readonly durationMs: number
}
