import { describe, it } from 'vitest'
import { proveFrontier } from './prove-frontier.ts'
import type { Row, Setting } from './prove-frontier.ts'

/** A row in Flink's terms: after the step its combined watermark stands at this, `none` before the first and `max` at the end. */
type WatermarkRow = readonly [step: string, watermark: number | 'none' | 'max']

/** Watermark W is "nothing more at or below W", so the frontier is W + 1, for what a partition says and for what comes of it. */
function proveWatermarks(setting: Setting, rows: readonly WatermarkRow[]): void {
  const translated = rows.map(([step, watermark]): Row => {
    const claimed = step.replace(/=(-?\d+)$/, (_, value: string) => `=${Number(value) + 1}`)
    return [claimed, watermark === 'none' ? 'MIN' : watermark === 'max' ? 'MAX' : watermark + 1]
  })
  proveFrontier(setting, translated)
}

const flush = { partitions: 2, allIdle: 'FLUSH_MAX' } as const

/** EXCLUDE is how Flink combines the channels of a task, HOLD how it combines the splits of a source, both with FLUSH_MAX. */
describe('Flink 2.3 as it ran, its two combiners alike', () => {
  it('[WIN-24] nothing until both reported, then the minimum', () => {
    proveWatermarks({ partitions: 2 }, [
      ['p0=50', 'none'],
      ['p1=5', 5],
      ['p1=20', 20],
      ['p1=49', 49],
      ['p1=60', 50],
      ['p0=55', 55],
    ])
  })

  it('[WIN-24] a claim that goes back is ignored', () => {
    proveWatermarks({ partitions: 2 }, [
      ['p0=20', 'none'],
      ['p1=20', 20],
      ['p0=10', 20],
      ['p1=30', 20],
      ['p0=25', 25],
      ['p1=5', 25],
      ['p0=35', 30],
    ])
  })

  it('[WIN-25] the slower idle releases the frontier at once, also one that never reported', () => {
    proveWatermarks({ partitions: 2 }, [
      ['p0=50', 'none'],
      ['p1=5', 5],
      ['p1 idle', 50],
      ['p0=60', 60],
    ])
    proveWatermarks({ partitions: 2 }, [
      ['p0=50', 'none'],
      ['p1 idle', 50],
      ['p0=51', 51],
    ])
  })

  it('[WIN-25] all idle goes to the maximum whichever idles last', () => {
    proveWatermarks(flush, [
      ['p0=20', 'none'],
      ['p1=5', 5],
      ['p0 idle', 5],
      ['p1 idle', 20],
    ])
    proveWatermarks(flush, [
      ['p0=20', 'none'],
      ['p1=5', 5],
      ['p1 idle', 20],
      ['p0 idle', 20],
    ])
  })

  it('[WIN-25] [WIN-26] all idle at the start claims nothing; the first to resume counts alone', () => {
    proveWatermarks({ partitions: 2 }, [
      ['p0 idle', 'none'],
      ['p1 idle', 'none'],
      ['p0 active', 'none'],
      ['p0=9', 9],
      ['p1 active', 9],
      ['p1=12', 9],
      ['p0=15', 12],
    ])
  })

  it('[WIN-26] resuming after a flush, first behind and then ahead', () => {
    proveWatermarks(flush, [
      ['p0=20', 'none'],
      ['p1=5', 5],
      ['p0 idle', 5],
      ['p1 idle', 20],
      ['p1 active', 20],
      ['p1=7', 20],
      ['p1=25', 25],
      ['p1=30', 30],
      ['p0 active', 30],
      ['p0=26', 30],
      ['p0=40', 30],
      ['p1=41', 40],
    ])
  })

  it('[WIN-25] the end of every input is the end of time, one of them idle before', () => {
    proveWatermarks(flush, [
      ['p0=3', 'none'],
      ['p1=2', 2],
      ['p1 idle', 3],
      ['p0 finished', 3],
      ['p1 finished', 'max'],
    ])
  })

  it('[WIN-24] bounded generators: the largest time less the bound, one partition and two', () => {
    // The generators take event times, so only what comes of them is a watermark.
    proveFrontier({ partitions: 1, boundMs: 5 }, [
      ['p0=100', 95],
      ['p0=95', 95],
      ['p0=94', 95],
      ['p0=101', 96],
      ['p0=96', 96],
      ['p0=95', 96],
    ])
    proveFrontier({ partitions: 1, boundMs: 0 }, [
      ['p0=1', 1],
      ['p0=1', 1],
      ['p0=2', 2],
      ['p0=1', 2],
      ['p0=2', 2],
      ['p0=3', 3],
      ['p0=2', 3],
    ])
    proveFrontier({ partitions: 2, boundMs: 3 }, [
      ['p0=5', 'MIN'],
      ['p0=100', 'MIN'],
      ['p1=7', 4],
      ['p1=20', 17],
      ['p1=8', 17],
      ['p0=9', 17],
      ['p1=120', 97],
      ['p0=101', 98],
      ['p0 finished', 117],
      ['p1 finished', 'MAX'],
    ])
  })
})

describe('Flink 2.3 as it ran, its two combiners apart', () => {
  const rows = [
    ['p0=10', 'none'],
    ['p1=10', 10],
    ['p1 idle', 10],
    ['p0=100', 100],
    ['p1 active', 100],
    ['p1=20', 100],
  ] as const

  it('[WIN-26] EXCLUDE is the combiner of channels: the others go on', () => {
    proveWatermarks({ partitions: 2, resumeBehind: 'EXCLUDE' }, [
      ...rows,
      ['p0=110', 110],
      ['p1=99', 110],
      ['p0=115', 115],
      ['p1=112', 115],
      ['p0=120', 120],
      ['p1=118', 120],
      ['p1=130', 120],
    ])
  })

  it('[WIN-26] HOLD is the combiner of splits: the others wait', () => {
    proveWatermarks({ partitions: 2, resumeBehind: 'HOLD' }, [
      ...rows,
      ['p0=110', 100],
      ['p1=99', 100],
      ['p0=115', 100],
      ['p1=112', 112],
      ['p0=120', 112],
      ['p1=118', 118],
      ['p1=130', 120],
    ])
  })
})

describe('where the choice differs from Flink 2.3', () => {
  it('[WIN-26] a record of an idle partition makes it active under both policies, as with splits; channels would ignore it', () => {
    // Flink's combiner of channels stands at 60 and 70 in the last but two and the last but one row.
    proveWatermarks({ partitions: 2 }, [
      ['p0=10', 'none'],
      ['p1=10', 10],
      ['p1 idle', 10],
      ['p1=50', 10],
      ['p0=30', 30],
      ['p0=60', 50],
      ['p1 active', 50],
      ['p0=70', 50],
      ['p1=65', 65],
    ])
  })

  it('[WIN-25] with HOLD all idle stays, where Flink goes to the maximum', () => {
    proveWatermarks({ partitions: 2, allIdle: 'HOLD' }, [
      ['p0=20', 'none'],
      ['p1=5', 5],
      ['p0 idle', 5],
      ['p1 idle', 5],
      ['p1 active', 5],
      ['p1=7', 7],
    ])
  })

  it('[WIN-24] the frontier moves with each record, where a periodic generator waits for its tick', () => {
    // Flink claims nothing before the tick, which follows the fourth record, and 47 after it.
    proveFrontier({ partitions: 1, boundMs: 2 }, [
      ['p0=5', 3],
      ['p0=50', 48],
      ['p0=6', 48],
      ['p0=1', 48],
    ])
  })
})
