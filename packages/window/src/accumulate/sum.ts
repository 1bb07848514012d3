import type { Aggregate, AggregateName } from './aggregate.ts'
import { faultsOf } from './aggregate-faults.ts'
import { createExactSum } from './exact-sum.ts'
import type { ExactTotal } from './exact/exact-total.ts'
import { integerValues } from './exact-values.ts'

/** The declaration of an aggregate over one integer of a payload. */
export interface IntegerOptions<P> extends AggregateName {
  /** The value of a payload, a safe integer; the same for the same payload every time. */
  readonly read: (payload: P) => number
}

/**
 * The sum of integers: minor units, counts, lengths.
 *
 * Promises: WIN-46, WIN-47. Shape of the result: a safe integer, 0 for no events. The accumulator has no largest sum; a result
 * beyond 2^53-1 is refused, never rounded.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by its operations AGGREGATE_VALUE_INVALID, _THREW, _OVERFLOW
 */
export function createSum<P>(options: IntegerOptions<P>): Aggregate<P, ExactTotal> {
  const faults = faultsOf(options)
  return createExactSum(options, faults, integerValues(faults, options.read))
}
