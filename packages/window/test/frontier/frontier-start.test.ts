import { describe, expect, it } from 'vitest'
import { BOUND_MAX_MS, createFrontierTracker, FRONTIER_MIN } from '@tidemark/window'
import type { FrontierOptions, FrontierState, FrontierTracker } from '@tidemark/window'
import { partitionsOf, stored, take, trackerOf } from './prove-frontier.ts'

function after(steps: readonly string[], resumeBehind: 'HOLD' | 'EXCLUDE' = 'HOLD', count = 3): FrontierTracker {
  const tracker = trackerOf(count, 2, 'FLUSH_MAX', resumeBehind)
  for (const step of steps) take(tracker, step)
  return tracker
}

function restore(state: unknown, options: Partial<FrontierOptions> = {}): FrontierTracker {
  return createFrontierTracker({
    partitions: partitionsOf(3),
    boundMs: 2,
    allIdle: 'FLUSH_MAX',
    resumeBehind: 'HOLD',
    start: { kind: 'restore', state: state as FrontierState },
    ...options,
  })
}

function problemsOf(run: () => unknown): unknown {
  try {
    run()
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'TM_WINDOW_STATE_INVALID', details: { part: 'frontier' } })
    return (thrown as { readonly details: { readonly problems: unknown } }).details.problems
  }
  return undefined
}

describe('what a frontier is made of', () => {
  it('[WIN-24] options it cannot be made of are refused with the option', () => {
    const good: FrontierOptions = {
      partitions: partitionsOf(2),
      boundMs: 0,
      allIdle: 'HOLD',
      resumeBehind: 'HOLD',
      start: { kind: 'replay' },
    }
    const bad: readonly (readonly [option: string, change: Readonly<Record<string, unknown>>])[] = [
      ['partitions', { partitions: [] }],
      ['partitions', { partitions: [...partitionsOf(2), ...partitionsOf(1)] }],
      ['boundMs', { boundMs: -1 }],
      ['boundMs', { boundMs: 1.5 }],
      ['boundMs', { boundMs: NaN }],
      ['boundMs', { boundMs: BOUND_MAX_MS + 1 }],
      ['allIdle', { allIdle: 'FLUSH' }],
      ['resumeBehind', { resumeBehind: undefined }],
    ]
    for (const [option, change] of bad) {
      expect(() => createFrontierTracker({ ...good, ...change } as FrontierOptions), option).toThrow(
        expect.objectContaining({ code: 'TM_WINDOW_OPTION_INVALID', details: expect.objectContaining({ option }) }),
      )
    }
    expect(createFrontierTracker({ ...good, boundMs: BOUND_MAX_MS }).frontier).toBe(FRONTIER_MIN)
    const twins = [...partitionsOf(1), { ...partitionsOf(1)[0]!, generation: 5 }]
    expect(createFrontierTracker({ ...good, partitions: twins }).partitions).toHaveLength(2)
  })

  it('[WIN-24] at the largest bound the claim at the end of time is still exact', () => {
    const tracker = trackerOf(1, BOUND_MAX_MS, 'HOLD', 'HOLD')
    tracker.observe(0, -8_640_000_000_000_000)
    expect(tracker.frontier).toBe(-Number.MAX_SAFE_INTEGER)
    tracker.observe(0, -8_639_999_999_999_999)
    expect(tracker.frontier).toBe(-Number.MAX_SAFE_INTEGER + 1)
  })
})

