import type { JsonValue } from '@tidemark/core'
import type { Aggregate, AggregateName } from './aggregate.ts'
import { checkDeclared, faultsOf } from './aggregate-faults.ts'
import type { AggregateFaults } from './aggregate-faults.ts'
import type { DecimalOptions } from './decimal-sum.ts'
import { decimalValues, integerValues } from './exact-values.ts'
import type { ExactValues } from './exact-values.ts'
import type { ExactValue } from './exact/exact-value.ts'
import { isCount, storedTuple } from './stored-count.ts'
import type { IntegerOptions } from './sum.ts'
import { addValue, extremeOf, heapOf, removeValue } from './value-multiset.ts'
import type { Extreme, ValueMultiset } from './value-multiset.ts'

/** The bound of an aggregate that keeps its values apart. */
export interface ValuesBound {
  /** The most different values that one accumulator holds; one more is refused, none is ever evicted. */
  readonly valuesMax: number
}

/** No accumulator holds more different values than a map can have entries. */
export const VALUES_MAX = 16_000_000

/**
 * The smallest integer, with all the others kept, so that it can be taken back.
 *
 * Promises: WIN-46, WIN-49. Shape of the result: a safe integer; undefined for no events. Cost: memory for every different value;
 * where nothing is ever taken back, `createAppendOnlyMin` keeps one.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by its operations AGGREGATE_VALUE_INVALID, _THREW, _FULL,
 * _RETRACT_UNMATCHED
 */
export function createMin<P>(options: IntegerOptions<P> & ValuesBound): Aggregate<P, ValueMultiset> {
  const faults = faultsOf(options)
  return createExtreme(options, faults, integerValues(faults, options.read), 'min')
}

/** The largest integer; otherwise as {@link createMin}. */
export function createMax<P>(options: IntegerOptions<P> & ValuesBound): Aggregate<P, ValueMultiset> {
  const faults = faultsOf(options)
  return createExtreme(options, faults, integerValues(faults, options.read), 'max')
}

/** The smallest decimal, told with exactly `scale` places; otherwise as {@link createMin}. */
export function createDecimalMin<P>(options: DecimalOptions<P> & ValuesBound): Aggregate<P, ValueMultiset> {
  const faults = faultsOf(options)
  return createExtreme(options, faults, decimalValues(faults, options.read, options.scale), 'min')
}

/** The largest decimal, told with exactly `scale` places; otherwise as {@link createMin}. */
export function createDecimalMax<P>(options: DecimalOptions<P> & ValuesBound): Aggregate<P, ValueMultiset> {
  const faults = faultsOf(options)
  return createExtreme(options, faults, decimalValues(faults, options.read, options.scale), 'max')
}

function createExtreme<P>(
  { name, version, valuesMax }: AggregateName & ValuesBound,
  faults: AggregateFaults,
  values: ExactValues<P>,
  extreme: Extreme,
): Aggregate<P, ValueMultiset> {
  checkDeclared(faults, 'valuesMax', valuesMax, 1, VALUES_MAX)
  return {
    name,
    version,
    create: () => ({ counts: new Map(), heap: [] }),
    add: (set, payload) => {
      const value = values.read(payload, 'add')
      if (set.counts.size >= valuesMax && !set.counts.has(value)) throw faults.full('add', valuesMax)
      addValue(set, value, 1, extreme)
      return set
    },
    merge: (into, from) => {
      // Counted before anything is changed.
      let size = into.counts.size
      for (const value of from.counts.keys()) if (!into.counts.has(value)) size += 1
      if (size > valuesMax) throw faults.full('merge', valuesMax)
      for (const [value, times] of from.counts) addValue(into, value, times, extreme)
      return into
    },
    retract: (set, payload) => {
      if (!removeValue(set, values.read(payload, 'retract'), extreme)) {
        throw faults.unmatched('retract', 'the value is not held')
      }
      return set
    },
    result: (set) => {
      const value = extremeOf(set, extreme)
      return value === undefined ? undefined : values.tell(BigInt(value), 'result')
    },
    encode: (set) => encodeCounts(set.counts, values),
    decode: (encoded) => {
      const counts = decodeCounts(encoded, values, valuesMax)
      return counts === undefined ? undefined : { counts, heap: heapOf(counts, extreme) }
    },
  }
}

/** Ascending, so that equal multisets have one encoding. */
function encodeCounts<P>(counts: ReadonlyMap<ExactValue, number>, values: ExactValues<P>): JsonValue {
  return heapOf(counts, 'min').map((value) => [values.write(BigInt(value)), counts.get(value)!])
}

function decodeCounts<P>(
  encoded: JsonValue,
  values: ExactValues<P>,
  valuesMax: number,
): Map<ExactValue, number> | undefined {
  if (!Array.isArray(encoded) || encoded.length > valuesMax) return undefined
  const counts = new Map<ExactValue, number>()
  let before: ExactValue | undefined
  for (const entry of encoded as readonly JsonValue[]) {
    const [written, times] = storedTuple(entry, 2) ?? []
    const value = values.parse(written)
    if (value === undefined || !isCount(times) || times === 0) return undefined
    if (before !== undefined && !(before < value)) return undefined
    counts.set(value, times)
    before = value
  }
  return counts
}
