import { offsetOf, systemClock } from '@tidemark/core'
import { encodeFence } from '@tidemark/log'
import type { Fence } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createPartitionLane } from '../../src/runtime/run/partition-lane.ts'
import type { RunContext } from '../../src/runtime/run/run-context.ts'
import { createStoreWatch } from '../../src/runtime/run/store-watch.ts'
import type { StoredState } from '../../src/index.ts'
import { identity, soundFacts, stored } from '../planner-input.ts'

const nonce = 'a'.repeat(32)
const fence: Fence = { epoch: 3n, nonce: '0'.repeat(32) }

/** What two stores hold of partitions 0 and 1: both checkpoints at 3, the data where said. */
function apart(dataAt: readonly [number, number]): StoredState {
  return stored([3, 3], {
    fences: new Map([0, 1].map((partition) => [partition, encodeFence(fence)])),
    incarnation: { nonce, process: 'after' },
    facts: soundFacts,
    twins: new Map(dataAt.map((next, partition) => [partition, String(next)])),
  })
}

describe('the store read again while steps end', () => {
  it.each([
    ['written by the step that ended', [7, 7], []],
    ['written by nobody', [7, 8], ['STORE_CHANGED']],
  ] as const)('[CKP-38] [CKP-51] data that moved during the reading, %s', async (_, dataAt, due) => {
    const lanes = [0, 1].map((partition) => {
      const bounds = {
        partition,
        low: offsetOf(0),
        lastStableOffset: offsetOf(10),
        highWatermark: offsetOf(10),
      }
      return createPartitionLane({
        partition,
        nextOffset: offsetOf(3),
        target: offsetOf(3),
        origin: 'checkpoint',
        bounds,
      })
    })
    let nowMs = 1_000
    let answer: (state: StoredState) => void = () => undefined
    const failures: string[] = []
    const context = {
      lanes,
      fail: ({ code }: { readonly code: string }) => failures.push(code),
      start: {
        process: 'before',
        nonce,
        plan: { identity },
        claim: {
          fences: new Map([
            [0, fence],
            [1, fence],
          ]),
        },
      },
      options: {
        topic: identity.topic,
        limits: { stallMsMax: 5_000 },
        clock: { ...systemClock, monotonicMs: () => nowMs },
        declarations: { dataKeysCarryNoExpiry: false },
        store: { read: () => new Promise<StoredState>((resolve) => (answer = resolve)) },
      },
    }
    // Both steps reached the data and lost the checkpoint's process; the second one is told while the first reads again.
    for (const lane of lanes) lane.begin(offsetOf(7))
    const lose = (lane: (typeof lanes)[number]): void => {
      lane.begin(lane.next)
      lane.dataMoved(offsetOf(7))
    }
    lose(lanes[0]!)
    const watch = createStoreWatch(context as unknown as RunContext<never>)
    const reading = watch.recheck()
    lose(lanes[1]!)
    // Who asks while a reading is under way learns that it began earlier.
    nowMs = 1_400
    const shared = watch.recheck()
    answer(apart(dataAt))
    expect(await Promise.all([reading, shared])).toEqual([1_000, 1_000])
    expect(failures).toEqual(due)
    expect(watch.process).toBe(due.length === 0 ? 'after' : 'before')
  })
})