describe('a frontier out of a cut', () => {
  it('[WIN-30] holds the frontier, and per partition the largest time, the claim, the status and whether it is behind', () => {
    const tracker = after(['p0=10', 'p1=12', 'p2 idle', 'p1 idle', 'p1=3', 'p0 finished'])
    expect(tracker.state()).toEqual({
      frontier: 10,
      partitions: [
        { ...partitionsOf(3)[0], maxEventTimeMs: 10, claimMs: 8, status: 'FINISHED', resumedBehind: false },
        { ...partitionsOf(3)[1], maxEventTimeMs: 12, claimMs: 10, status: 'ACTIVE', resumedBehind: false },
        { ...partitionsOf(3)[2], maxEventTimeMs: null, claimMs: null, status: 'IDLE', resumedBehind: false },
      ],
    })
    expect(after([]).state().frontier).toBe('MIN')
    expect(after(['p0 finished', 'p1 finished', 'p2 finished']).state().frontier).toBe('MAX')
  })

  it('[WIN-30] a partition that was left out stays left out, and one that is waited for stays waited for', () => {
    const steps = ['p0=10', 'p1=10', 'p2=10', 'p1 idle', 'p0=30', 'p2=30', 'p1=20']
    for (const [resumeBehind, frontier] of [
      ['EXCLUDE', 38],
      ['HOLD', 28],
    ] as const) {
      const tracker = restore(stored(after(steps, resumeBehind)), { resumeBehind })
      expect(tracker.resumedBehind(1)).toBe(true)
      take(tracker, 'p0=40')
      take(tracker, 'p2=40')
      expect(tracker.frontier).toBe(frontier)
    }
  })

  it('[WIN-30] state that is damaged is refused, every fault at once', () => {
    const good = stored(after(['p0=10', 'p1=12', 'p2=14', 'p2 idle']))
    expect(restore(good).state()).toEqual(good)
    const [first, ...rest] = good.partitions
    const of = (change: object): object => ({ ...good, partitions: [{ ...first, ...change }, ...rest] })
    const shapes: readonly (readonly [state: unknown, paths: readonly string[]])[] = [
      [null, ['$']],
      [{}, ['frontier', 'partitions']],
      [{ ...good, watermark: 3 }, ['$']],
      [{ ...good, frontier: '8' }, ['frontier']],
      [{ ...good, frontier: 8.5 }, ['frontier']],
      [{ ...good, frontier: null }, ['frontier']],
      [of({ status: 'GONE', generation: -1 }), ['partitions.0.generation', 'partitions.0.status']],
      [of({ maxEventTimeMs: 8_640_000_000_000_001 }), ['partitions.0.maxEventTimeMs']],
      [of({ maxEventTimeMs: -8_640_000_000_000_001 }), ['partitions.0.maxEventTimeMs']],
      [of({ extra: 1 }), ['partitions.0']],
      // Contradictions.
      [of({ claimMs: 9 }), ['partitions.0.claimMs']],
      [of({ claimMs: null }), ['partitions.0.claimMs']],
      [of({ resumedBehind: true }), ['partitions.0.resumedBehind']],
      [of({ status: 'IDLE', resumedBehind: true }), ['partitions.0.resumedBehind', 'frontier']],
      [{ ...good, frontier: 7 }, ['frontier']],
      [{ ...good, frontier: 'MIN' }, ['frontier']],
      [{ ...good, frontier: 'MAX' }, ['frontier']],
      [stored(after(['p0 finished', 'p1 finished', 'p2 finished'])).frontier, ['$']],
    ]
    for (const [state, paths] of shapes) {
      const problems = problemsOf(() => restore(state)) as readonly { readonly path: string }[]
      expect(
        problems?.map(({ path }) => path),
        JSON.stringify(state),
      ).toEqual(paths)
    }
    const ended = stored(after(['p0 finished', 'p1 finished', 'p2 finished']))
    expect(problemsOf(() => restore({ ...ended, frontier: 5 }))).toEqual([
      { path: 'frontier', message: 'it is MAX if and only if every partition finished' },
    ])
  })

  it('[WIN-30] a claim at the frontier is not behind; a frontier at the least claim stands', () => {
    const good = stored(after(['p0=10', 'p1=10', 'p2=10', 'p1 idle', 'p1=10']))
    expect(good.frontier).toBe(8)
    const [first, second, third] = good.partitions
    const at = { ...good, partitions: [first, { ...second, resumedBehind: true }, third] }
    expect(problemsOf(() => restore(at))).toEqual([
      {
        path: 'partitions.1.resumedBehind',
        message: 'a partition that is ACTIVE at 8 is not behind the frontier 8',
      },
    ])
    expect(restore({ ...good, frontier: 9 }).frontier).toBe(9)
  })

  it('[WIN-30] who is not active is not behind; who is left out does not excuse a frontier below the rest', () => {
    const idle = stored(after(['p0=10', 'p1=12', 'p2=5', 'p2 idle']))
    const [first, second, third] = idle.partitions
    const behind = { ...idle, partitions: [first, second, { ...third, resumedBehind: true }] }
    expect(problemsOf(() => restore(behind))).toEqual([
      { path: 'partitions.2.resumedBehind', message: 'a partition that is IDLE at 3 is not behind the frontier 8' },
    ])
    const resumed = { ...stored(after(['p0=10', 'p1=12', 'p2=5', 'p2 idle', 'p2 active'])), frontier: 7 }
    expect(problemsOf(() => restore(resumed, { resumeBehind: 'EXCLUDE' }))).toEqual([
      { path: 'frontier', message: '7 is below 8, which everyone who is waited for claims' },
    ])
    expect(restore(resumed, { resumeBehind: 'HOLD' }).frontier).toBe(7)
  })

  it('[WIN-30] state under another bound or of other partitions is refused', () => {
    const good = stored(after(['p0=10']))
    expect(problemsOf(() => restore(good, { boundMs: 3 }))).toEqual([
      { path: 'partitions.0.claimMs', message: '8 is not 10 less the bound 3' },
    ])
    expect(problemsOf(() => restore(good, { partitions: partitionsOf(2) }))).toEqual([
      { path: 'partitions.2', message: 'it is of orders[2] generation 4, where none is read' },
    ])
    expect(problemsOf(() => restore(good, { partitions: partitionsOf(4) }))).toEqual([
      { path: 'partitions.3', message: 'it is of none, where orders[3] generation 4 is read' },
    ])
    const other = partitionsOf(3).with(1, { source: 'orders', partition: 1, generation: 5 })
    expect(problemsOf(() => restore(good, { partitions: other }))).toEqual([
      { path: 'partitions.1', message: 'it is of orders[1] generation 4, where orders[1] generation 5 is read' },
    ])
  })
})

