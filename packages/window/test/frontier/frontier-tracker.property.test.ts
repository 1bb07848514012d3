import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FRONTIER_MAX, FRONTIER_MIN } from '@tidemark/window'
import type { FrontierTracker } from '@tidemark/window'
import { runSize } from '../run-size.ts'
import { stored, take, trackerOf } from './prove-frontier.ts'

interface Course {
  readonly count: number
  readonly boundMs: number
  readonly allIdle: 'HOLD' | 'FLUSH_MAX'
  readonly resumeBehind: 'HOLD' | 'EXCLUDE'
  readonly steps: readonly string[]
}

const step = (count: number): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(fc.nat(count - 1), fc.integer({ min: -15, max: 15 })).map(([p, t]) => `p${p}=${t}`),
    },
    { weight: 4, arbitrary: fc.nat(count - 1).map((p) => `p${p} idle`) },
    { weight: 2, arbitrary: fc.nat(count - 1).map((p) => `p${p} active`) },
    { weight: 1, arbitrary: fc.nat(count - 1).map((p) => `p${p} finished`) },
  )

const course: fc.Arbitrary<Course> = fc.integer({ min: 1, max: 5 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    boundMs: fc.constantFrom(0, 1, 3),
    allIdle: fc.constantFrom('HOLD' as const, 'FLUSH_MAX'),
    resumeBehind: fc.constantFrom('HOLD' as const, 'EXCLUDE'),
    steps: fc.array(step(count), { maxLength: 60 }).map(legal),
  }),
)

/** Without what follows a partition's end. */
function legal(steps: readonly string[]): string[] {
  const ended = new Set<string>()
  return steps.filter((each) => {
    const partition = /^p\d+/.exec(each)![0]
    if (ended.has(partition)) return false
    if (each.endsWith('finished')) ended.add(partition)
    return true
  })
}

/** The frontier after every step, the slow way: all times kept, everything looked at again. */
function slowFrontiers({ count, boundMs, allIdle, resumeBehind, steps }: Course): number[] {
  const partitions = Array.from({ length: count }, () => ({ times: [] as number[], status: 'active', away: false }))
  const claimOf = ({ times }: { times: number[] }): number => Math.max(FRONTIER_MIN, ...times) - boundMs
  let frontier = FRONTIER_MIN
  return steps.map((each) => {
    const [, index, time, mark] = /^p(\d+)(?:=(-?\d+)| (\w+))$/.exec(each)!
    const partition = partitions[Number(index)]!
    const status = mark ?? 'active'
    if (time !== undefined) partition.times.push(Number(time))
    if (status === 'active' && partition.status === 'idle') partition.away = true
    if (status !== 'active') partition.away = false
    partition.status = status
    for (const one of partitions) if (claimOf(one) >= frontier) one.away = false
    const active = partitions.filter((one) => one.status === 'active')
    const waitedFor = active.filter((one) => resumeBehind === 'HOLD' || !one.away)
    let claimed = FRONTIER_MIN
    if (partitions.every((one) => one.status === 'finished')) claimed = FRONTIER_MAX
    else if (waitedFor.length > 0) claimed = Math.min(...waitedFor.map(claimOf))
    else if (active.length === 0 && allIdle === 'FLUSH_MAX') claimed = Math.max(...partitions.map(claimOf))
    frontier = Math.max(frontier, claimed)
    return frontier
  })
}

function begin({ count, boundMs, allIdle, resumeBehind }: Course): FrontierTracker {
  return trackerOf(count, boundMs, allIdle, resumeBehind)
}

