import type { ExactValue } from './exact-value.ts'

/**
 * A sum that is exact at any size and the same in any order.
 *
 * A number carries what it can; what it could not goes into a bigint, which costs an allocation and is rare.
 */
export interface ExactTotal {
  /** Always a safe integer. */
  low: number
  /** What is not in `low`. */
  over: bigint
}

/** Adds a value, or takes it away. Order: constant, without allocation as long as the sum is a safe integer. */
export function addToTotal(total: ExactTotal, value: ExactValue, sign: 1 | -1): void {
  if (typeof value === 'number') {
    // The sum of two safe integers is exact where it is safe, and rounds to no safe integer where it is not.
    const next = sign === 1 ? total.low + value : total.low - value
    if (next <= Number.MAX_SAFE_INTEGER && next >= Number.MIN_SAFE_INTEGER) {
      total.low = next
      return
    }
  }
  const units = BigInt(value)
  setTotal(total, totalOf(total) + (sign === 1 ? units : -units))
}

/** Adds what another total holds, which stays as it is. */
export function addTotals(into: ExactTotal, from: ExactTotal): void {
  addToTotal(into, from.low, 1)
  if (from.over !== 0n) addToTotal(into, from.over, 1)
}

/** The sum. */
export function totalOf(total: ExactTotal): bigint {
  return total.over + BigInt(total.low)
}

/** The total of one value. */
export function totalOfValue(value: ExactValue): ExactTotal {
  return typeof value === 'number' ? { low: value, over: 0n } : { low: 0, over: value }
}

function setTotal(total: ExactTotal, value: bigint): void {
  const low = Number(value)
  const fits = Number.isSafeInteger(low)
  total.low = fits ? low : 0
  total.over = fits ? 0n : value
}
