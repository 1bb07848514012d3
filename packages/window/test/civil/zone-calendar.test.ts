import { describe, expect, it } from 'vitest'
import { createZoneCalendar } from '../../src/civil/zone-calendar.ts'
import type { CivilUnit } from '../../src/civil/civil-date.ts'
import { readZoneTransitions } from '../../src/civil/zone-transitions.ts'

const HOUR_MS = 3_600_000
const calendarOf = (zone: string, unit: CivilUnit = 'day') => createZoneCalendar(readZoneTransitions(zone), unit)
const utc = (text: string): number => Date.parse(`${text}Z`)

/** The unit an instant lies in, asked at its first and last instant and just outside, on a fresh calendar each time. */
function windowAt(zone: string, timeMs: number, unit: CivilUnit = 'day'): readonly [number, number] {
  const startMs = calendarOf(zone, unit).startOf(timeMs)
  const endMs = calendarOf(zone, unit).endOf(startMs)
  expect(calendarOf(zone, unit).startOf(startMs)).toBe(startMs)
  expect(calendarOf(zone, unit).startOf(endMs - 1)).toBe(startMs)
  expect(calendarOf(zone, unit).startOf(endMs)).toBe(endMs)
  expect(calendarOf(zone, unit).endOf(calendarOf(zone, unit).startOf(startMs - 1))).toBe(startMs)
  return [startMs, endMs]
}
const hoursAt = (zone: string, text: string): number => {
  const [startMs, endMs] = windowAt(zone, utc(text))
  return (endMs - startMs) / HOUR_MS
}

describe('days of a zone', () => {
  it('[WW-47, WB-22] [WIN-41] New York has a day of 23 hours in spring and one of 25 in autumn', () => {
    expect(windowAt('America/New_York', 1_772_946_000_000)).toEqual([1_772_946_000_000, 1_773_028_800_000])
    expect(windowAt('America/New_York', 1_793_595_599_999)).toEqual([1_793_505_600_000, 1_793_595_600_000])
    expect(hoursAt('America/New_York', '2026-03-08T12:00')).toBe(23)
    expect(hoursAt('America/New_York', '2026-11-01T12:00')).toBe(25)
  })

  it('[WW-49] [WIN-41] Lord Howe has days of 24.5 and 23.5 hours', () => {
    expect(windowAt('Australia/Lord_Howe', 1_775_307_600_000)).toEqual([1_775_307_600_000, 1_775_395_800_000])
    expect(windowAt('Australia/Lord_Howe', 1_791_034_200_000)).toEqual([1_791_034_200_000, 1_791_118_800_000])
  })

  it('[WW-50] [WIN-41] Apia has no 30 December 2011, and no empty window stands for it', () => {
    const [, endMs] = windowAt('Pacific/Apia', 1_325_239_199_999)
    expect(endMs).toBe(1_325_239_200_000)
    const [startMs] = windowAt('Pacific/Apia', 1_325_239_200_000)
    expect(startMs).toBe(1_325_239_200_000)
    const calendar = calendarOf('Pacific/Apia')
    expect(calendar.endOf(calendar.startOf(1_325_239_199_999))).toBe(startMs)
    expect(calendar.startOf(startMs - 1)).toBe(utc('2011-12-29T10:00'))
  })

  it('[WW-50] [WIN-41] before 1970 days are days too: UTC and London', () => {
    expect(windowAt('Etc/UTC', -1)).toEqual([-86_400_000, 0])
    expect(windowAt('Etc/UTC', 0)).toEqual([0, 86_400_000])
    expect(windowAt('Europe/London', -90_000_000)).toEqual([-90_000_000, -3_600_000])
    expect(windowAt('Europe/London', -3_600_001)).toEqual([-90_000_000, -3_600_000])
  })

  it.each([
    ['America/Havana', '2024-03-10T12:00'],
    ['Asia/Beirut', '2024-03-31T12:00'],
    ['Africa/Cairo', '2024-04-26T12:00'],
    ['America/Sao_Paulo', '2018-11-04T12:00'],
  ])(
    '[WB-15, WB-37] [WIN-41] a day whose midnight does not exist begins where the clock went on: %s %s',
    (zone, noon) => {
      expect(hoursAt(zone, noon)).toBe(23)
    },
  )

  it.each([
    ['Asia/Kolkata', '2026-01-01T18:30'],
    ['Asia/Kathmandu', '2026-01-01T18:15'],
    ['Australia/Eucla', '2026-01-01T15:15'],
    ['America/St_Johns', '2026-01-01T03:30'],
  ])('[WB-15] [WIN-41] in zones off the hour a day begins at local midnight: %s', (zone, midnight) => {
    expect(windowAt(zone, utc(midnight))).toEqual([utc(midnight), utc(midnight) + 24 * HOUR_MS])
  })

  it('[WIN-41] an instant whose clock was set back over midnight stays in the day that had begun', () => {
    // St. John's went back from 00:01 on the 7th to 23:01 on the 6th: those 59 minutes are in the day of the 7th.
    const firstMidnight = utc('2010-11-07T02:30')
    const [startMs, endMs] = windowAt('America/St_Johns', utc('2010-11-07T02:31'))
    expect(startMs).toBe(firstMidnight)
    expect(endMs - startMs).toBe(25 * HOUR_MS)
    for (const minute of [0, 1, 30, 59, 60, 61, 90]) {
      expect(calendarOf('America/St_Johns').startOf(firstMidnight + minute * 60_000)).toBe(firstMidnight)
    }
    expect(windowAt('America/St_Johns', firstMidnight - 1)).toEqual([firstMidnight - 24 * HOUR_MS, firstMidnight])
  })

  it('[WIN-41] a day that came twice is one window: Kwajalein crossed the date line by 23 hours in 1969', () => {
    const zone = 'Pacific/Kwajalein'
    const { fromMs, offsetMs } = readZoneTransitions(zone)
    const index = offsetMs.findIndex((offset, at) => at > 0 && offset - offsetMs[at - 1]! === -23 * HOUR_MS)
    const [startMs, endMs] = windowAt(zone, fromMs[index]!)
    expect(startMs).toBe(fromMs[index]! - 24 * HOUR_MS)
    expect(endMs).toBe(fromMs[index]! + 23 * HOUR_MS)
  })

  it('[WIN-41] the order in which instants are asked for changes nothing', () => {
    const zone = 'America/St_Johns'
    const kept = calendarOf(zone)
    const noons = ['2010-11-07T02:31', '1970-06-01T00:00', '2037-12-31T23:59', '2010-11-07T04:00', '1969-12-31T23:59']
    for (const text of [...noons, ...noons.toReversed()]) {
      const timeMs = utc(text)
      expect(kept.startOf(timeMs)).toBe(calendarOf(zone).startOf(timeMs))
      expect(kept.endOf(kept.startOf(timeMs))).toBe(calendarOf(zone).endOf(calendarOf(zone).startOf(timeMs)))
    }
  })

  it.each([Number.NaN, 1.5, Number.POSITIVE_INFINITY, 8.64e15 + 1])(
    '[WIN-41] %s is no instant and is refused',
    (timeMs) => {
      const calendar = calendarOf('Europe/Berlin')
      for (const ask of [() => calendar.startOf(timeMs), () => calendar.endOf(timeMs)]) {
        expect(ask).toThrow(expect.objectContaining({ code: 'TM_CORE_TIME_INVALID' }))
      }
      expect(calendar.startOf(utc('2026-06-01T12:00'))).toBe(utc('2026-05-31T22:00'))
    },
  )
})