describe('frontiers of any course', () => {
  it('[WIN-24] [WIN-25] [WIN-26] equal the slow recomputation after every step, and never go back', () => {
    fc.assert(
      fc.property(course, (drawn) => {
        const tracker = begin(drawn)
        const frontiers = drawn.steps.map((each) => {
          const before = tracker.frontier
          const moved = take(tracker, each)
          expect(tracker.frontier).toBeGreaterThanOrEqual(before)
          expect(moved).toBe(tracker.frontier > before)
          return tracker.frontier
        })
        expect(frontiers).toEqual(slowFrontiers(drawn))
      }),
      runSize(1_000, 40_000),
    )
  })

  it('[WIN-24] [WIN-32] are the least claim that counts, unless they were further already, and the holder has it', () => {
    fc.assert(
      fc.property(course, (drawn) => {
        const tracker = begin(drawn)
        for (const each of drawn.steps) {
          const before = tracker.frontier
          take(tracker, each)
          const all = tracker.partitions.map((_, index) => index)
          const counted = all.filter(
            (index) =>
              tracker.status(index) === 'ACTIVE' && !(drawn.resumeBehind === 'EXCLUDE' && tracker.resumedBehind(index)),
          )
          const holder = tracker.holder()
          if (counted.length === 0) {
            expect(holder).toBeUndefined()
          } else {
            const least = Math.min(...counted.map((index) => tracker.claim(index)))
            expect(tracker.frontier).toBe(Math.max(before, least))
            expect(holder).toBe(counted.find((index) => tracker.claim(index) === least))
          }
        }
      }),
      runSize(500, 20_000),
    )
  })

  it('[WIN-27] do not depend on the order in which partitions go idle, while one counts or all idle is flushed', () => {
    const drawn = course.chain((one) =>
      fc.record({
        one: fc.constant(one),
        set: fc.uniqueArray(fc.nat(one.count - 1), { minLength: 1 }),
        shuffle: fc.infiniteStream(fc.nat(1_000)),
      }),
    )
    fc.assert(
      fc.property(drawn, ({ one, set, shuffle }) => {
        const run = (order: readonly number[]): FrontierTracker => {
          const tracker = begin(one)
          for (const each of one.steps) take(tracker, each)
          for (const index of order) if (tracker.status(index) === 'ACTIVE') tracker.markIdle(index)
          return tracker
        }
        const keys = set.map(() => shuffle.next().value!)
        const first = run(set)
        const second = run(
          set
            .map((index, at) => [keys[at]!, index] as const)
            .sort(([a], [b]) => a - b)
            .map(([, i]) => i),
        )
        const flushed =
          one.allIdle === 'FLUSH_MAX' && first.partitions.every((_, index) => first.status(index) !== 'ACTIVE')
        if (first.holder() === undefined && !flushed) return
        expect(second.state()).toEqual(first.state())
      }),
      runSize(500, 20_000),
    )
  })

  it('[WIN-24] do not depend on how the records of partitions were merged, once all are in', () => {
    const merged = fc.record({
      times: fc.array(fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 8 }), { minLength: 1, maxLength: 5 }),
      turns: fc.infiniteStream(fc.nat(1_000)),
      boundMs: fc.constantFrom(0, 4),
    })
    fc.assert(
      fc.property(merged, ({ times, turns, boundMs }) => {
        const inOrder = trackerOf(times.length, boundMs, 'HOLD', 'HOLD')
        for (const [index, own] of times.entries()) for (const time of own) inOrder.observe(index, time)
        const mixed = trackerOf(times.length, boundMs, 'HOLD', 'HOLD')
        const queues = times.map((own, index) => ({ index, own: [...own] })).filter(({ own }) => own.length > 0)
        while (queues.length > 0) {
          const at = turns.next().value! % queues.length
          const { index, own } = queues[at]!
          mixed.observe(index, own.shift()!)
          if (own.length === 0) queues.splice(at, 1)
        }
        expect(mixed.state()).toEqual(inOrder.state())
      }),
      runSize(500, 20_000),
    )
  })

  it('[WIN-30] go on from stored state as if nothing had been stored, wherever the cut is', () => {
    fc.assert(
      fc.property(course, fc.nat(1_000), (drawn, pick) => {
        const at = pick % (drawn.steps.length + 1)
        const whole = begin(drawn)
        for (const each of drawn.steps.slice(0, at)) take(whole, each)
        const { count, boundMs, allIdle, resumeBehind } = drawn
        const rest = trackerOf(count, boundMs, allIdle, resumeBehind, { kind: 'restore', state: stored(whole) })
        expect(rest.state()).toEqual(whole.state())
        for (const each of drawn.steps.slice(at)) {
          expect(take(rest, each)).toBe(take(whole, each))
          expect(rest.state()).toEqual(whole.state())
          expect(rest.holder()).toBe(whole.holder())
        }
      }),
      runSize(500, 20_000),
    )
  })

  it('[WIN-31] handed over to the same partitions they go on as if restored', () => {
    fc.assert(
      fc.property(course, (drawn) => {
        const whole = begin(drawn)
        for (const each of drawn.steps) take(whole, each)
        if (whole.frontier === FRONTIER_MAX) return
        const { count, boundMs, allIdle, resumeBehind } = drawn
        const next = trackerOf(count, boundMs, allIdle, resumeBehind, { kind: 'handover', state: stored(whole) })
        expect(next.state()).toEqual(whole.state())
      }),
      runSize(300, 5_000),
    )
  })
})
