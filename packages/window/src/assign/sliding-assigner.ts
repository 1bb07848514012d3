import type { SlidingWindow } from '../policy/stream-time-policy.ts'
import type { AlignedAssigner } from './assigner.ts'
import { checkOffset, checkSlide, checkSpan } from './check-span.ts'
import { floorToStep } from './floor-to-step.ts'

/**
 * Stretches of one size, one beginning at every slide; an instant lies in `size / slide` of them, or one fewer or more where the
 * size is no multiple of the slide.
 *
 * Promises: WIN-44. Order: constant a call.
 *
 * @throws {TidemarkError} TM_WINDOW_SHAPE_INVALID
 */
export function createSlidingAssigner({ sizeMs, slideMs, offsetMs }: Omit<SlidingWindow, 'kind'>): AlignedAssigner {
  checkSpan('sizeMs', sizeMs)
  checkSlide(slideMs, sizeMs)
  checkOffset(offsetMs)
  return {
    overlapping: slideMs < sizeMs,
    lastStartOf: (timeMs) => floorToStep(timeMs, slideMs, offsetMs),
    previousStartOf: (startMs) => startMs - slideMs,
    endOf: (startMs) => startMs + sizeMs,
  }
}
