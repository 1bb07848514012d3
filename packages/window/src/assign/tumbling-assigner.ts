import type { TumblingWindow } from '../policy/stream-time-policy.ts'
import type { AlignedAssigner } from './assigner.ts'
import { checkOffset, checkSpan } from './check-span.ts'
import { floorToStep } from './floor-to-step.ts'

/**
 * Tiles of one size.
 *
 * Promises: WIN-43. Order: constant.
 *
 * @throws {TidemarkError} TM_WINDOW_SHAPE_INVALID
 */
export function createTumblingAssigner({ sizeMs, offsetMs }: Omit<TumblingWindow, 'kind'>): AlignedAssigner {
  checkSpan('sizeMs', sizeMs)
  checkOffset(offsetMs)
  return {
    overlapping: false,
    lastStartOf: (timeMs) => floorToStep(timeMs, sizeMs, offsetMs),
    previousStartOf: (startMs) => startMs - sizeMs,
    endOf: (startMs) => startMs + sizeMs,
  }
}
