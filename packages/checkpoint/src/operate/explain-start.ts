import { checkLimit, coreErrors, createCancelSource } from '@tidemark/core'
import type { CancelSignal } from '@tidemark/core'
import type { CommittedLog } from '@tidemark/log'
import { counted } from '../counted.ts'
import type { ProjectionStore } from '../projection-store.ts'
import { resolveDeclarations, resolveReadBackMsMax, resolveReadyTarget } from '../runtime/projection-options.ts'
import { dryRunStart } from '../runtime/start-sequence.ts'
import type { StartObservation } from '../runtime/start-sequence.ts'
import { identityFirst } from '../refusals/identity-first.ts'
import { topicNameOf } from '../namespace.ts'
import { refuse } from '../refusal.ts'
import type { PlanDeclarations, PlanVerdict, ReadyTarget } from '../start-planner.ts'
import type { StoreInspector } from '../store-inspector.ts'
import { findStrayKeys } from './stray-keys.ts'
import type { StrayKeys } from './stray-keys.ts'

/** What would be started: the parts of a projection that decide whether it may. Log and store stay open; both are only read. */
export interface ExplainStartOptions {
  readonly topic: string
  readonly log: Pick<CommittedLog, 'inspector' | 'readBack'>
  readonly store: Pick<ProjectionStore<never>, 'namespace' | 'writeModel' | 'read'>
  readonly readyTarget: ReadyTarget
  readonly declarations?: Partial<PlanDeclarations>
  /** How long one question to a broker may take. Milliseconds, 10 to 3,600,000. */
  readonly inspectMsMax: number
  /** As `limits.readBackMsMax` of a projection, with the same default. */
  readonly readBackMsMax?: number
  /**
   * Walks every key of the namespace as well, for checkpoints that neither the index nor the search beyond the partition
   * count finds. A start itself does not do that. Cost: a pass over the whole store.
   */
  readonly deep?: Pick<StoreInspector, 'scanKeys'>
  /** Ends the look; what it left unasked or unscanned is never taken for an answer. */
  readonly signal?: CancelSignal
}

/** A reason for which a start may still be refused, since only the start itself asks about it. */
export interface OpenQuestion {
  readonly code: 'DATA_NOT_EMPTY'
  readonly message: string
}

/** What a start would decide, what from, what stays open, and what a deep look found. */
export interface StartExplanation extends StartObservation {
  /** Empty where the start asks no more than was asked here. */
  readonly leftOpen: readonly OpenQuestion[]
  /** Absent unless asked for, and where no partition count is known to judge by. */
  readonly strays?: StrayKeys
}

/**
 * What a start would decide and everything it would decide from, without a projection function.
 *
 * It asks and plans by the very steps of a start up to its dry verdict, so the two cannot disagree. Changes nothing.
 * Promises: CKP-48.
 * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED when the store or the log cannot be asked;
 *   TM_CHECKPOINT_OPTION_INVALID, TM_CHECKPOINT_TOPIC_INVALID, TM_CORE_LIMIT_INVALID; TM_CORE_CANCELLED when the signal
 *   ends it.
 */
export async function explainStart(options: ExplainStartOptions): Promise<StartExplanation> {
  const { topic, log, store, readyTarget } = options
  topicNameOf(topic)
  resolveReadyTarget(readyTarget)
  const inspectMsMax = checkLimit('inspectMsMax', options.inspectMsMax, { min: 10, max: 3_600_000 })
  const readBackMsMax = resolveReadBackMsMax('readBackMsMax', options.readBackMsMax)
  const declarations = resolveDeclarations(options.declarations)
  const asked = { topic, log, store, readyTarget, declarations, limits: { inspectMsMax, readBackMsMax } }
  const observation = await dryRunStart(asked, options.signal ?? createCancelSource().signal)
  requireWanted(options)
  const leftOpen = openQuestions(observation)
  const { identity } = observation.observed
  if (options.deep === undefined || identity.kind !== 'proven') return { ...observation, leftOpen }
  const { partitionCount } = identity.identity
  const strays = await findStrayKeys(
    options.deep,
    { namespace: store.namespace, topic, partitionCount },
    options.signal,
  )
  // A pass that was cut short ends like a whole one, and a log that was asked no further has an unproven identity.
  requireWanted(options)
  const verdict = withStrays(observation.verdict, strays, partitionCount)
  return { ...observation, verdict, leftOpen: verdict.kind === 'start' ? leftOpen : [], strays }
}

/** Whether data stands where a first start needs none is asked in the transaction that creates the checkpoints, of the host. */
function openQuestions({ verdict, observed }: StartObservation): readonly OpenQuestion[] {
  if (verdict.kind !== 'start' || observed.writeModel !== 'transactional') return []
  if (!verdict.createMeta && verdict.createCheckpoints.length === 0) return []
  const message =
    'a first start asks whether the data is empty, under its prefix and by isEmpty of the host; a look asks neither'
  return [{ code: 'DATA_NOT_EMPTY', message }]
}

function requireWanted({ signal }: ExplainStartOptions): void {
  if (signal?.aborted === true) throw coreErrors.create('TM_CORE_CANCELLED', { what: 'the explanation' })
}

/** A stray checkpoint refuses a start wherever it is found; those that a start finds itself are listed already. */
function withStrays(verdict: PlanVerdict, strays: StrayKeys, partitionCount: number): PlanVerdict {
  const listed = verdict.kind === 'refused' ? verdict.refusals : []
  const known = new Set(listed.filter(({ code }) => code === 'EXTRA_CHECKPOINT').map(({ partition }) => partition))
  const found = strays.checkpointsBeyond
    .filter((partition) => !known.has(partition))
    .map((partition) => {
      const message = `a checkpoint of partition ${partition} exists, the topic has ${counted(partitionCount, 'partition')}`
      return refuse('EXTRA_CHECKPOINT', message, { partitionCount }, partition)
    })
  return found.length === 0 ? verdict : { kind: 'refused', refusals: identityFirst([...listed, ...found]) }
}
