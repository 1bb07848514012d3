import { offsetOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import { createApplyScheduler } from '../../src/runtime/run/apply-scheduler.ts'
import { createPartitionLane } from '../../src/runtime/run/partition-lane.ts'
import type { PartitionLane } from '../../src/runtime/run/partition-lane.ts'

function lane(partition: number): PartitionLane {
  const zero = offsetOf(0)
  const bounds = { partition, low: zero, lastStableOffset: zero, highWatermark: zero }
  return createPartitionLane({ partition, nextOffset: zero, target: zero, origin: 'checkpoint', bounds })
}

describe('the apply scheduler', () => {
  it('[CKP-32] never works on one lane twice at once, keeps to its limit, and takes turns', async () => {
    const lanes = Array.from({ length: 5 }, (_, partition) => lane(partition))
    const left = new Map(lanes.map((subject) => [subject, 4]))
    const working = new Set<PartitionLane>()
    const order: number[] = []
    const scheduler = createApplyScheduler(2, async (subject) => {
      expect(working.has(subject)).toBe(false)
      working.add(subject)
      expect(working.size).toBeLessThanOrEqual(2)
      order.push(subject.partition)
      await Promise.resolve()
      working.delete(subject)
      left.set(subject, left.get(subject)! - 1)
      return left.get(subject)! > 0 ? 'more' : 'nothing'
    })
    for (const subject of lanes) scheduler.kick(subject)
    expect(scheduler.idle).toBe(false)
    await scheduler.whenIdle()
    expect([...left.values()]).toEqual([0, 0, 0, 0, 0])
    // Everyone had a first turn before anyone had a third.
    expect(new Set(order.slice(0, 10)).size).toBe(5)
  })

  it('[CKP-32] a kick during a step makes one more turn follow', async () => {
    const only = lane(0)
    let turns = 0
    const scheduler = createApplyScheduler(1, async () => {
      turns += 1
      if (turns === 1) scheduler.kick(only)
      await Promise.resolve()
      return 'nothing'
    })
    scheduler.kick(only)
    await scheduler.whenIdle()
    expect(turns).toBe(2)
    expect(scheduler.idle).toBe(true)
  })
})
