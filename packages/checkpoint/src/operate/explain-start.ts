import { checkLimit, createCancelSource } from '@tidemark/core'
import type { CancelSignal } from '@tidemark/core'
import type { CommittedLog } from '@tidemark/log'
import type { ProjectionStore } from '../projection-store.ts'
import { resolveDeclarations, resolveReadyTarget } from '../runtime/projection-options.ts'
import { dryRunStart } from '../runtime/start-sequence.ts'
import type { StartObservation } from '../runtime/start-sequence.ts'
import { topicNameOf } from '../namespace.ts'
import type { PlanDeclarations, ReadyTarget } from '../start-planner.ts'

/** What would be started: the parts of a projection that decide whether it may. Log and store stay open; both are only read. */
export interface ExplainStartOptions {
  readonly topic: string
  readonly log: Pick<CommittedLog, 'inspector' | 'readBack'>
  readonly store: Pick<ProjectionStore<never>, 'namespace' | 'writeModel' | 'read'>
  readonly readyTarget: ReadyTarget
  readonly declarations?: Partial<PlanDeclarations>
  /** How long one question to a broker may take. Milliseconds, 10 to 3,600,000. */
  readonly inspectMsMax: number
  readonly signal?: CancelSignal
}

/**
 * What a start would decide and everything it would decide from, without a projection function.
 *
 * It asks and plans by the very steps of a start up to its dry verdict, so the two cannot disagree. Changes nothing.
 * Promises: CKP-48.
 * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED when the store or the log cannot be asked;
 *   TM_CHECKPOINT_OPTION_INVALID, TM_CHECKPOINT_TOPIC_INVALID, TM_CORE_LIMIT_INVALID.
 */
export async function explainStart(options: ExplainStartOptions): Promise<StartObservation> {
  const { topic, log, store, readyTarget } = options
  topicNameOf(topic)
  resolveReadyTarget(readyTarget)
  const inspectMsMax = checkLimit('inspectMsMax', options.inspectMsMax, { min: 10, max: 3_600_000 })
  const declarations = resolveDeclarations(options.declarations)
  const asked = { topic, log, store, readyTarget, declarations, limits: { inspectMsMax } }
  return dryRunStart(asked, options.signal ?? createCancelSource().signal)
}
