import { describe, expect, it } from 'vitest'
import { createFrontierTracker, FRONTIER_MAX, FRONTIER_MIN } from '@tidemark/window'
import { ordersOf, partitionsOf, proveFrontier, take, trackerOf } from './prove-frontier.ts'

describe('claims and their minimum', () => {
  it('[WW-37] [WIN-24] [WIN-25] one partition; and of three, one that never reported idle', () => {
    proveFrontier({ partitions: 1 }, [
      ['p0=25', 25],
      ['p0=18', 25],
      ['p0=42', 42],
    ])
    proveFrontier({ partitions: 3 }, [
      ['p0=15', 'MIN'],
      ['p1=10', 'MIN'],
      ['p2 idle', 10],
      ['p1=18', 15],
      ['p0=20', 18],
    ])
  })

  it('[WW-46] [WIN-24] under a bound of 3 nothing is claimed before the first record, and no record takes a claim back', () => {
    expect(trackerOf(1, 3, 'HOLD', 'HOLD').frontier).toBe(FRONTIER_MIN)
    proveFrontier({ partitions: 1, boundMs: 3 }, [
      ['p0=100', 97],
      ['p0=90', 97],
      ['p0=100', 97],
      ['p0=101', 98],
    ])
  })

  it('[WB-35] [WIN-24] small steps back stall nothing, and a record is judged by the frontier that is shown', () => {
    const tracker = trackerOf(2, 0, 'HOLD', 'HOLD')
    const late: number[] = []
    for (const time of [100, 99, 98, 101, 100, 101, 102]) {
      if (time < tracker.frontier) late.push(time)
      tracker.observe(0, time)
      tracker.observe(1, 1000)
    }
    expect(late).toEqual([99, 98, 100])
    expect(tracker.frontier).toBe(102)
  })

  it('[WIN-24] times before 1970 and at the ends of the calendar are exact', () => {
    proveFrontier({ partitions: 2, boundMs: 5 }, [
      ['p0=-8640000000000000', 'MIN'],
      ['p1=-8640000000000000', -8640000000000005],
      ['p0=8640000000000000', -8640000000000005],
      ['p1=0', -5],
      ['p1=8639999999999999', 8639999999999994],
    ])
  })

  it('[WIN-24] the frontier moves with each record: after every one it is what the records so far claim', () => {
    proveFrontier({ partitions: 2, boundMs: 3 }, [
      ['p0=5', 'MIN'],
      ['p0=100', 'MIN'],
      ['p1=7', 4],
      ['p1=20', 17],
      ['p1=8', 17],
      ['p0=9', 17],
      ['p1=120', 97],
      ['p0=101', 98],
    ])
  })

  it('[WIN-24] a time nobody checked or a partition nobody reads is a fault of the program, and moves nothing', () => {
    const tracker = trackerOf(2, 0, 'HOLD', 'HOLD')
    take(tracker, 'p0=1')
    take(tracker, 'p1=1')
    const before = tracker.state()
    for (const time of [NaN, Infinity, 1.5, 2 ** 53]) expect(() => tracker.observe(0, time)).toThrow('WIN-24')
    for (const index of [-1, 2, 0.5, NaN]) {
      expect(() => tracker.observe(index, 5)).toThrow('WIN-24')
      expect(() => tracker.markIdle(index)).toThrow('WIN-24')
      expect(() => tracker.markActive(index)).toThrow('WIN-24')
      expect(() => tracker.markFinished(index)).toThrow('WIN-24')
    }
    expect(tracker.state()).toEqual(before)
  })
})

