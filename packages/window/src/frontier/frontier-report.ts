import type { InputPartition } from '../envelope/input-partition.ts'
import { FRONTIER_MIN } from '../time/frontier-time.ts'
import { encodeFrontier } from './frontier-state.ts'
import type { StoredFrontier } from './frontier-state.ts'
import type { FrontierTracker } from './frontier-tracker.ts'
import type { PartitionStatus } from './marks.ts'

/** How one partition stands to the frontier. */
export interface PartitionReport extends InputPartition {
  readonly status: PartitionStatus
  readonly resumedBehind: boolean
  /** `null` before its first record. */
  readonly claimMs: number | null
  /** How far its claim is behind the furthest one, in event time; `null` where it claims nothing. */
  readonly ageMs: number | null
  /** The last offset passed; `null` before the first. */
  readonly lastOffset: number | null
}

/** Who keeps the frontier from moving on, or why nobody does. */
export type FrontierHolder =
  /** The active partition with the least claim that counts; the first of several. */
  | { readonly kind: 'partition'; readonly index: number; readonly partition: PartitionReport }
  | { readonly kind: 'all-finished' }
  /** Idle or finished, at least one of them idle. */
  | { readonly kind: 'all-idle' }
  /** Every active partition resumed behind the frontier and is left out until it caught up. */
  | { readonly kind: 'all-behind' }

/** Where the frontier stands and what it waits for. JSON-safe. */
export interface FrontierReport {
  readonly frontier: StoredFrontier
  readonly heldBy: FrontierHolder
  /** In the order of the engine's indexes. */
  readonly partitions: readonly PartitionReport[]
}

/** What the frontier waits for. Cost: one pass over the partitions. Promises: WIN-32. */
export function frontierReport(
  tracker: FrontierTracker,
  positions: { nextOffset(index: number): number },
): FrontierReport {
  const claims = tracker.partitions.map((_, index) => tracker.claim(index))
  const furthest = Math.max(...claims)
  const partitions = tracker.partitions.map(({ source, partition, generation }, index) => {
    const claim = claims[index]!
    const next = positions.nextOffset(index)
    return {
      source,
      partition,
      generation,
      status: tracker.status(index),
      resumedBehind: tracker.resumedBehind(index),
      claimMs: claim === FRONTIER_MIN ? null : claim,
      ageMs: claim === FRONTIER_MIN ? null : furthest - claim,
      lastOffset: next === 0 ? null : next - 1,
    }
  })
  return { frontier: encodeFrontier(tracker.frontier), heldBy: holderOf(tracker, partitions), partitions }
}

function holderOf(tracker: FrontierTracker, partitions: readonly PartitionReport[]): FrontierHolder {
  const index = tracker.holder()
  if (index !== undefined) return { kind: 'partition', index, partition: partitions[index]! }
  if (partitions.every(({ status }) => status === 'FINISHED')) return { kind: 'all-finished' }
  return partitions.some(({ status }) => status === 'ACTIVE') ? { kind: 'all-behind' } : { kind: 'all-idle' }
}
