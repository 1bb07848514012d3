import type { JsonValue } from '@tidemark/core'
import type { Aggregate, AggregateName } from './aggregate.ts'
import { described } from './aggregate-faults.ts'
import type { AggregateFaults } from './aggregate-faults.ts'
import { addToTotal, addTotals, totalOf, totalOfValue } from './exact/exact-total.ts'
import type { ExactTotal } from './exact/exact-total.ts'
import type { ExactValues } from './exact-values.ts'

/** The sum of exact values, whichever way they are read and told. */
export function createExactSum<P>(
  { name, version }: AggregateName,
  faults: AggregateFaults,
  values: ExactValues<P>,
): Aggregate<P, ExactTotal> {
  return {
    name,
    version,
    create: () => ({ low: 0, over: 0n }),
    add: (total, payload) => {
      addToTotal(total, values.read(payload, 'add'), 1)
      return total
    },
    merge: (into, from) => {
      addTotals(into, from)
      return into
    },
    retract: (total, payload) => {
      addToTotal(total, values.read(payload, 'retract'), -1)
      return total
    },
    result: (total) => values.tell(totalOf(total), 'result'),
    difference: (current, previous) => exactDifference(faults, values, current, previous),
    encode: (total) => values.write(totalOf(total)),
    decode: (encoded) => {
      const value = values.parse(encoded)
      return value === undefined ? undefined : totalOfValue(value)
    },
  }
}

/** Current less previous, where no value counts as zero. */
export function exactDifference<P>(
  faults: AggregateFaults,
  values: ExactValues<P>,
  current: JsonValue | undefined,
  previous: JsonValue | undefined,
): JsonValue {
  const units = (path: string, told: JsonValue | undefined): bigint => {
    if (told === undefined) return 0n
    const value = values.parse(told)
    if (value === undefined)
      throw faults.valueInvalid('difference', path, `${described(told)} is no result of this aggregate`)
    return BigInt(value)
  }
  return values.tell(units('$.current', current) - units('$.previous', previous), 'difference')
}