describe('weeks and months of a zone', () => {
  it.each([
    ['2026-01-01T12:00', '2025-12-29T00:00', '2026-01-05T00:00'],
    ['2026-01-04T23:59:59.999', '2025-12-29T00:00', '2026-01-05T00:00'],
    ['2026-01-05T00:00', '2026-01-05T00:00', '2026-01-12T00:00'],
    ['1970-01-01T00:00', '1969-12-29T00:00', '1970-01-05T00:00'],
    ['1969-12-28T23:59:59.999', '1969-12-22T00:00', '1969-12-29T00:00'],
  ])('[WIN-42] a week begins on Monday: %s', (time, from, to) => {
    expect(windowAt('Etc/UTC', utc(time), 'week')).toEqual([utc(from), utc(to)])
  })

  it('[WIN-42] a week with a change of the clock is 167 or 169 hours', () => {
    const berlin = (text: string) => windowAt('Europe/Berlin', utc(text), 'week')
    expect(berlin('2026-03-29T12:00')).toEqual([utc('2026-03-22T23:00'), utc('2026-03-29T22:00')])
    expect(berlin('2026-10-25T12:00')).toEqual([utc('2026-10-18T22:00'), utc('2026-10-25T23:00')])
  })

  it.each([
    ['2024-02-29T12:00', '2024-02-01T00:00', '2024-03-01T00:00'],
    ['2026-02-28T23:59:59.999', '2026-02-01T00:00', '2026-03-01T00:00'],
    ['2026-12-31T12:00', '2026-12-01T00:00', '2027-01-01T00:00'],
    ['2000-02-29T00:00', '2000-02-01T00:00', '2000-03-01T00:00'],
    ['1900-02-28T12:00', '1900-02-01T00:00', '1900-03-01T00:00'],
    ['1969-12-31T23:59:59.999', '1969-12-01T00:00', '1970-01-01T00:00'],
  ])('[WIN-42] months have the lengths of the Gregorian calendar: %s', (time, from, to) => {
    expect(windowAt('Etc/UTC', utc(time), 'month')).toEqual([utc(from), utc(to)])
  })

  it('[WIN-42] a month that lost a day is a day shorter: Apia, December 2011', () => {
    const [startMs, endMs] = windowAt('Pacific/Apia', utc('2011-12-15T00:00'), 'month')
    expect((endMs - startMs) / HOUR_MS).toBe(30 * 24)
  })
})

it('[WB-37] [WIN-41] a calendar has days, weeks and months, and no hours', () => {
  const units: readonly CivilUnit[] = ['day', 'week', 'month']
  expect(units.map((unit) => calendarOf('Europe/Berlin', unit).unit)).toEqual(units)
})
