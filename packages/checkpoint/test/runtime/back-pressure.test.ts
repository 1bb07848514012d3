import { createCancelSource, OFFSET_ZERO, offsetOf } from '@tidemark/core'
import type { CancelSource, Clock } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createBackPressure } from '../../src/runtime/run/back-pressure.ts'
import type { BackPressure } from '../../src/runtime/run/back-pressure.ts'
import { createPartitionLane } from '../../src/runtime/run/partition-lane.ts'
import type { PartitionLane } from '../../src/runtime/run/partition-lane.ts'
import type { RunContext } from '../../src/runtime/run/run-context.ts'
import { resolveOptions } from '../../src/runtime/projection-options.ts'

interface World {
  readonly lanes: readonly PartitionLane[]
  readonly paused: number[]
  readonly cancel: CancelSource
  readonly pressure: BackPressure
  ended: boolean
  /** Lets the time of the first sleeper pass. */
  timePasses(): Promise<void>
  readonly sleeping: number
}

function createWorld(limits: { queuedRecordsMax: number; queuedBytesMax: number }): World {
  const sleepers = new Set<() => void>()
  const clock: Clock = {
    monotonicMs: () => 0,
    wallMs: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(wake)
          resolve()
        }
        sleepers.add(wake)
        signal?.addEventListener('abort', wake, { once: true })
      }),
  }
  const lanes = [0, 1].map((partition) => {
    const bounds = { partition, low: OFFSET_ZERO, lastStableOffset: offsetOf(99), highWatermark: offsetOf(99) }
    return createPartitionLane({
      partition,
      nextOffset: OFFSET_ZERO,
      target: offsetOf(99),
      origin: 'first-start',
      bounds,
    })
  })
  const paused: number[] = []
  const cancel = createCancelSource()
  const context = {
    lanes,
    reader: { pause: (partitions: readonly number[]) => paused.push(...partitions) },
    signal: cancel.signal,
    options: { limits, clock },
  }
  const world: World = {
    lanes,
    paused,
    cancel,
    ended: false,
    pressure: createBackPressure(context as unknown as RunContext<never>, () => world.ended || cancel.signal.aborted),
    async timePasses() {
      const [first] = sleepers
      first?.()
      await turn()
    },
    get sleeping() {
      return sleepers.size
    },
  }
  return world
}

async function turn(): Promise<void> {
  for (let each = 0; each < 20; each += 1) await Promise.resolve()
}

function fill(lane: PartitionLane, records: number): void {
  const from = Number(lane.fetchPosition)
  const made = Array.from({ length: records }, (_, index): LogRecord => {
    const value = new Uint8Array(100)
    const { partition } = lane
    return { partition, offset: offsetOf(from + index), leaderEpoch: 0, timestampMs: 0, key: null, value, headers: [] }
  })
  expect(lane.enqueue({ partition: lane.partition, records: made }, 1)).toBeUndefined()
}

/** Whether waiting for room is over. */
async function roomOf(world: World): Promise<{ readonly over: boolean }> {
  const state = { over: false }
  void world.pressure.room().then(() => (state.over = true))
  await turn()
  return state
}

function apply(world: World, lane: PartitionLane, to: number): void {
  lane.begin(offsetOf(to))
  lane.finish()
  world.pressure.roomMade()
}

describe('back-pressure', () => {
  it('[CKP-41] a full lane holds fetching back until it has room, without its partition being paused', async () => {
    const world = createWorld({ queuedRecordsMax: 10, queuedBytesMax: 1e6 })
    expect((await roomOf(world)).over).toBe(true)
    fill(world.lanes[0]!, 10)
    const waiting = await roomOf(world)
    expect(waiting.over).toBe(false)
    apply(world, world.lanes[0]!, 3)
    await turn()
    expect([waiting.over, world.paused, world.sleeping]).toEqual([true, [], 0])
  })

  it('[CKP-41] a lane that stays full for long is paused, and the others are fetched', async () => {
    const world = createWorld({ queuedRecordsMax: 10, queuedBytesMax: 1e6 })
    fill(world.lanes[1]!, 12)
    const waiting = await roomOf(world)
    await world.timePasses()
    expect([waiting.over, world.paused, world.lanes[1]!.paused]).toEqual([true, [1], true])
    expect((await roomOf(world)).over).toBe(true)
    expect(world.paused).toEqual([1])
  })

  it('[CKP-41] bytes over all lanes hold fetching back for as long as it takes', async () => {
    const world = createWorld({ queuedRecordsMax: 1_000, queuedBytesMax: 500 })
    for (const lane of world.lanes) fill(lane, 4)
    const waiting = await roomOf(world)
    await world.timePasses()
    expect([waiting.over, world.sleeping, world.paused]).toEqual([false, 0, []])
    apply(world, world.lanes[0]!, 4)
    await turn()
    expect(waiting.over).toBe(true)
  })

  it.each(['ended', 'aborted'] as const)('[CKP-41] nobody waits once the run is %s', async (how) => {
    const world = createWorld({ queuedRecordsMax: 2, queuedBytesMax: 100 })
    fill(world.lanes[0]!, 5)
    const waiting = await roomOf(world)
    expect(waiting.over).toBe(false)
    if (how === 'aborted') world.cancel.cancel()
    else {
      world.ended = true
      world.pressure.roomMade()
    }
    await turn()
    expect([waiting.over, world.paused]).toEqual([true, []])
  })
})

describe('how much waits unless said otherwise', () => {
  it.each([
    [1, 1_000],
    [100, 1_000],
    [500, 2_000],
    [2_500, 10_000],
  ])('[CKP-41] steps of %i: %i records a partition', (batchRecordsMax, due) => {
    const options = {
      topic: 'dispatch',
      project: () => undefined,
      readyTarget: 'hw',
      undecodable: 'stop',
      leaseMs: 1_000,
      limits: { batchRecordsMax, stallMsMax: 5_000 },
    }
    expect(resolveOptions(options as never).limits.queuedRecordsMax).toBe(due)
  })
})
