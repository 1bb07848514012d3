import { coreErrors } from './errors.ts'

declare const eventTimeBrand: unique symbol
declare const durationBrand: unique symbol

/** When something happened, in whole epoch milliseconds; negative before 1970. */
export type EventTimeMs = number & { readonly [eventTimeBrand]: true }

/** A length of time in whole milliseconds, never negative. */
export type DurationMs = number & { readonly [durationBrand]: true }

/** The largest instant JavaScript's own calendar can represent. */
export const EVENT_TIME_MAX_MS = 8_640_000_000_000_000

/**
 * The instant of a number of epoch milliseconds.
 *
 * @throws {TidemarkError} TM_CORE_TIME_INVALID for NaN, fractions and instants outside the calendar.
 */
export function eventTimeOf(valueMs: number, where: string = 'event time'): EventTimeMs {
  if (!Number.isSafeInteger(valueMs) || Math.abs(valueMs) > EVENT_TIME_MAX_MS) {
    throw coreErrors.create('TM_CORE_TIME_INVALID', { value: String(valueMs), where })
  }
  return valueMs as EventTimeMs
}

/**
 * The duration of a number of milliseconds.
 *
 * @throws {TidemarkError} TM_CORE_TIME_INVALID for NaN, fractions and negatives.
 */
export function durationOf(valueMs: number, where: string = 'duration'): DurationMs {
  if (!Number.isSafeInteger(valueMs) || valueMs < 0) {
    throw coreErrors.create('TM_CORE_TIME_INVALID', { value: String(valueMs), where })
  }
  return valueMs as DurationMs
}
