import { isWellFormed } from '@tidemark/core'
import type { JsonValue } from '@tidemark/core'
import type { Aggregate, AggregateName } from './aggregate.ts'
import { checkDeclared, described, faultsOf } from './aggregate-faults.ts'
import { exactDifference } from './exact-sum.ts'
import { integerValues } from './exact-values.ts'
import { VALUES_MAX } from './min-max.ts'
import type { ValuesBound } from './min-max.ts'
import { isCount, storedTuple } from './stored-count.ts'

/** What is counted once: text or an integer; `1` and `'1'` are two values. */
export type DistinctValue = string | number

/** The declaration of a distinct count. */
export interface DistinctOptions<P> extends AggregateName, ValuesBound {
  /** The value of a payload: well-formed text or a safe integer; the same for the same payload every time. */
  readonly read: (payload: P) => DistinctValue
}

/**
 * How many different values a window has, exactly.
 *
 * Promises: WIN-46, WIN-49. Shape of the result: a whole number, 0 for no events. Cost: memory for every different value.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by its operations AGGREGATE_VALUE_INVALID, _THREW, _FULL,
 * _RETRACT_UNMATCHED
 */
export function createDistinctCount<P>(options: DistinctOptions<P>): Aggregate<P, Map<DistinctValue, number>> {
  const { name, version, valuesMax } = options
  const faults = faultsOf(options)
  checkDeclared(faults, 'valuesMax', valuesMax, 1, VALUES_MAX)
  const numbers = integerValues(faults, (count: number) => count)
  const read = (payload: P, operation: 'add' | 'retract'): unknown => {
    try {
      return options.read(payload)
    } catch (cause) {
      throw faults.threw(operation, cause)
    }
  }
  const check = (value: unknown, operation: 'add' | 'retract'): void => {
    if (isDistinctValue(value)) return
    throw faults.valueInvalid(operation, '$', `${described(value)} is neither well-formed text nor a safe integer`)
  }
  return {
    name,
    version,
    create: () => new Map(),
    add: (counts, payload) => {
      const value = read(payload, 'add')
      const held = counts.get(value as DistinctValue)
      // A value that is held was checked when it came.
      if (held === undefined) {
        check(value, 'add')
        if (counts.size >= valuesMax) throw faults.full('add', valuesMax)
      }
      return counts.set(value as DistinctValue, (held ?? 0) + 1)
    },
    merge: (into, from) => {
      let size = into.size
      for (const value of from.keys()) if (!into.has(value)) size += 1
      if (size > valuesMax) throw faults.full('merge', valuesMax)
      for (const [value, times] of from) into.set(value, (into.get(value) ?? 0) + times)
      return into
    },
    retract: (counts, payload) => {
      const value = read(payload, 'retract') as DistinctValue
      const held = counts.get(value)
      check(value, 'retract')
      if (held === undefined) throw faults.unmatched('retract', 'the value is not held')
      if (held > 1) counts.set(value, held - 1)
      else counts.delete(value)
      return counts
    },
    result: (counts) => counts.size,
    difference: (current, previous) => exactDifference(faults, numbers, current, previous),
    encode: (counts) => [...counts].toSorted(([a], [b]) => (comesBefore(a, b) ? -1 : 1)),
    decode: (encoded) => decodeCounts(encoded, valuesMax),
  }
}

function isDistinctValue(value: unknown): value is DistinctValue {
  return typeof value === 'string' ? isWellFormed(value) : Number.isSafeInteger(value)
}

/** Integers before text, each ascending, text by its UTF-16 units. */
function comesBefore(a: DistinctValue, b: DistinctValue): boolean {
  return typeof a === typeof b ? a < b : typeof a === 'number'
}

function decodeCounts(encoded: JsonValue, valuesMax: number): Map<DistinctValue, number> | undefined {
  if (!Array.isArray(encoded) || encoded.length > valuesMax) return undefined
  const counts = new Map<DistinctValue, number>()
  let before: DistinctValue | undefined
  for (const entry of encoded as readonly JsonValue[]) {
    const [value, times] = storedTuple(entry, 2) ?? []
    if (!isDistinctValue(value) || !isCount(times) || times === 0) return undefined
    if (before !== undefined && !comesBefore(before, value)) return undefined
    counts.set(value, times)
    before = value
  }
  return counts
}
