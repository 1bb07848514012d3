import { EVENT_TIME_MAX_MS } from '@tidemark/core'
import { windowErrors } from '../errors.ts'

/** Beyond this, an instant less an offset is no safe integer any more. */
const OFFSET_MAX_MS = Number.MAX_SAFE_INTEGER - EVENT_TIME_MAX_MS

/** A size or a slide: whole milliseconds, at least one, and no longer than the calendar. */
export function checkSpan(field: string, valueMs: number): void {
  if (Number.isSafeInteger(valueMs) && valueMs >= 1 && valueMs <= EVENT_TIME_MAX_MS) return
  throw refuse(field, valueMs, `it must be whole milliseconds from 1 to ${EVENT_TIME_MAX_MS}`)
}

/** An offset may have either sign and be larger than the step: it only says where one of the windows begins. */
export function checkOffset(valueMs: number): void {
  if (Number.isSafeInteger(valueMs) && Math.abs(valueMs) <= OFFSET_MAX_MS) return
  throw refuse('offsetMs', valueMs, `it must be whole milliseconds from -${OFFSET_MAX_MS} to ${OFFSET_MAX_MS}`)
}

/** A slide above the size leaves instants in no window. */
export function checkSlide(slideMs: number, sizeMs: number): void {
  checkSpan('slideMs', slideMs)
  if (slideMs > sizeMs)
    throw refuse('slideMs', slideMs, `it is above the size of ${sizeMs} and leaves instants in no window`)
}

function refuse(field: string, value: number, reason: string): Error {
  return windowErrors.create('TM_WINDOW_SHAPE_INVALID', { field, value: String(value), reason })
}
