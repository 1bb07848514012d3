import type { PartitionBounds } from '@tidemark/log'
import { counted } from '../../counted.ts'
import { dirtyReason } from '../dirty-reason.ts'
import type { DirtyReason } from '../dirty-reason.ts'
import type { PartitionLane } from './partition-lane.ts'

/**
 * Takes newly read bounds into a lane and says whether the partition is lost or stuck.
 *
 * A consumer reports a position outside the log once, or not at all, and is silent afterwards while other partitions
 * flow; only the comparison with freshly read bounds finds it. `nextBefore` is the lane's position from before the
 * bounds were asked for, since it may rightly have moved on meanwhile. Promises: CKP-36, CKP-37.
 */
export function watchProgress(
  lane: PartitionLane,
  bounds: PartitionBounds,
  nextBefore: bigint,
  nowMs: number,
  stallMsMax: number,
): DirtyReason | undefined {
  lane.bounds = bounds
  const { partition } = lane
  if (lane.fetchPosition < bounds.low) {
    const gap = bounds.low - lane.fetchPosition
    const message = `the log starts at ${bounds.low}, but ${lane.fetchPosition} is to be read next: ${counted(gap, 'record is', 'records are')} gone`
    const values = { next: String(lane.fetchPosition), low: String(bounds.low), gap: String(gap) }
    return dirtyReason('NEXT_BELOW_LOW', message, values, partition)
  }
  if (nextBefore > bounds.highWatermark) {
    const message = `the log ends at ${bounds.highWatermark}, but everything below ${nextBefore} was applied`
    const values = { next: String(nextBefore), highWatermark: String(bounds.highWatermark) }
    return dirtyReason('NEXT_ABOVE_HIGH', message, values, partition)
  }
  if (lane.next >= bounds.lastStableOffset) {
    lane.stalledSinceMs = undefined
    return undefined
  }
  lane.stalledSinceMs ??= nowMs
  const stalledMs = nowMs - lane.stalledSinceMs
  if (stalledMs <= stallMsMax) return undefined
  const message = `partition ${partition} stands at ${lane.next} since ${Math.round(stalledMs)} ms; records wait up to ${bounds.lastStableOffset}`
  const values = {
    next: String(lane.next),
    lastStableOffset: String(bounds.lastStableOffset),
    stalledMs: Math.round(stalledMs),
  }
  return dirtyReason('PARTITION_STALLED', message, values, partition)
}
