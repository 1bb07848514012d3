import { systemClock } from '@tidemark/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { answerAll, answered, end, refused, silent, worldOf } from './hand-answered-fetching.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a broker that throttles with empty answers', () => {
  it('[KAF-20] [KAF-26] is waited for without counting as unavailable, however long it goes on', async () => {
    const world = worldOf(1, 0, 5_000)
    await vi.advanceTimersByTimeAsync(10)
    for (let round = 1; round <= 5; round += 1) {
      expect(world.fetches).toBe(round)
      await answerAll(world, answered([], 4_000))
      await vi.advanceTimersByTimeAsync(3_990)
      // Left alone for as long as it said.
      expect(world.fetches).toBe(round)
      await vi.advanceTimersByTimeAsync(20)
    }
    expect(world.fetching.failure).toBeUndefined()
    expect(world.cursors[0]!.fetchOffset).toBe(0n)
    await end(world)
  })

  it('[KAF-10] [KAF-29] serves until the end of the rest it asked for; an empty answer without one is no sign', async () => {
    const world = worldOf(1, 0, 60_000)
    await vi.advanceTimersByTimeAsync(10)
    await answerAll(world, answered([]))
    expect(world.fetching.servedUntilMs).toBe(0)
    await vi.advanceTimersByTimeAsync(1_000)
    const askedMs = systemClock.monotonicMs()
    await answerAll(world, answered([], 4_000))
    expect(world.fetching.servedUntilMs).toBe(askedMs + 4_000)
    await vi.advanceTimersByTimeAsync(4_100)
    await answerAll(world, silent)
    await vi.advanceTimersByTimeAsync(2_000)
    await answerAll(world, refused(0, 6))
    expect(world.fetching.servedUntilMs).toBe(askedMs + 4_000)
    await end(world)
  })

  it('[KAF-20] a partition that is left out without being throttled still ends as unavailable', async () => {
    const world = worldOf(1, 0, 5_000)
    for (let at = 0; at < 7_000 && world.fetching.failure === undefined; at += 500) {
      await vi.advanceTimersByTimeAsync(500)
      await answerAll(world, answered([]))
    }
    expect(world.fetching.failure).toMatchObject({ reason: 'connection', partition: 0 })
    await end(world)
  })
})
