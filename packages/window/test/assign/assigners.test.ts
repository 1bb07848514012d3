import { describe, expect, it } from 'vitest'
import { createAlignedAssigner } from '../../src/assign/aligned-assigner.ts'
import type { AlignedShape } from '../../src/assign/aligned-assigner.ts'
import { createSlidingAssigner } from '../../src/assign/sliding-assigner.ts'
import { createTumblingAssigner } from '../../src/assign/tumbling-assigner.ts'
import { windowsOf } from './windows-of.ts'

const tumbling = (sizeMs: number, offsetMs = 0) => createTumblingAssigner({ sizeMs, offsetMs })
const sliding = (sizeMs: number, slideMs: number, offsetMs = 0) => createSlidingAssigner({ sizeMs, slideMs, offsetMs })
const HOUR_MS = 3_600_000

describe('tumbling', () => {
  it('[WW-06] [WIN-43] instants before 1970 are floored: -1 and -10 lie in [-10,0), -11 in [-20,-10)', () => {
    expect([-1, -10, -11, -20, -21].map((time) => windowsOf(tumbling(10), time))).toEqual([
      [[-10, 0]],
      [[-10, 0]],
      [[-20, -10]],
      [[-20, -10]],
      [[-30, -20]],
    ])
  })

  it.each([-3, 7, 17, -13])(
    '[WW-13] [WIN-43] an offset of %i is that of -3: the size of 10 brings it round',
    (offsetMs) => {
      const assigner = tumbling(10, offsetMs)
      expect([-4, -3, 0, 6, 7, 16, 17].map((time) => windowsOf(assigner, time))).toEqual([
        [[-13, -3]],
        [[-3, 7]],
        [[-3, 7]],
        [[-3, 7]],
        [[7, 17]],
        [[7, 17]],
        [[17, 27]],
      ])
    },
  )

  it('[WIN-43] a start lies in its own window, an end in the next one', () => {
    const assigner = tumbling(10)
    expect([9, 10, 19, 20].map((time) => assigner.lastStartOf(time))).toEqual([0, 10, 10, 20])
    expect(assigner.previousStartOf(10)).toBe(0)
    expect(assigner.previousStartOf(0)).toBe(-10)
    expect(assigner.endOf(-10)).toBe(0)
    expect(assigner.overlapping).toBe(false)
    expect(Object.is(assigner.lastStartOf(-0), 0)).toBe(true)
  })

  it('[WIN-43] a size of one has a window for each instant', () => {
    expect([-1, 0, 1].map((time) => windowsOf(tumbling(1), time))).toEqual([[[-1, 0]], [[0, 1]], [[1, 2]]])
  })

  it('[WB-37] [WIN-43] hours are 3,600,000 ms of instants, whatever a clock showed', () => {
    // The hours around both changes of Berlin's clocks in 2026, and one before 1970.
    const around = [Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1), -HOUR_MS].flatMap((at) => [
      at - 1,
      at,
      at + HOUR_MS - 1,
    ])
    for (const time of around) {
      const [[start, end]] = windowsOf(tumbling(HOUR_MS), time) as [readonly [number, number]]
      expect(end - start).toBe(HOUR_MS)
      expect(((start % HOUR_MS) + HOUR_MS) % HOUR_MS).toBe(0)
      expect(start <= time && time < end).toBe(true)
    }
  })
})

describe('sliding', () => {
  it('[WW-11] [WIN-44] size 10, slide 4: 7 and 8 lie in [0,10) and [4,14), and 8 in [8,18) too', () => {
    expect(windowsOf(sliding(10, 4), 7)).toEqual([
      [0, 10],
      [4, 14],
    ])
    expect(windowsOf(sliding(10, 4), 8)).toEqual([
      [0, 10],
      [4, 14],
      [8, 18],
    ])
  })

  it('[WIN-44] an instant at the end of a window lies outside it, one before it inside', () => {
    expect(windowsOf(sliding(10, 5), 9)).toEqual([
      [0, 10],
      [5, 15],
    ])
    expect(windowsOf(sliding(10, 5), 10)).toEqual([
      [5, 15],
      [10, 20],
    ])
  })

  it('[WIN-44] before 1970 and with an offset', () => {
    expect(windowsOf(sliding(10, 5), -1)).toEqual([
      [-10, 0],
      [-5, 5],
    ])
    expect(windowsOf(sliding(10, 5, 2), -4)).toEqual([
      [-13, -3],
      [-8, 2],
    ])
    expect(windowsOf(sliding(10, 5, -3), -4)).toEqual(windowsOf(sliding(10, 5, 2), -4))
  })

  it('[WIN-44] a slide of the size is tumbling, and says that nothing overlaps', () => {
    expect(sliding(10, 10).overlapping).toBe(false)
    expect(sliding(10, 9).overlapping).toBe(true)
    expect(windowsOf(sliding(10, 10), -1)).toEqual([[-10, 0]])
  })
})

