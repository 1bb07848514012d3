/**
 * The largest `offset + n * step` that is at or below an instant; n is negative where the instant is.
 *
 * Exact where the instant less the offset and the result are safe integers: below 2^53 a quotient is never rounded up to the
 * next whole number. Rounding towards zero, or a remainder with the sign of the instant, would put -1 into the window of 0.
 */
export function floorToStep(timeMs: number, stepMs: number, offsetMs: number): number {
  return Math.floor((timeMs - offsetMs) / stepMs) * stepMs + offsetMs
}
