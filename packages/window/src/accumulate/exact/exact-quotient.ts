/** Where a half goes: to the even neighbour, or away from zero. */
export type Rounding = 'HALF_EVEN' | 'HALF_UP'

/** A quotient rounded to a whole number; the divisor is above zero. */
export function roundedQuotient(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  const magnitude = dividend < 0n ? -dividend : dividend
  const whole = magnitude / divisor
  const twiceRest = 2n * (magnitude % divisor)
  const isHalf = twiceRest === divisor
  const up = isHalf ? rounding === 'HALF_UP' || whole % 2n === 1n : twiceRest > divisor
  const rounded = up ? whole + 1n : whole
  return dividend < 0n ? -rounded : rounded
}

/** A quotient in lowest terms, as text of any length; the divisor is above zero. */
export function reducedFraction(
  dividend: bigint,
  divisor: bigint,
): { readonly numerator: string; readonly denominator: string } {
  let [larger, rest] = [dividend < 0n ? -dividend : dividend, divisor]
  while (rest !== 0n) [larger, rest] = [rest, larger % rest]
  return { numerator: String(dividend / larger), denominator: String(divisor / larger) }
}
