import { offsetOf } from '@tidemark/core'
import type { PartitionBounds } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createPartitionLane } from '../../src/runtime/run/partition-lane.ts'
import type { PartitionLane } from '../../src/runtime/run/partition-lane.ts'
import { watchProgress } from '../../src/runtime/run/progress-watch.ts'

const bounds = (low: number, lastStableOffset: number, highWatermark: number): PartitionBounds => ({
  partition: 0,
  low: offsetOf(low),
  lastStableOffset: offsetOf(lastStableOffset),
  highWatermark: offsetOf(highWatermark),
})

/** A lane that has applied everything below `next`. */
function lane(next: number): PartitionLane {
  return createPartitionLane({
    partition: 0,
    nextOffset: offsetOf(next),
    target: offsetOf(50),
    origin: 'checkpoint',
    bounds: bounds(0, 50, 50),
  })
}

describe('watching the progress of a partition', () => {
  it('[CKP-36] an end below what was applied before it was asked for is truncation, by one record too', () => {
    expect(watchProgress(lane(10), bounds(0, 9, 9), 10n, 0, 1_000)?.code).toBe('NEXT_ABOVE_HIGH')
    expect(watchProgress(lane(10), bounds(0, 10, 10), 10n, 0, 1_000)).toBeUndefined()
  })

  it('[CKP-36] a position that moved on while the bounds were under way proves nothing against them', () => {
    expect(watchProgress(lane(12), bounds(0, 10, 10), 10n, 0, 1_000)).toBeUndefined()
  })

  it('[CKP-36] a start of the log above the read position is loss, by one record too; at it, it is not', () => {
    expect(watchProgress(lane(10), bounds(11, 20, 20), 10n, 0, 1_000)).toMatchObject({
      code: 'NEXT_BELOW_LOW',
      values: { gap: '1' },
    })
    expect(watchProgress(lane(10), bounds(10, 20, 20), 10n, 0, 1_000)).toBeUndefined()
  })

  it('[CKP-37] time without progress counts from when it is first seen, and only while records are readable', () => {
    const subject = lane(10)
    expect(watchProgress(subject, bounds(0, 12, 20), 10n, 100, 1_000)).toBeUndefined()
    expect(watchProgress(subject, bounds(0, 12, 20), 10n, 1_100, 1_000)).toBeUndefined()
    expect(watchProgress(subject, bounds(0, 12, 20), 10n, 1_101, 1_000)?.code).toBe('PARTITION_STALLED')
    expect(watchProgress(subject, bounds(0, 10, 20), 10n, 1_200, 1_000)).toBeUndefined()
    expect(subject.stalledSinceMs).toBeUndefined()
    expect(watchProgress(subject, bounds(0, 12, 20), 10n, 9_000, 1_000)).toBeUndefined()
  })

  it('[CKP-35] takes the bounds in, and never moves the target', () => {
    const subject = lane(10)
    watchProgress(subject, bounds(1, 80, 90), 10n, 0, 1_000)
    expect(subject.bounds.highWatermark).toBe(90n)
    expect(subject.target).toBe(50n)
  })
})
