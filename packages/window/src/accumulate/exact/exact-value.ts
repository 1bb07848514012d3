/** A whole number of units; a number wherever it is safe, so that equal values are equal keys. */
export type ExactValue = number | bigint

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER)
const SAFE_MIN = BigInt(Number.MIN_SAFE_INTEGER)

/** The safe integer of a bigint where there is one, so that equal values are equal keys. */
export function narrowed(value: bigint): ExactValue {
  return value >= SAFE_MIN && value <= SAFE_MAX ? Number(value) : value
}
