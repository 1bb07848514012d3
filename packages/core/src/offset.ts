import { coreErrors } from './errors.ts'

declare const offsetBrand: unique symbol

/**
 * A position in one partition of a log: the offset of a record, or of the next record to process.
 *
 * Units: records. Range 0 to 2^63-1 (Kafka's int64). Outside the code it is a canonical decimal string.
 */
export type Offset = bigint & { readonly [offsetBrand]: true }

/** The largest offset a log can hold. */
export const OFFSET_MAX: Offset = (2n ** 63n - 1n) as Offset

/** The first offset of a log whose history is complete. */
export const OFFSET_ZERO: Offset = 0n as Offset

/**
 * The offset of a number that a client handed over.
 *
 * @throws {TidemarkError} TM_CORE_OFFSET_INVALID for fractions, negatives, numbers beyond 2^53-1 (already rounded by
 *   whoever produced them) and bigints beyond int64.
 */
export function offsetOf(value: bigint | number, where: string = 'offset'): Offset {
  const exact = typeof value === 'bigint' || Number.isSafeInteger(value)
  if (!exact) throw coreErrors.create('TM_CORE_OFFSET_INVALID', { value: String(value), where })
  const offset = BigInt(value)
  if (offset < 0n || offset > OFFSET_MAX)
    throw coreErrors.create('TM_CORE_OFFSET_INVALID', { value: String(value), where })
  return offset as Offset
}

/**
 * The offset a stored decimal string stands for, or `undefined` when the string is not the canonical form.
 *
 * Canonical means: what {@link encodeOffset} writes. "", "-1", "007", "1e3", "1.5", "+1" and " 1" are not.
 */
export function decodeOffset(text: string): Offset | undefined {
  if (text.length > 19 || !/^(?:0|[1-9][0-9]*)$/.test(text)) return undefined
  // Fifteen digits are exact as a number, and reading a number costs a fraction of reading a bigint.
  const value = text.length <= 15 ? BigInt(Number(text)) : BigInt(text)
  return value > OFFSET_MAX ? undefined : (value as Offset)
}

/** The canonical decimal string of an offset. */
export function encodeOffset(offset: Offset): string {
  return offset.toString(10)
}

/** The offset of the record after this one. */
export function nextOffset(offset: Offset): Offset {
  return offsetOf(offset + 1n, 'offset after the last')
}

/** The larger of two offsets. */
export function maxOffset(a: Offset, b: Offset): Offset {
  return a < b ? b : a
}