describe('idle and finished', () => {
  it('[WW-38] [WIN-25] the slowest is marked idle and the next one counts, twice', () => {
    proveFrontier({ partitions: 3 }, [
      ['p0=25', 'MIN'],
      ['p1=10', 'MIN'],
      ['p2=17', 10],
      ['p1 idle', 17],
      ['p2 idle', 25],
    ])
  })

  it('[WW-39] [WIN-25] all idle: the frontier stays, or goes to the largest claim', () => {
    const rows = [
      ['p0=10', 'MIN'],
      ['p1=5', 'MIN'],
      ['p2=3', 3],
      ['p0 idle', 3],
      ['p1 idle', 3],
    ] as const
    proveFrontier({ partitions: 3, allIdle: 'FLUSH_MAX' }, [...rows, ['p2 idle', 10]])
    proveFrontier({ partitions: 3, allIdle: 'HOLD' }, [...rows, ['p2 idle', 3]])
  })

  it('[WW-42] [WB-06] [WIN-25] finished with the rest idle is all idle and not the end; the end is when all finished', () => {
    const rows = [
      ['p0=5', 'MIN'],
      ['p1=3', 3],
      ['p0 finished', 3],
    ] as const
    const rest = [
      ['p1=7', 7],
      ['p1 finished', 'MAX'],
    ] as const
    proveFrontier({ partitions: 2, allIdle: 'HOLD' }, [...rows, ['p1 idle', 3], ['p1 active', 3], ...rest])
    // The largest claim is that of the finished partition: it claimed 5 by a record like any other.
    proveFrontier({ partitions: 2, allIdle: 'FLUSH_MAX' }, [...rows, ['p1 idle', 5], ['p1 active', 5], ...rest])
  })

  it('[WIN-25] a partition finishes from idle too, in any order, and without a record', () => {
    proveFrontier({ partitions: 2, allIdle: 'HOLD' }, [
      ['p0 idle', 'MIN'],
      ['p1=4', 4],
      ['p0 finished', 4],
      ['p1 idle', 4],
      ['p1 finished', 'MAX'],
    ])
    proveFrontier({ partitions: 2 }, [
      ['p0 finished', 'MIN'],
      ['p1 finished', 'MAX'],
    ])
  })

  it('[WIN-25] all idle before any record claims nothing', () => {
    proveFrontier({ partitions: 2 }, [
      ['p0 idle', 'MIN'],
      ['p1 idle', 'MIN'],
      ['p1=6', 6],
    ])
  })

  it('[WB-13] [WIN-25] the minimum is over all sources: an idle one holds nobody back, an active one does', () => {
    const partitions = [...partitionsOf(1, 'orders'), ...partitionsOf(1, 'payments')]
    const tracker = createFrontierTracker({
      partitions,
      boundMs: 0,
      allIdle: 'HOLD',
      resumeBehind: 'HOLD',
      start: { kind: 'replay' },
    })
    take(tracker, 'p0=10')
    take(tracker, 'p1=2')
    take(tracker, 'p0=30')
    expect(tracker.frontier).toBe(2)
    take(tracker, 'p1 idle')
    expect(tracker.frontier).toBe(30)
    take(tracker, 'p0=40')
    expect(tracker.frontier).toBe(40)
    take(tracker, 'p1=35')
    take(tracker, 'p0=50')
    expect(tracker.frontier).toBe(40)
  })

  it('[WIN-25] [WIN-33] marks that say what is so already do nothing; nothing comes after finished', () => {
    const tracker = trackerOf(2, 0, 'FLUSH_MAX', 'HOLD')
    take(tracker, 'p0=5')
    expect(take(tracker, 'p0 active')).toBe(false)
    take(tracker, 'p1 idle')
    expect(take(tracker, 'p1 idle')).toBe(false)
    take(tracker, 'p0 finished')
    expect(take(tracker, 'p0 finished')).toBe(false)
    const before = tracker.state()
    for (const step of ['p0=5', 'p0=6', 'p0 idle', 'p0 active']) {
      expect(() => take(tracker, step)).toThrow(
        expect.objectContaining({
          code: 'TM_WINDOW_RECORD_AFTER_FINISHED',
          message: 'orders[0] generation 4 brought something after it was marked finished',
        }),
      )
    }
    expect(tracker.state()).toEqual(before)
    expect(take(tracker, 'p1 finished')).toBe(true)
    expect(tracker.frontier).toBe(FRONTIER_MAX)
  })
})

