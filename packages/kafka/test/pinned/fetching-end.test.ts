import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HandAnsweredWorld } from './hand-answered-fetching.ts'
import { answerAll, end, refused, silent, waitMs, worldOf } from './hand-answered-fetching.ts'

async function expectNothingMore(world: HandAnsweredWorld): Promise<void> {
  expect(vi.getTimerCount()).toBe(0)
  const { fetches, asked } = world
  await vi.advanceTimersByTimeAsync(60_000)
  expect({ fetches: world.fetches, asked: world.asked }).toEqual({ fetches, asked })
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('fetching that has ended', () => {
  it('[KAF-28] leaves no timer behind where the end comes while a fetch waits, rests, is overdue or is repeated', async () => {
    for (const afterMs of [0, 100, waitMs, waitMs + 1_999, waitMs + 2_100, waitMs + 5_000, 20_000]) {
      const world = worldOf(2, 200)
      await vi.advanceTimersByTimeAsync(afterMs)
      await end(world)
      await expectNothingMore(world)
    }
  })

  it('[KAF-28] an answer that comes while others are asked who leads ends the asking', async () => {
    const world = worldOf(1, 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    // Overdue at 3,500: asking takes until 4,500, and the fetch fails meanwhile.
    await vi.advanceTimersByTimeAsync(waitMs + 2_000 + 500)
    expect(world.asked).toBe(2)
    await answerAll(world, silent)
    await vi.advanceTimersByTimeAsync(550)
    await end(world)
    await expectNothingMore(world)
  })

  it('[KAF-28] a fetch that was answered is not asked about again, while fetching goes on', async () => {
    const world = worldOf(1, 1_000)
    await vi.advanceTimersByTimeAsync(1_000 + waitMs + 2_000 + 500)
    await answerAll(world, silent)
    // The leader is asked for once because of the failure; its next fetch is not overdue for 2.5 s.
    await vi.advanceTimersByTimeAsync(1_100)
    const { asked } = world
    expect(asked).toBe(3)
    await vi.advanceTimersByTimeAsync(waitMs + 1_700)
    expect(world.asked).toBe(asked)
    await end(world)
  })

  it('[KAF-28] after a failure nobody is asked any more, though a fetch of another leader still waits', async () => {
    const world = worldOf(2, 0)
    await vi.advanceTimersByTimeAsync(10)
    const { asked } = world
    world.waiting.get(1)!(refused(0, 1))
    await vi.advanceTimersByTimeAsync(0)
    expect(world.fetching.failure).toMatchObject({ reason: 'out-of-range', partition: 0 })
    await vi.advanceTimersByTimeAsync(25_000)
    expect(world.asked).toBe(asked)
    await end(world)
    await expectNothingMore(world)
  })
})
