import { encodeOffset } from '@tidemark/core'
import type { LogIdentity } from '@tidemark/log'
import type { DirtyReason } from './dirty-reason.ts'
import type { PartitionLane } from './run/partition-lane.ts'
import type { ProjectionState } from './projection-state.ts'

/** A projection at one moment, JSON-safe, for health endpoints and metrics. Offsets are decimal strings. */
export interface ProjectionStatus {
  readonly state: ProjectionState
  /** True when data may be served: `ready`, and both leases are fresh. */
  readonly ready: boolean
  /** Why not ready, in a sentence; absent when ready. */
  readonly notReadyBecause?: string
  readonly dirty?: DirtyReason
  readonly topic: string
  /** Where its checkpoints live: with the topic, the name of this projection among others. */
  readonly namespace: string
  readonly identity?: LogIdentity
  /** Milliseconds since the identity was last proven, and since store and identity were last re-read together. */
  readonly identityAgeMs?: number
  readonly leaseAgeMs?: number
  /** Milliseconds from the call of `start` until it was first ready; absent before. */
  readonly timeToReadyMs?: number
  readonly counters: ProjectionCounters
  readonly partitions: readonly PartitionStatus[]
}

/** Totals since this projection was created. */
export interface ProjectionCounters {
  readonly recordsApplied: number
  readonly stepsApplied: number
  readonly stepsResent: number
  readonly conflicts: number
  readonly identityChecks: number
  readonly quarantinedHere: number
  readonly observerFailures: number
}

/** One partition's position among its bounds. Units: records. None of the differences is ever negative. */
export interface PartitionStatus {
  readonly partition: number
  readonly next: string
  readonly low: string
  /** H0: what must be reached to be ready. */
  readonly target: string
  readonly lastStableOffset: string
  readonly highWatermark: string
  /** Records between the position of the start and its target: what had to be replayed or caught up to be ready. */
  readonly replayAtStart: number
  /** Records between the position and the read-committed end. */
  readonly behind: number
  /** Records between the oldest retained one and the position; at zero, retention is about to pass it. */
  readonly headroom: number
  /** Records behind an open transaction: high watermark less last stable offset. */
  readonly openTransaction: number
  readonly queued: number
  readonly caughtUp: boolean
  /** Milliseconds for which records have waited without an advance; absent while it advances. */
  readonly stalledMs?: number
  readonly quarantined: number
  /** Where data and checkpoint stand while one is replayed up to the other; absent where they are together. */
  readonly apart?: { readonly data: string; readonly checkpoint: string }
}

/** One lane as status. */
export function partitionStatus(lane: PartitionLane, nowMs: number): PartitionStatus {
  const { low, lastStableOffset, highWatermark } = lane.bounds
  const apart =
    lane.apart === undefined
      ? {}
      : { apart: { data: encodeOffset(lane.apart.data), checkpoint: encodeOffset(lane.apart.checkpoint) } }
  const stalled = lane.stalledSinceMs === undefined ? {} : { stalledMs: Math.round(nowMs - lane.stalledSinceMs) }
  return {
    partition: lane.partition,
    next: encodeOffset(lane.next),
    low: encodeOffset(low),
    target: encodeOffset(lane.target),
    lastStableOffset: encodeOffset(lastStableOffset),
    highWatermark: encodeOffset(highWatermark),
    replayAtStart: distance(lane.startedAt, lane.target),
    behind: distance(lane.next, lastStableOffset),
    headroom: distance(low, lane.next),
    openTransaction: distance(lastStableOffset, highWatermark),
    queued: lane.queuedRecords,
    caughtUp: lane.next >= lane.target,
    ...stalled,
    quarantined: lane.quarantined,
    ...apart,
  }
}

/** Why a projection that is not caught up waits, naming the first partition that lacks something. */
export function catchingUpSentence(partitions: readonly PartitionStatus[]): string {
  const waiting = partitions.filter((partition) => !partition.caughtUp)
  const first = waiting[0]
  if (first === undefined) return 'every partition reached its target; the identity is being confirmed'
  const { partition, next, target, lastStableOffset, highWatermark } = first
  const more = waiting.length > 1 ? ` (and ${waiting.length - 1} more)` : ''
  const open = BigInt(lastStableOffset) < BigInt(target) && next === lastStableOffset
  const hint = open ? '; an open transaction holds the rest back, abort it if its producer is gone' : ''
  const { apart } = first
  const replay = apart === undefined ? '' : `; the data is at ${apart.data}, the checkpoint at ${apart.checkpoint}`
  return `partition ${partition}${more} has ${next}, needs ${target} (lso ${lastStableOffset}, hw ${highWatermark})${replay}${hint}`
}

/** How far `to` lies above `from`; zero when it does not, since bounds and position are not read at one moment. */
function distance(from: bigint, to: bigint): number {
  return to > from ? Number(to - from) : 0
}
