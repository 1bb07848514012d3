import type { CancelSignal } from '@tidemark/core'
import { coreErrors } from '@tidemark/core'
import { judgeSurvey } from '@tidemark/log'
import type { LogIdentity, ReadBack, SurveyVerdict, TopicSettingsReading } from '@tidemark/log'
import type { BootstrapOutcome, Claim } from '../projection-store.ts'
import { refuse } from '../refusal.ts'
import type { Refusal } from '../refusal.ts'
import { planStart, witnessReadBacks } from '../start-planner.ts'
import type { PlanInput, PlanVerdict, StartPlan } from '../start-planner.ts'
import { rereadRefusals } from '../state-reread.ts'
import type { StoredState } from '../stored-state.ts'
import { orStartFailed } from './or-start-failed.ts'
import type { ResolvedOptions } from './projection-options.ts'

/** A start that went through: what to read from where, under which fences. */
export interface ClaimedStart {
  readonly kind: 'claimed'
  readonly plan: StartPlan
  readonly claim: Claim
  /** The store's nonce: another one means that its data was lost or replaced. */
  readonly nonce: string
  /** The server process the state was verified in. */
  readonly process: string
  readonly quarantined: ReadonlyMap<number, number>
  /** By partition: the stored text of the tail witness that the plan judged. */
  readonly witnesses: ReadonlyMap<number, string>
}

/** A claimed start, or all reasons against it. */
export type StartResult = ClaimedStart | RefusedStart

type RefusedStart = { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }

/** What is asked before anything is claimed; a dry run needs no more. */
type DryOptions = Pick<ResolvedOptions<never>, 'topic' | 'readyTarget' | 'declarations'> & {
  readonly log: Pick<ResolvedOptions<never>['log'], 'inspector' | 'readBack'>
  readonly store: Pick<ResolvedOptions<unknown>['store'], 'namespace' | 'writeModel' | 'read'>
  readonly limits: Pick<ResolvedOptions<never>['limits'], 'inspectMsMax' | 'readBackMsMax'>
}

type Options = DryOptions & {
  readonly store: Pick<ResolvedOptions<unknown>['store'], 'namespace' | 'writeModel' | 'read' | 'claim' | 'bootstrap'>
}

/** A verdict, and everything it was planned from. */
export interface StartObservation {
  readonly verdict: PlanVerdict
  readonly observed: PlanInput
}

/**
 * The dry run: what a start would decide now, by the steps of a start before its claim. Changes nothing.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED when the store or the log cannot be asked.
 */
export async function dryRunStart(options: DryOptions, signal: CancelSignal): Promise<StartObservation> {
  return (await readAndPlan(options, signal)).dry
}

/**
 * The start: state, identity, bounds, dry verdict, claim, state again, identity, bounds, identity, then what is missing.
 *
 * A start refused by the dry verdict has written nothing; one refused later has changed only fences. Promises: CKP-14.
 * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED when the store or the log cannot be asked.
 */
export async function claimStart(options: Options, signal: CancelSignal): Promise<StartResult> {
  const { store, topic } = options
  const { before, dry } = await readAndPlan(options, signal)
  if (dry.verdict.kind === 'refused') return dry.verdict
  const held = dry.verdict.identity

  const claim = await asking(options, signal, 'claiming the fences', () =>
    store.claim({ topic, partitionCount: held.partitionCount }),
  )
  const after = await asking(options, signal, 'reading the stored state again', () =>
    store.read({ topic, partitionCount: held.partitionCount }),
  )
  const changes = rereadRefusals(before, after, claim.fences)
  if (changes.length > 0) return { kind: 'refused', refusals: changes }

  const { verdict, observed } = await observeAndPlan(options, signal, after, held, dry.observed.settings)
  if (verdict.kind === 'refused') return verdict
  // H0 comes from the bounds just planned from; the identity must hold on both sides of that reading.
  const last = await survey(options, signal, held)
  const confirmed = planStart({ ...observed, identity: last })
  if (confirmed.kind === 'refused') return confirmed

  const { process, nonce } = after.incarnation
  const created = await createMissing(options, signal, confirmed, claim, nonce)
  if (created.kind === 'refused') return created
  const { quarantined, witnesses } = after
  return { kind: 'claimed', plan: confirmed, claim, process, nonce: created.nonce, quarantined, witnesses }
}

