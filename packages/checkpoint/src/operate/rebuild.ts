import type { ProjectionStore } from '../projection-store.ts'
import { decodeMeta } from '../checkpoint-format.ts'
import { orStartFailed } from '../runtime/or-start-failed.ts'
import { createProjection } from '../runtime/projection.ts'
import type { Projection, StartOutcome } from '../runtime/projection.ts'
import type { ProjectionOptions } from '../runtime/projection-options.ts'
import type { StartPlan } from '../start-planner.ts'
import { explainStart } from './explain-start.ts'
import type { ExplainStartOptions, OpenQuestion } from './explain-start.ts'

/** A projection into a new namespace, and what becomes of the old one. */
export interface RebuildOptions<Writer> {
  /** The projection to build; its store has a namespace that was never used. */
  readonly projection: ProjectionOptions<Writer>
  /** The store of the namespace being left. Owned by the rebuild from here on: it is closed. */
  readonly old: Pick<ProjectionStore<never>, 'namespace' | 'dataPrefix' | 'read' | 'claim' | 'close'>
  /**
   * `new-prefix`: the new data stands apart from the old. `shared`: both write the same keys, which is sound only with
   * commuting writes, keeps whatever the old projection wrote, and takes the old namespace's fences first.
   */
  readonly data: { readonly kind: 'new-prefix' } | { readonly kind: 'shared'; readonly keepsOldData: true }
}

/** What came of a rebuild: a running projection, or why it may not be. */
export type RebuildOutcome =
  | {
      readonly kind: 'started'
      readonly projection: Projection
      readonly start: StartOutcome & { readonly kind: 'started' }
    }
  | { readonly kind: 'refused'; readonly problems: readonly RebuildProblem[] }
  | { readonly kind: 'start-refused'; readonly start: StartOutcome & { readonly kind: 'refused' } }

/** One reason against a rebuild. Codes are stable. */
export interface RebuildProblem {
  readonly code:
    'SAME_NAMESPACE' | 'NAMESPACE_NOT_EMPTY' | 'SAME_DATA_PREFIX' | 'OTHER_DATA_PREFIX' | 'WRITES_DO_NOT_COMMUTE'
  readonly message: string
}

/** What a rebuild would do, or why it may not. */
export type RebuildVerdict =
  | {
      readonly kind: 'would-start'
      readonly plan: StartPlan
      /** What only the start itself asks. */
      readonly leftOpen: readonly OpenQuestion[]
    }
  | Extract<RebuildOutcome, { readonly kind: 'refused' | 'start-refused' }>

/** What a rebuild is judged by; nothing of it is opened, closed or changed. */
export interface ExplainRebuildOptions {
  readonly projection: ExplainStartOptions & {
    readonly store: Pick<ProjectionStore<never>, 'name' | 'dataPrefix' | 'writesCommute'>
  }
  readonly old: Pick<ProjectionStore<never>, 'namespace' | 'dataPrefix'>
  readonly data: RebuildOptions<never>['data']
}

/**
 * The dry run of a rebuild: the same judgement, nothing changed, log and stores left open. Promises: CKP-80.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED when log or store cannot be asked.
 */
export async function explainRebuild(options: ExplainRebuildOptions): Promise<RebuildVerdict> {
  const { projection, old, data } = options
  const problems = await rebuildProblems(projection, old, data)
  if (problems.length > 0) return { kind: 'refused', problems }
  const { verdict, leftOpen } = await explainStart(projection)
  if (verdict.kind === 'refused') return { kind: 'start-refused', start: verdict }
  return { kind: 'would-start', plan: verdict, leftOpen }
}

/**
 * The one way on after a recreated topic, a changed partition count or a lost checkpoint: everything from offset 0, into
 * a namespace of its own. No identity field is edited and no position is moved; the old checkpoints stay as they are.
 *
 * Refused unless every partition still starts at 0 (by the planner, as any first start). Promises: CKP-45.
 * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED when log or store cannot be asked.
 */
