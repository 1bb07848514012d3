import type { CivilWindow } from '../policy/stream-time-policy.ts'

/** What a civil window is one of. */
export type CivilUnit = CivilWindow['unit']

/** A day of a calendar without zones and leap seconds, in milliseconds. */
export const DAY_MS = 86_400_000

/**
 * The first day of the unit that a day belongs to, in the proleptic Gregorian calendar.
 *
 * Units: whole days since 1970-01-01, negative before. Weeks begin on Monday.
 */
export function firstDayOf(unit: CivilUnit, epochDay: number): number {
  if (unit === 'day') return epochDay
  return unit === 'week' ? mondayOf(epochDay) : firstOfMonth(epochDay)
}

/** The first day of the unit after the one that begins on a day. Units: whole days since 1970-01-01. */
export function firstDayAfter(unit: CivilUnit, firstEpochDay: number): number {
  if (unit === 'day') return firstEpochDay + 1
  // No month has more than 31 days, and none is so short that 31 days would pass over it.
  return unit === 'week' ? firstEpochDay + 7 : firstOfMonth(firstEpochDay + 31)
}

/** 1970-01-01 was a Thursday, three days after a Monday. */
function mondayOf(epochDay: number): number {
  const sinceMonday = (epochDay + 3) % 7
  return epochDay - (sinceMonday < 0 ? sinceMonday + 7 : sinceMonday)
}

const DAYS_TO_MARCH_OF_YEAR_0 = 719_468
const DAYS_OF_400_YEARS = 146_097

/**
 * Counts years from March, so that the leap day is the last day of a year and the lengths of the months before it follow one
 * line: 153 days in every five months.
 */
function firstOfMonth(epochDay: number): number {
  const day = epochDay + DAYS_TO_MARCH_OF_YEAR_0
  const dayOfEra = day - Math.floor(day / DAYS_OF_400_YEARS) * DAYS_OF_400_YEARS
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  return epochDay - (dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5))
}
