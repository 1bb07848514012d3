import type { Aggregate, AggregateName } from './aggregate.ts'
import { faultsOf } from './aggregate-faults.ts'
import { createExactSum } from './exact-sum.ts'
import type { ExactTotal } from './exact/exact-total.ts'
import { decimalValues } from './exact-values.ts'

/** The declaration of an aggregate over one decimal of a payload. */
export interface DecimalOptions<P> extends AggregateName {
  /** The value of a payload as decimal text, such as `-12.30`; the same for the same payload every time. */
  readonly read: (payload: P) => string
  /** Digits after the point, in results exactly and in values at most. 0 to 100. */
  readonly scale: number
}

/**
 * The sum of decimals: money.
 *
 * Promises: WIN-46, WIN-47. Shape of the result: decimal text with exactly `scale` places, `0.00` for no events. Nothing in it is
 * ever a float, nothing is rounded, there is no largest sum; a value with more places is refused.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by its operations AGGREGATE_VALUE_INVALID, _THREW
 */
export function createDecimalSum<P>(options: DecimalOptions<P>): Aggregate<P, ExactTotal> {
  const faults = faultsOf(options)
  return createExactSum(options, faults, decimalValues(faults, options.read, options.scale))
}