export async function rebuild<Writer>(options: RebuildOptions<Writer>): Promise<RebuildOutcome> {
  const { projection: next, old, data } = options
  try {
    const problems = await rebuildProblems(next, old, data)
    if (problems.length > 0) {
      await Promise.all([next.store.close(), next.log.close()])
      return { kind: 'refused', problems }
    }
    const projection = createProjection(next)
    const verdict = await projection.explain()
    if (verdict.kind === 'refused') {
      await projection.stop()
      return { kind: 'start-refused', start: verdict }
    }
    // Only once the new start is sure to be planned: a refused rebuild must not stop the old projection.
    if (data.kind === 'shared') await claimOld(options)
    const start = await projection.start()
    return start.kind === 'started' ? { kind: 'started', projection, start } : { kind: 'start-refused', start }
  } catch (error) {
    // They were handed over, so nobody else closes them; a second close is harmless.
    await Promise.allSettled([next.store.close(), next.log.close()])
    throw error
  } finally {
    await old.close()
  }
}

async function rebuildProblems(
  projection: Pick<ExplainRebuildOptions['projection'], 'topic' | 'store'>,
  old: ExplainRebuildOptions['old'],
  data: ExplainRebuildOptions['data'],
): Promise<readonly RebuildProblem[]> {
  return [...layoutProblems(projection.store, old, data), ...(await emptinessProblems(projection))]
}

function layoutProblems(
  store: ExplainRebuildOptions['projection']['store'],
  old: ExplainRebuildOptions['old'],
  data: ExplainRebuildOptions['data'],
): readonly RebuildProblem[] {
  const problems: RebuildProblem[] = []
  if (store.namespace === old.namespace) {
    problems.push({ code: 'SAME_NAMESPACE', message: `a rebuild needs a namespace other than ${old.namespace}` })
  }
  if (data.kind === 'new-prefix' && store.dataPrefix === old.dataPrefix) {
    const message = `both write under the data prefix "${old.dataPrefix}"; give the new one its own, or say that the data is shared`
    problems.push({ code: 'SAME_DATA_PREFIX', message })
  }
  if (data.kind === 'shared' && store.dataPrefix !== old.dataPrefix) {
    const message = `the data cannot be shared between the prefixes "${old.dataPrefix}" and "${store.dataPrefix}"`
    problems.push({ code: 'OTHER_DATA_PREFIX', message })
  }
  if (data.kind === 'shared' && !store.writesCommute) {
    const message = `${store.name} offers writes that do not commute; use its commuting form to share data keys`
    problems.push({ code: 'WRITES_DO_NOT_COMMUTE', message })
  }
  return problems
}

async function emptinessProblems(
  options: Pick<ExplainRebuildOptions['projection'], 'topic' | 'store'>,
): Promise<readonly RebuildProblem[]> {
  const stored = await orStartFailed(options.topic, 'reading the new namespace', () =>
    options.store.read({ topic: options.topic, partitionCount: undefined }),
  )
  // Fences alone are what a start leaves that was refused late; anything else was written by a projection that ran.
  const hashes = stored.checkpoints.size + (stored.twins?.size ?? 0)
  const traces = hashes + stored.witnesses.size + stored.quarantined.size + stored.unreadable.length
  if (stored.meta === undefined && stored.incarnation.nonce === undefined && traces === 0) return []
  return [{ code: 'NAMESPACE_NOT_EMPTY', message: `namespace ${options.store.namespace} holds a projection already` }]
}

/** Takes every fence of the old namespace, so that its writer stops at its next write at the latest. */
async function claimOld<Writer>({ projection, old }: RebuildOptions<Writer>): Promise<void> {
  await orStartFailed(projection.topic, 'claiming the old namespace', async () => {
    let topic = projection.topic
    let stored = await old.read({ topic, partitionCount: undefined })
    const meta = stored.meta === undefined ? undefined : decodeMeta(stored.meta)
    const identity = meta?.kind === 'decoded' ? meta.value.identity : undefined
    if (identity !== undefined && identity.topic !== topic) {
      // The topic may have been renamed; the old writer holds fences under the name that its own meta tells.
      topic = identity.topic
      stored = await old.read({ topic, partitionCount: undefined })
    }
    let partitionCount = identity?.partitionCount ?? 0
    for (const found of [stored.checkpoints, stored.fences]) {
      for (const partition of found.keys()) partitionCount = Math.max(partitionCount, partition + 1)
    }
    if (partitionCount > 0) await old.claim({ topic, partitionCount })
  })
}
