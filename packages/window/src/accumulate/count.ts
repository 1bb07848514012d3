import { integerValues } from './exact-values.ts'
import type { Aggregate, AggregateName } from './aggregate.ts'
import { faultsOf } from './aggregate-faults.ts'
import { exactDifference } from './exact-sum.ts'
import { isCount } from './stored-count.ts'

/**
 * How many events a window has.
 *
 * Promises: WIN-46. Shape of the result: a whole number, 0 for no events.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by retract AGGREGATE_RETRACT_UNMATCHED
 */
export function createCount<P>(options: AggregateName): Aggregate<P, number> {
  const faults = faultsOf(options)
  const numbers = integerValues(faults, (count: number) => count)
  return {
    name: options.name,
    version: options.version,
    create: () => 0,
    add: (count) => count + 1,
    merge: (into, from) => into + from,
    retract: (count) => {
      if (count === 0) throw faults.unmatched('retract', 'nothing is left to take back')
      return count - 1
    },
    result: (count) => count,
    difference: (current, previous) => exactDifference(faults, numbers, current, previous),
    encode: (count) => count,
    decode: (encoded) => (isCount(encoded) ? encoded : undefined),
  }
}
