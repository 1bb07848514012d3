import { encodeCheckpoint, encodeMeta, namespaceOf } from '@tidemark/checkpoint'
import type { PlanInput, PlanVerdict, StoredFields, StoredState, StoreFacts } from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import type { LogIdentity, PartitionBounds } from '@tidemark/log'

/** The log that everything in these tests was read from, unless a test says otherwise. */
export const identity: LogIdentity = {
  clusterId: 'cluster-a',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 2,
}

export const namespace = namespaceOf('session_projection')

export const soundFacts: StoreFacts = {
  durability: 'server',
  isPrimary: true,
  isLoaded: true,
  eviction: { policy: 'noeviction', kind: 'keeps-all' },
  expiringKeys: [],
  database: { expected: '0', found: '0' },
}

/** A checkpoint hash of a partition. */
export function checkpoint(partition: number, next: bigint | number, of: LogIdentity = identity): StoredFields {
  return encodeCheckpoint({ identity: of, partition, nextOffset: offsetOf(next) })
}

/** Stored state with these checkpoints, by partition; `undefined` leaves one out. */
export function stored(
  nexts: readonly (bigint | number | undefined)[],
  changed: Partial<StoredState> = {},
): StoredState {
  const checkpoints = new Map<number, StoredFields>()
  for (const [partition, next] of nexts.entries()) {
    if (next !== undefined) checkpoints.set(partition, checkpoint(partition, next))
  }
  return {
    meta: encodeMeta(identity),
    checkpoints,
    fences: new Map(),
    witnesses: new Map(),
    quarantined: new Map(),
    unreadable: [],
    incarnation: { nonce: 'ab'.repeat(16), process: 'p1' },
    facts: soundFacts,
    ...changed,
  }
}

/** Nothing stored at all. */
export const nothing: StoredState = stored([], { meta: undefined })

/** Bounds of a partition: low, high watermark, and the last stable offset where it is lower. */
export function bounds(partition: number, low: bigint | number, high: bigint | number, stable = high): PartitionBounds {
  return {
    partition,
    low: offsetOf(low),
    lastStableOffset: offsetOf(stable),
    highWatermark: offsetOf(high),
  }
}

/** A planner input that starts, with parts replaced. */
export function input(
  changed: Partial<PlanInput> = {},
  within: readonly PartitionBounds[] = [bounds(0, 0, 9), bounds(1, 0, 9)],
): PlanInput {
  return {
    namespace,
    topic: identity.topic,
    readyTarget: 'hw',
    writeModel: 'idempotent',
    declarations: { dataKeysCarryNoExpiry: false, latestRecordPerKeySuffices: false },
    stored: stored([5, 9]),
    identity: { kind: 'proven', identity },
    bounds: { kind: 'bounds', partitions: within },
    settings: { kind: 'settings', settings: { retentionMs: 1n, compacted: false, cleanupPolicy: 'delete' } },
    readBacks: [],
    ...changed,
  }
}

/** The reasons of a verdict as `CODE` or `CODE@partition`, in order; empty for a start. */
export function reasons(verdict: PlanVerdict): readonly string[] {
  if (verdict.kind === 'start') return []
  return verdict.refusals.map(({ code, partition }) => (partition === undefined ? code : `${code}@${partition}`))
}

/** Where a verdict starts each partition: `next->target origin`. */
export function starts(verdict: PlanVerdict): readonly string[] {
  if (verdict.kind === 'refused') return []
  return verdict.partitions.map(({ nextOffset, target, origin }) => `${nextOffset}->${target} ${origin}`)
}