describe('shapes', () => {
  it('[WIN-43, WIN-44, WIN-42] each kind has its assigner', () => {
    const at = Date.UTC(2026, 2, 29, 12)
    const shapes: readonly AlignedShape[] = [
      { kind: 'tumbling', sizeMs: 24 * HOUR_MS, offsetMs: 0 },
      { kind: 'sliding', sizeMs: 24 * HOUR_MS, slideMs: 12 * HOUR_MS, offsetMs: 0 },
      { kind: 'civil', unit: 'day', zone: 'Europe/Berlin' },
      { kind: 'civil', unit: 'month', zone: 'Europe/Berlin' },
    ]
    const lengths = shapes.map((shape) =>
      windowsOf(createAlignedAssigner(shape), at).map(([start, end]) => (end - start) / HOUR_MS),
    )
    expect(lengths).toEqual([[24], [24, 24], [23], [31 * 24 - 1]])
    expect(createAlignedAssigner(shapes[2]!).overlapping).toBe(false)
  })

  it('[WIN-42] civil windows are walked back over a day that does not exist', () => {
    const assigner = createAlignedAssigner({ kind: 'civil', unit: 'day', zone: 'Pacific/Apia' })
    const start = assigner.lastStartOf(1_325_239_200_000)
    expect(assigner.previousStartOf(start)).toBe(1_325_239_200_000 - 24 * HOUR_MS)
    expect(assigner.endOf(assigner.previousStartOf(start))).toBe(start)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 8.64e15 + 1])(
    '[WIN-45] a size or slide of %s is refused',
    (bad) => {
      const refused = (field: string) =>
        expect.objectContaining({
          code: 'TM_WINDOW_SHAPE_INVALID',
          details: expect.objectContaining({ field, value: String(bad) }),
        })
      expect(() => tumbling(bad)).toThrow(refused('sizeMs'))
      expect(() => sliding(bad, 1)).toThrow(refused('sizeMs'))
      expect(() => sliding(10, bad)).toThrow(refused('slideMs'))
    },
  )

  it.each([1.5, Number.NaN, Number.NEGATIVE_INFINITY, 367_199_254_740_992, -367_199_254_740_992])(
    '[WIN-45] an offset of %s is refused',
    (bad) => {
      expect(() => tumbling(10, bad)).toThrow(expect.objectContaining({ code: 'TM_WINDOW_SHAPE_INVALID' }))
      expect(() => sliding(10, 5, bad)).toThrow(expect.objectContaining({ code: 'TM_WINDOW_SHAPE_INVALID' }))
    },
  )

  it('[WIN-45] the largest size and offset are taken, a slide one above the size is not', () => {
    expect(windowsOf(tumbling(8.64e15), 8.64e15 - 1)).toEqual([[0, 8.64e15]])
    expect(tumbling(1, 367_199_254_740_991).lastStartOf(-8.64e15)).toBe(-8.64e15)
    expect(tumbling(1, -367_199_254_740_991).lastStartOf(8.64e15)).toBe(8.64e15)
    expect(() => sliding(10, 11)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('no window') as unknown }),
    )
  })

  it('[WIN-45] a zone that the data do not have is refused by name', () => {
    expect(() => createAlignedAssigner({ kind: 'civil', unit: 'day', zone: 'Mars/Olympus' })).toThrow(
      expect.objectContaining({ code: 'TM_WINDOW_ZONE_UNKNOWN' }),
    )
  })
})
