import { coreErrors } from './errors.ts'

/** The range a limit must lie in. */
export interface LimitRange {
  readonly min: number
  readonly max: number
}

/**
 * A limit that was checked to be a whole number inside its range.
 *
 * @throws {TidemarkError} TM_CORE_LIMIT_INVALID naming the limit, the value and the range.
 */
export function checkLimit(limit: string, value: number, range: LimitRange): number {
  if (Number.isSafeInteger(value) && value >= range.min && value <= range.max) return value
  throw coreErrors.create('TM_CORE_LIMIT_INVALID', { limit, value: String(value), min: range.min, max: range.max })
}