/** How every start begins, dry or not. */
async function readAndPlan(
  options: DryOptions,
  signal: CancelSignal,
): Promise<{ readonly before: StoredState; readonly dry: StartObservation }> {
  const before = await asking(options, signal, 'reading the stored state', () =>
    options.store.read({ topic: options.topic, partitionCount: undefined }),
  )
  return { before, dry: await observeAndPlan(options, signal, before) }
}

async function observeAndPlan(
  options: DryOptions,
  signal: CancelSignal,
  stored: StoredState,
  held?: LogIdentity,
  knownSettings?: TopicSettingsReading,
): Promise<StartObservation> {
  const { topic, log, store, readyTarget, declarations } = options
  const { inspectMsMax, readBackMsMax } = options.limits
  const inspect = { deadlineMs: inspectMsMax, signal }
  const identity = await survey(options, signal, held)
  const proven = identity.kind === 'proven' ? identity.identity : undefined
  const [bounds, settings] = await asking(options, signal, 'reading offsets and settings', () =>
    Promise.all([
      proven === undefined ? undefined : log.inspector.readBounds(topic, proven.partitionCount, inspect),
      knownSettings ?? (proven === undefined ? undefined : log.inspector.readSettings(topic, inspect)),
    ]),
  )
  const { namespace, writeModel } = store
  const seen = { namespace, topic, readyTarget, writeModel, declarations, stored, identity, bounds, settings }
  const records = witnessReadBacks(seen)
  const readBacks: readonly ReadBack[] =
    records.length === 0
      ? []
      : await asking(options, signal, 'reading the last applied records back', () =>
          log.readBack({
            topic,
            records,
            ...inspect,
            totalMsMax: readBackMsMax,
            ...(proven === undefined ? {} : { identity: proven }),
          }),
        )
  const observed = { ...seen, readBacks }
  return { verdict: planStart(observed), observed }
}

async function survey(
  options: DryOptions,
  signal: CancelSignal,
  held: LogIdentity | undefined,
): Promise<SurveyVerdict> {
  const answers = await asking(options, signal, 'asking for the identity', () =>
    options.log.inspector.surveyIdentity(options.topic, { deadlineMs: options.limits.inspectMsMax, signal }),
  )
  return judgeSurvey(answers, held)
}

/** Creates what the plan and the store lack, and says under which nonce the data lives from here on. */
async function createMissing(
  options: Options,
  signal: CancelSignal,
  plan: StartPlan,
  claim: Claim,
  storedNonce: string | undefined,
): Promise<{ readonly kind: 'created'; readonly nonce: string } | RefusedStart> {
  const { identity, createMeta, createCheckpoints: partitions } = plan
  if (!createMeta && partitions.length === 0 && storedNonce !== undefined)
    return { kind: 'created', nonce: storedNonce }
  const { store, topic } = options
  const outcome = await asking(options, signal, 'creating the checkpoints', () =>
    store.bootstrap({ identity, createMeta, partitions, fences: claim.fences }),
  )
  if (outcome.kind !== 'created') return { kind: 'refused', refusals: [bootstrapRefusal(outcome)] }
  const { partitionCount } = identity
  const stored = await asking(options, signal, 'reading what was created', () => store.read({ topic, partitionCount }))
  const { nonce } = stored.incarnation
  if (nonce !== undefined) return { kind: 'created', nonce }
  return { kind: 'refused', refusals: [refuse('STATE_CHANGED', 'what was just created is gone')] }
}

function bootstrapRefusal(outcome: Exclude<BootstrapOutcome, { kind: 'created' }>): Refusal {
  switch (outcome.kind) {
    case 'fenced': {
      const { partition } = outcome
      return refuse('FENCED', `the fence of partition ${partition} was taken before the first write`, {}, partition)
    }
    case 'not-empty':
      return refuse('DATA_NOT_EMPTY', `${outcome.key}: ${outcome.explanation}`, { key: outcome.key })
    case 'conflict':
      return refuse('STATE_CHANGED', `${outcome.key}: ${outcome.explanation}`, { key: outcome.key })
  }
}

function asking<T>(options: DryOptions, signal: CancelSignal, step: string, ask: () => Promise<T>): Promise<T> {
  return orStartFailed(options.topic, step, async () => {
    // A start that was stopped meanwhile claims and creates nothing more; its host may already have started another.
    if (signal.aborted) throw coreErrors.create('TM_CORE_CANCELLED', { what: 'the start' })
    return ask()
  })
}
