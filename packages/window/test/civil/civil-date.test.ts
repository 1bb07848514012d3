import { describe, expect, it } from 'vitest'
import { firstDayAfter, firstDayOf } from '../../src/civil/civil-date.ts'

const dayOf = (text: string): number => Date.parse(`${text}T00:00Z`) / 86_400_000

describe('first days', () => {
  it.each([
    ['2026-11-30', '2026-11-30', '2026-12-07'],
    ['2026-12-01', '2026-11-30', '2026-12-07'],
    ['2026-12-06', '2026-11-30', '2026-12-07'],
    ['1969-12-29', '1969-12-29', '1970-01-05'],
    ['1969-12-28', '1969-12-22', '1969-12-29'],
  ])('[WIN-42] %s is in the week from %s, before the one from %s', (day, first, next) => {
    expect(firstDayOf('week', dayOf(day))).toBe(dayOf(first))
    expect(firstDayAfter('week', dayOf(first))).toBe(dayOf(next))
  })

  it('[WIN-42] months of two hundred years around 1970 begin where Date has them in UTC', () => {
    const wrong: number[] = []
    for (let day = dayOf('1870-01-01'); day < dayOf('2070-12-31'); day += 1) {
      const date = new Date(day * 86_400_000)
      const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 86_400_000
      const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 86_400_000
      if (firstDayOf('month', day) !== first || firstDayAfter('month', first) !== next) wrong.push(day)
    }
    expect(wrong).toEqual([])
  })
})
