import { counted } from '../counted.ts'
import type { ProjectionStore } from '../projection-store.ts'
import { identityFirst } from '../refusals/identity-first.ts'
import { topicNameOf } from '../namespace.ts'
import { refuse } from '../refusal.ts'
import type { Refusal } from '../refusal.ts'
import { storeRefusals } from '../store-review.ts'
import type { StoreDeclarations } from '../store-review.ts'
import { reviewStored } from '../stored-review.ts'
import type { StoredReview } from '../stored-review.ts'
import type { StoredState } from '../stored-state.ts'
import { missingTwin } from '../twin-judgement.ts'

/** Which namespace to look at. The store stays open and is only read. */
export interface InspectNamespaceOptions {
  readonly store: Pick<ProjectionStore<never>, 'namespace' | 'read'>
  /** The topic that was projected; as meta tells it unless said. */
  readonly topic?: string
  readonly declarations?: Partial<StoreDeclarations>
}

/** What stands in a namespace. */
export type NamespaceInspection =
  /** Nothing of ours stands there. */
  | { readonly kind: 'unknown'; readonly stored: StoredState }
  /** Something stands there, but no readable meta says of which topic; name it and look again. */
  | { readonly kind: 'topic-unknown'; readonly stored: StoredState; readonly findings: readonly Refusal[] }
  | {
      readonly kind: 'found'
      readonly topic: string
      readonly stored: StoredState
      readonly review: StoredReview
      /**
       * Every way in which the state is damaged or contradicts itself, as the planner words it. A checkpoint that meta
       * allows for and that is not there is one, although a start may replay its partition where log and store allow it.
       */
      readonly damage: readonly Refusal[]
      /** Why the store itself may not be trusted. */
      readonly store: readonly Refusal[]
    }

/** Any legal name finds meta; where meta names another topic the state is read again under that one. */
const anyTopic = '-'

/**
 * Everything stored about a projection, decoded where it can be and named where it cannot, without asking the log.
 *
 * Changes nothing. Promises: CKP-49.
 * @throws {TidemarkError} of the store when it cannot be asked; TM_CHECKPOINT_TOPIC_INVALID.
 */
export async function inspectNamespace(options: InspectNamespaceOptions): Promise<NamespaceInspection> {
  const { store } = options
  const named = options.topic === undefined ? undefined : topicNameOf(options.topic)
  let topic = named ?? anyTopic
  let stored = await store.read({ topic, partitionCount: undefined })
  if (named === undefined) {
    const told = topicOf(stored)
    if (told === undefined && !holdsAnything(stored)) return { kind: 'unknown', stored }
    if (told === undefined) {
      return { kind: 'topic-unknown', stored, findings: reviewStored(store.namespace, topic, stored).refusals }
    }
    topic = told
    stored = await store.read({ topic, partitionCount: undefined })
  }
  if (!holdsAnything(stored)) return { kind: 'unknown', stored }
  const review = reviewStored(store.namespace, topic, stored)
  const damage = identityFirst([
    ...[...review.refusals, ...foreignMeta(review, topic)],
    ...[...strays(review), ...lostPositions(review, topic)],
  ])
  const declarations = { dataKeysCarryNoExpiry: options.declarations?.dataKeysCarryNoExpiry === true }
  return { kind: 'found', topic, stored, review, damage, store: storeRefusals(stored.facts, declarations) }
}

/** The topic that meta names, also a meta whose other fields are damaged. */
function topicOf(stored: StoredState): string | undefined {
  const text = stored.meta?.['dispatch_topic']
  try {
    return text === undefined ? undefined : topicNameOf(text)
  } catch {
    return undefined
  }
}

function holdsAnything(stored: StoredState): boolean {
  const { checkpoints, fences, witnesses, quarantined, unreadable, twins } = stored
  const traces = checkpoints.size + fences.size + witnesses.size + quarantined.size + unreadable.length
  return stored.meta !== undefined || stored.incarnation.nonce !== undefined || traces + (twins?.size ?? 0) > 0
}

function foreignMeta(review: StoredReview, topic: string): readonly Refusal[] {
  const held = review.meta?.identity.topic
  if (held === undefined || held === topic) return []
  return [refuse('TOPIC_NAME', `topic: stored ${held}, asked for ${topic}`, { stored: held, asked: topic })]
}

/** Checkpoints that meta itself does not allow for; those beyond the topic's count are the planner's to find. */
function strays(review: StoredReview): readonly Refusal[] {
  const count = review.meta?.identity.partitionCount
  if (count === undefined) return []
  const beyond = [...review.present].filter((partition) => partition >= count).sort((a, b) => a - b)
  return beyond.map((partition) => {
    const message = `a checkpoint of partition ${partition} exists, meta has ${counted(count, 'partition')}`
    return refuse('EXTRA_CHECKPOINT', message, { partitionCount: count }, partition)
  })
}

/** Positions that are gone: of checkpoints that were created together with meta, and of data beside its checkpoint. */
function lostPositions(review: StoredReview, topic: string): readonly Refusal[] {
  const lost: Refusal[] = []
  const identity = review.meta?.identity
  // The checkpoints of another topic are not looked for under this one.
  const count = identity?.topic === topic ? identity.partitionCount : 0
  for (let partition = 0; partition < count; partition += 1) {
    if (review.present.has(partition)) continue
    const message = `the checkpoint of partition ${partition} is missing, meta has ${counted(count, 'partition')}`
    lost.push(refuse('MISSING_CHECKPOINT', message, { partitionCount: count }, partition))
  }
  for (const partition of review.checkpoints.keys()) {
    const refusal = missingTwin(review, partition)
    if (refusal !== undefined) lost.push(refusal)
  }
  return lost
}
