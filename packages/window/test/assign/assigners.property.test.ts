import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSlidingAssigner } from '../../src/assign/sliding-assigner.ts'
import { createTumblingAssigner } from '../../src/assign/tumbling-assigner.ts'
import { runSize } from '../run-size.ts'
import { windowsOf } from './windows-of.ts'

/** Every start that is congruent to the offset and whose window holds the instant, in whole numbers of any size. */
function naive(
  timeMs: number,
  sizeMs: number,
  slideMs: number,
  offsetMs: number,
): readonly (readonly [number, number])[] {
  const [time, size, slide, offset] = [timeMs, sizeMs, slideMs, offsetMs].map(BigInt) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const found: (readonly [number, number])[] = []
  const phase = (((time - offset) % slide) + slide) % slide
  for (let start = time - phase; start + size > time; start -= slide)
    found.unshift([Number(start), Number(start + size)])
  return found
}

const edge = fc.constantFrom(0, -1, 1, 8.64e15 - 1, -8.64e15 + 1, 2 ** 52, -(2 ** 52), 2 ** 52 - 1)
const anyTime = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.maxSafeInteger().filter((t) => Math.abs(t) < 8.64e15),
  edge,
)
const anySize = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 2 ** 45 }))
const anyOffset = fc.oneof(fc.integer({ min: -100, max: 100 }), fc.integer({ min: -(2 ** 45), max: 2 ** 45 }))

/** Windows are exact where their starts and ends are safe integers, which the time domain of a policy sees to. */
const inside = (timeMs: number, sizeMs: number): boolean => Math.abs(timeMs) + 2 * sizeMs <= Number.MAX_SAFE_INTEGER

describe('against whole numbers of any size', () => {
  it('[WIN-43] tumbling: one window holds each instant', () => {
    fc.assert(
      fc.property(anyTime, anySize, anyOffset, (timeMs, sizeMs, offsetMs) => {
        fc.pre(inside(timeMs, sizeMs))
        const assigner = createTumblingAssigner({ sizeMs, offsetMs })
        expect(windowsOf(assigner, timeMs)).toEqual(naive(timeMs, sizeMs, sizeMs, offsetMs))
        expect(windowsOf(assigner, timeMs)).toHaveLength(1)
      }),
      runSize(2000, 300_000),
    )
  })

  it('[WIN-44] sliding: exactly the windows that hold an instant', () => {
    const slides = fc.tuple(anySize, fc.integer({ min: 1, max: 20 })).map(([slideMs, times]) => {
      // A few milliseconds off a multiple, so that the number of windows is not the same for every instant.
      return { slideMs, sizeMs: slideMs * times + (slideMs % 7) }
    })
    fc.assert(
      fc.property(anyTime, slides, anyOffset, (timeMs, { sizeMs, slideMs }, offsetMs) => {
        fc.pre(inside(timeMs, sizeMs))
        const assigner = createSlidingAssigner({ sizeMs, slideMs, offsetMs })
        expect(windowsOf(assigner, timeMs)).toEqual(naive(timeMs, sizeMs, slideMs, offsetMs))
      }),
      runSize(2000, 300_000),
    )
  })

  it('[WIN-43, WIN-44] an offset moved by the slide changes nothing', () => {
    fc.assert(
      fc.property(anyTime, anySize, anyOffset, fc.integer({ min: -3, max: 3 }), (timeMs, slideMs, offsetMs, turns) => {
        const near = timeMs % 2 ** 50
        const shape = { sizeMs: 2 * slideMs, slideMs }
        const here = windowsOf(createSlidingAssigner({ ...shape, offsetMs }), near)
        expect(windowsOf(createSlidingAssigner({ ...shape, offsetMs: offsetMs + turns * slideMs }), near)).toEqual(here)
      }),
      runSize(1000, 100_000),
    )
  })
})
