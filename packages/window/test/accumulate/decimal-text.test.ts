import { describe, expect, it } from 'vitest'
import { roundedQuotient, reducedFraction } from '../../src/accumulate/exact/exact-quotient.ts'
import { formatDecimal, parseDecimal } from '../../src/accumulate/exact/decimal-text.ts'
import { addToTotal, totalOf } from '../../src/accumulate/exact/exact-total.ts'
import type { ExactTotal } from '../../src/accumulate/exact/exact-total.ts'

describe('decimal text', () => {
  it.each([
    ['0', 2, 0],
    ['-0', 2, 0],
    ['-0.00', 2, 0],
    ['12.3', 2, 1230],
    ['12.30', 2, 1230],
    ['-12.34', 2, -1234],
    ['0.05', 2, 5],
    ['7', 0, 7],
    ['-7', 0, -7],
    ['9999999999999.99', 2, 999_999_999_999_999],
    ['90071992547409.91', 2, 9_007_199_254_740_991],
    ['90071992547409.92', 2, 9_007_199_254_740_992n],
    ['-90071992547409.91', 2, -9_007_199_254_740_991],
    ['-90071992547409.92', 2, -9_007_199_254_740_992n],
    ['9007199254740993', 0, 9_007_199_254_740_993n],
    ['1', 30, 10n ** 30n],
    ['0', 30, 0],
    ['0.1', 15, 100_000_000_000_000],
  ])('[WIN-47] %s at scale %i is %s units', (text, scale, units) => {
    expect(Object.is(parseDecimal(text, scale), units)).toBe(true)
  })

  it.each([
    '',
    '-',
    '+1',
    '.5',
    '1.',
    '1..2',
    '1.2.3',
    '--1',
    '007',
    '00',
    '-01',
    '1e3',
    '1E3',
    '0x10',
    ' 1',
    '1 ',
    '1,5',
  ])('[WIN-47] %j is no decimal', (text) => {
    expect(parseDecimal(text, 2)).toBeUndefined()
  })
  it.each(['NaN', 'Infinity', '1_000', '١', '1/2', '1:2', '1.2a', '12a', 'a', '1-2', '1.-2'])(
    '[WIN-47] nor is %j',
    (text) => {
      expect(parseDecimal(text, 2)).toBeUndefined()
      expect(parseDecimal(text, 20)).toBeUndefined()
    },
  )

  it('[WIN-47] a place more than the scale is refused, zero or not; nothing is rounded', () => {
    expect(parseDecimal('1.23', 2)).toBe(123)
    expect(parseDecimal('1.230', 2)).toBeUndefined()
    expect(parseDecimal('1.0', 0)).toBeUndefined()
  })

  it('[WIN-47] the longest text is a thousand characters', () => {
    expect(parseDecimal('9'.repeat(1000), 0)).toBe(10n ** 1000n - 1n)
    expect(parseDecimal('9'.repeat(1001), 0)).toBeUndefined()
  })

  it.each([
    [0, 2, '0.00'],
    [-0, 0, '0'],
    [5, 2, '0.05'],
    [-5, 2, '-0.05'],
    [-50, 2, '-0.50'],
    [100, 2, '1.00'],
    [-123, 1, '-12.3'],
    [10n ** 20n, 2, '1000000000000000000.00'],
    [7, 0, '7'],
  ])('[WIN-47] %s units at scale %i are told as one text', (units, scale, text) => {
    expect(formatDecimal(units, scale)).toBe(text)
  })
})

describe('a total', () => {
  const of = (...values: readonly (number | bigint)[]): ExactTotal => {
    const total: ExactTotal = { low: 0, over: 0n }
    for (const value of values) addToTotal(total, value, 1)
    return total
  }
  const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number

  it('[WIN-47] stays a number up to the last safe integer, to either side', () => {
    expect(of(most - 1, 1)).toEqual({ low: most, over: 0n })
    expect(of(least + 1, -1)).toEqual({ low: least, over: 0n })
  })

  it('[WIN-47] goes on exactly beyond it, and is a number again when it can be', () => {
    expect(totalOf(of(most, 1))).toBe(9_007_199_254_740_992n)
    expect(totalOf(of(most, 2))).toBe(9_007_199_254_740_993n)
    expect(totalOf(of(least, -1))).toBe(-9_007_199_254_740_992n)
    expect(totalOf(of(least, -2))).toBe(-9_007_199_254_740_993n)
    expect(totalOf(of(most, most, most))).toBe(3n * BigInt(most))
    const back = of(most, 1)
    addToTotal(back, 1, -1)
    addToTotal(back, most, -1)
    expect(totalOf(back)).toBe(0n)
    expect(of(most, 1n, -2n)).toEqual({ low: most - 1, over: 0n })
  })

  it('[WIN-47] takes bigints away as it adds them', () => {
    const total = of(10n ** 30n, 5)
    addToTotal(total, 10n ** 30n, -1)
    expect(total).toEqual({ low: 5, over: 0n })
  })
})

describe('a quotient', () => {
  it.each([
    [5n, 2n, 2n, 3n],
    [7n, 2n, 4n, 4n],
    [-5n, 2n, -2n, -3n],
    [-7n, 2n, -4n, -4n],
    [1n, 3n, 0n, 0n],
    [-1n, 3n, 0n, 0n],
    [2n, 3n, 1n, 1n],
    [-2n, 3n, -1n, -1n],
    [6n, 3n, 2n, 2n],
    [0n, 7n, 0n, 0n],
    [1n, 2n, 0n, 1n],
    [-1n, 2n, 0n, -1n],
  ])('[WIN-48] %s / %s is %s half to even, %s half away from zero', (dividend, divisor, even, up) => {
    expect(roundedQuotient(dividend, divisor, 'HALF_EVEN')).toBe(even)
    expect(roundedQuotient(dividend, divisor, 'HALF_UP')).toBe(up)
  })

  it('[WIN-48] in lowest terms, the sign above', () => {
    expect(reducedFraction(-6n, 4n)).toEqual({ numerator: '-3', denominator: '2' })
    expect(reducedFraction(0n, 4n)).toEqual({ numerator: '0', denominator: '1' })
    expect(reducedFraction(10n ** 40n, 10n ** 39n)).toEqual({ numerator: '10', denominator: '1' })
  })
})