describe('resuming behind the frontier', () => {
  it('[WW-33] [WIN-26] the last one to idle was behind: all idle still goes to the largest claim', () => {
    proveFrontier({ partitions: 3, allIdle: 'FLUSH_MAX' }, [
      ['p0=100', 'MIN'],
      ['p1=50', 'MIN'],
      ['p2=70', 50],
      ['p1 idle', 70],
      ['p1 active', 70, 'behind'],
      ['p1=60', 70, 'behind'],
      ['p0 idle', 70],
      ['p2 idle', 70],
      ['p1 idle', 100, 'level'],
    ])
  })

  it('[WW-34] [WIN-26] one that is left out does not keep a partition that resumes ahead from moving the frontier', () => {
    const rows = [
      ['p0=10', 'MIN'],
      ['p1=7', 'MIN'],
      ['p2 idle', 7],
      ['p2 active', 7, 'behind'],
      ['p0 idle', 7],
      ['p1 idle', 7],
    ] as const
    proveFrontier({ partitions: 3, resumeBehind: 'EXCLUDE' }, [...rows, ['p0 active', 10, 'level']])
    proveFrontier({ partitions: 3, resumeBehind: 'HOLD' }, [...rows, ['p0 active', 7, 'level']])
  })

  it('[WW-35] [WIN-26] ahead of a frontier that only partitions behind are active for: it moves, and all idle repeats nothing', () => {
    const rows = [
      ['p0=10', 'MIN'],
      ['p1=20', 'MIN'],
      ['p2=30', 10],
      ['p2 idle', 10],
      ['p0 idle', 20],
      ['p0 active', 20, 'behind'],
      ['p1 idle', 20],
    ] as const
    proveFrontier({ partitions: 3, resumeBehind: 'EXCLUDE' }, [
      ...rows,
      ['p2 active', 30, 'level'],
      ['p0 idle', 30],
      ['p2 idle', 30],
    ])
    proveFrontier({ partitions: 3, resumeBehind: 'HOLD' }, [
      ...rows,
      ['p2 active', 20, 'level'],
      ['p0 idle', 30],
      ['p2 idle', 30],
    ])
  })

  it('[WW-41] [WIN-26] the two policies side by side: left out until it caught up, or waited for', () => {
    const rows = [
      ['p0=10', 'MIN'],
      ['p1=10', 10],
      ['p1 idle', 10],
      ['p0=20', 20],
      ['p1=12', 20, 'behind'],
    ] as const
    proveFrontier({ partitions: 2, resumeBehind: 'EXCLUDE' }, [
      ...rows,
      ['p0=25', 25],
      ['p1=26', 25, 'level'],
      ['p0=30', 26],
    ])
    proveFrontier({ partitions: 2, resumeBehind: 'HOLD' }, [
      ...rows,
      ['p0=25', 20],
      ['p1=26', 25, 'level'],
      ['p0=30', 26],
    ])
  })

  it('[WW-43] [WIN-26] after a flush a partition resumes behind, is visibly active and behind, and level at equality', () => {
    proveFrontier({ partitions: 2, allIdle: 'FLUSH_MAX' }, [
      ['p0=10', 'MIN'],
      ['p1=7', 7],
      ['p0 idle', 7],
      ['p1 idle', 10],
      ['p1=8', 10, 'behind'],
      ['p1=9', 10, 'behind'],
      ['p1=10', 10, 'level'],
      ['p1=12', 12, 'level'],
    ])
    const tracker = trackerOf(2, 0, 'FLUSH_MAX', 'HOLD')
    for (const step of ['p0=10', 'p1=7', 'p0 idle', 'p1 idle']) take(tracker, step)
    expect(tracker.status(1)).toBe('IDLE')
    take(tracker, 'p1=8')
    expect([tracker.status(0), tracker.status(1)]).toEqual(['IDLE', 'ACTIVE'])
  })

  it('[WIN-26] a record ends its partition’s idleness whatever its time, an old one included', () => {
    const rows = [
      ['p0=10', 'MIN'],
      ['p1=10', 10],
      ['p1 idle', 10],
      ['p0=30', 30],
      ['p1=4', 30, 'behind'],
    ] as const
    proveFrontier({ partitions: 2, resumeBehind: 'HOLD' }, [...rows, ['p0=40', 30], ['p1=35', 35, 'level']])
    proveFrontier({ partitions: 2, resumeBehind: 'EXCLUDE' }, [
      ...rows,
      ['p0=40', 40],
      ['p1=39', 40, 'behind'],
      ['p1=40', 40, 'level'],
    ])
  })

  it('[WIN-26] being late without having been idle is not being behind', () => {
    proveFrontier({ partitions: 2, boundMs: 2 }, [
      ['p0=10', 'MIN'],
      ['p1=20', 8, 'level'],
      ['p0=1', 8, 'level'],
    ])
  })
})