describe('a frontier handed over to a new generation', () => {
  const before = stored(after(['p0=100', 'p1=110', 'p2=120', 'p2 idle']))
  const handover = (state: FrontierState, change: Partial<FrontierOptions>): FrontierTracker =>
    restore(undefined, { start: { kind: 'handover', state }, ...change })

  it('[WIN-31] the frontier and the claims go over; an added partition is waited for under both policies', () => {
    for (const resumeBehind of ['HOLD', 'EXCLUDE'] as const) {
      const tracker = handover(before, { partitions: partitionsOf(4), resumeBehind })
      expect(tracker.frontier).toBe(98)
      expect([0, 1, 2, 3].map((index) => tracker.claim(index))).toEqual([98, 108, 118, FRONTIER_MIN])
      expect([0, 1, 2, 3].map((index) => tracker.status(index))).toEqual(['ACTIVE', 'ACTIVE', 'IDLE', 'ACTIVE'])
      for (const step of ['p0=200', 'p1=200', 'p3=90']) take(tracker, step)
      expect([tracker.frontier, tracker.resumedBehind(3)]).toEqual([98, false])
      take(tracker, 'p3=104')
      expect(tracker.frontier).toBe(102)
    }
  })

  it('[WIN-31] a partition that is gone is forgotten, and if it held the frontier the rest moves on', () => {
    const tracker = handover(before, { partitions: partitionsOf(3).slice(1) })
    expect(tracker.frontier).toBe(108)
    expect(tracker.state().partitions.map(({ partition }) => partition)).toEqual([1, 2])
  })

  it('[WIN-31] a generation that no longer waits for those behind goes on from one that did, and the other way round', () => {
    const steps = ['p0=10', 'p1=10', 'p2=10', 'p1 idle', 'p0=30', 'p2=30', 'p1=20', 'p0=200', 'p2=200']
    const waited = stored(after(steps, 'HOLD'))
    expect(waited.frontier).toBe(28)
    expect(handover(waited, { resumeBehind: 'EXCLUDE' }).frontier).toBe(198)
    const excluded = stored(after(steps, 'EXCLUDE'))
    expect(excluded.frontier).toBe(198)
    const tracker = handover(excluded, { resumeBehind: 'HOLD' })
    take(tracker, 'p0=300')
    take(tracker, 'p2=300')
    expect([tracker.frontier, tracker.resumedBehind(1)]).toEqual([198, true])
  })

  it('[WIN-31] another incarnation of a partition claims nothing', () => {
    const partitions = partitionsOf(3).with(0, { source: 'orders', partition: 0, generation: 5 })
    const tracker = handover(before, { partitions })
    expect([tracker.frontier, tracker.claim(0)]).toEqual([98, FRONTIER_MIN])
    const renamed = handover(before, { partitions: partitionsOf(3, 'orders-2') })
    expect([renamed.frontier, renamed.claim(1)]).toEqual([98, FRONTIER_MIN])
  })

  it('[WIN-31] another bound, or a generation whose inputs all ended, hands nothing over; a replay claims nothing', () => {
    expect(problemsOf(() => handover(before, { boundMs: 5 }))).toHaveLength(3)
    const ended = stored(after(['p0 finished', 'p1 finished', 'p2 finished']))
    expect(() => handover(ended, {})).toThrow(expect.objectContaining({ code: 'TM_WINDOW_HANDOVER_REFUSED' }))
    expect(restore(ended).state()).toEqual(ended)
    expect(restore(undefined, { start: { kind: 'replay' } }).state().frontier).toBe('MIN')
  })
})