describe('the order of idling', () => {
  const claims = [10, 40, 20, 30]
  const runInOrder = (
    allIdle: 'HOLD' | 'FLUSH_MAX',
    resumeBehind: 'HOLD' | 'EXCLUDE',
    order: readonly number[],
  ): number => {
    const tracker = trackerOf(claims.length, 0, allIdle, resumeBehind)
    for (const [index, claim] of claims.entries()) tracker.observe(index, claim)
    for (const index of order) tracker.markIdle(index)
    return tracker.frontier
  }

  it('[WB-07] [WIN-27] while one stays active, and with FLUSH_MAX to the end, every order gives one frontier', () => {
    for (const allIdle of ['HOLD', 'FLUSH_MAX'] as const) {
      for (const resumeBehind of ['HOLD', 'EXCLUDE'] as const) {
        for (const stays of [0, 1, 2, 3]) {
          const orders = ordersOf([0, 1, 2, 3].filter((index) => index !== stays))
          expect(orders).toHaveLength(6)
          expect(new Set(orders.map((order) => runInOrder(allIdle, resumeBehind, order)))).toEqual(
            new Set([claims[stays]]),
          )
        }
      }
    }
    const flushed = ordersOf([0, 1, 2, 3]).map((order) => runInOrder('FLUSH_MAX', 'HOLD', order))
    expect(flushed).toHaveLength(24)
    expect(new Set(flushed)).toEqual(new Set([40]))
  })

  it('[WB-07] [WIN-27] also after partitions resumed behind: the three stalls end alike in every order', () => {
    const prefixes: readonly (readonly [steps: readonly string[], flushed: number])[] = [
      [['p0=100', 'p1=50', 'p2=70', 'p1 idle', 'p1 active', 'p1=60'], 100],
      [['p0=10', 'p1=7', 'p2 idle', 'p2 active'], 10],
      [['p0=10', 'p1=20', 'p2=30', 'p2 idle', 'p0 idle', 'p0 active', 'p2 active'], 30],
    ]
    for (const [steps, flushed] of prefixes) {
      for (const resumeBehind of ['HOLD', 'EXCLUDE'] as const) {
        for (const order of ordersOf([0, 1, 2])) {
          const tracker = trackerOf(3, 0, 'FLUSH_MAX', resumeBehind)
          for (const step of steps) take(tracker, step)
          for (const index of order) tracker.markIdle(index)
          expect(tracker.frontier, `${steps.join(', ')}, then ${order.join()}`).toBe(flushed)
        }
      }
    }
  })

  it('[WIN-27] with HOLD the last to idle decides where the frontier stays, for it counted alone before', () => {
    for (const order of ordersOf([0, 1, 2, 3])) {
      const least = Math.max(...order.map((_, at) => Math.min(...order.slice(at).map((index) => claims[index]!))))
      expect(runInOrder('HOLD', 'HOLD', order)).toBe(least)
      expect(runInOrder('HOLD', 'HOLD', order)).toBe(claims[order.at(-1)!])
    }
  })
})
