import type { JsonValue } from '@tidemark/core'
import type { Aggregate, AggregateName } from './aggregate.ts'
import { checkDeclared, declarationInvalid, faultsOf } from './aggregate-faults.ts'
import type { AggregateFaults } from './aggregate-faults.ts'
import { DECIMAL_SCALE_MAX, formatDecimal } from './exact/decimal-text.ts'
import type { DecimalOptions } from './decimal-sum.ts'
import { addToTotal, addTotals, totalOf, totalOfValue } from './exact/exact-total.ts'
import type { ExactTotal } from './exact/exact-total.ts'
import { decimalValues, integerValues } from './exact-values.ts'
import type { ExactValues } from './exact-values.ts'
import { roundedQuotient, reducedFraction } from './exact/exact-quotient.ts'
import type { Rounding } from './exact/exact-quotient.ts'
import { isCount, storedTuple } from './stored-count.ts'
import type { IntegerOptions } from './sum.ts'

/** How an average is told: in full, or as decimal text of a scale and a said rounding. */
export type AverageForm =
  /** `{ numerator, denominator }`, reduced, both whole numbers as text, the denominator above zero. */
  { readonly kind: 'fraction' } | { readonly kind: 'decimal'; readonly places: number; readonly rounding: Rounding }

/** What an average keeps: the sum and the count, so that nothing is rounded before it is told. */
export interface AverageState extends ExactTotal {
  count: number
}

/**
 * The mean of integers.
 *
 * Promises: WIN-46, WIN-48. Shape of the result: as `form` says; undefined for no events.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by its operations AGGREGATE_VALUE_INVALID, _THREW,
 * _RETRACT_UNMATCHED
 */
export function createAverage<P>(
  options: IntegerOptions<P> & { readonly form: AverageForm },
): Aggregate<P, AverageState> {
  const faults = faultsOf(options)
  return exactAverage(options, options.form, faults, integerValues(faults, options.read))
}

/**
 * The mean of decimals; `scale` is that of the values, the places of the result are the form's.
 *
 * Promises: WIN-46, WIN-48.
 *
 * @throws {TidemarkError} as {@link createAverage}
 */
export function createDecimalAverage<P>(
  options: DecimalOptions<P> & { readonly form: AverageForm },
): Aggregate<P, AverageState> {
  const faults = faultsOf(options)
  return exactAverage(options, options.form, faults, decimalValues(faults, options.read, options.scale))
}

function exactAverage<P>(
  { name, version }: AggregateName,
  form: AverageForm,
  faults: AggregateFaults,
  values: ExactValues<P>,
): Aggregate<P, AverageState> {
  checkForm(faults, form)
  return {
    name,
    version,
    create: () => ({ low: 0, over: 0n, count: 0 }),
    add: (state, payload) => {
      addToTotal(state, values.read(payload, 'add'), 1)
      state.count += 1
      return state
    },
    merge: (into, from) => {
      addTotals(into, from)
      into.count += from.count
      return into
    },
    retract: (state, payload) => {
      const value = values.read(payload, 'retract')
      if (state.count === 0) throw faults.unmatched('retract', 'nothing is left to take back')
      // The last value to go must be the one that is there; with more of them, a wrong one cannot be told.
      if (state.count === 1 && totalOf(state) !== BigInt(value)) {
        throw faults.unmatched('retract', 'the only value that is left is another one')
      }
      addToTotal(state, value, -1)
      state.count -= 1
      return state
    },
    result: (state) => (state.count === 0 ? undefined : told(form, totalOf(state), state.count, values.scale)),
    encode: (state) => [values.write(totalOf(state)), state.count],
    decode: (encoded) => {
      const [total, count] = storedTuple(encoded, 2) ?? []
      const value = values.parse(total)
      if (value === undefined || !isCount(count)) return undefined
      return count === 0 && value !== 0 ? undefined : { ...totalOfValue(value), count }
    },
  }
}

function told(form: AverageForm, total: bigint, count: number, scale: number): JsonValue {
  const divisor = BigInt(count) * 10n ** BigInt(scale)
  if (form.kind === 'fraction') return reducedFraction(total, divisor)
  return formatDecimal(roundedQuotient(total * 10n ** BigInt(form.places), divisor, form.rounding), form.places)
}

function checkForm(faults: AggregateFaults, form: AverageForm): void {
  if (form.kind === 'fraction') return
  if (form.kind !== 'decimal') throw declarationInvalid(faults.aggregate, 'form', 'must be a fraction or a decimal')
  checkDeclared(faults, 'form.places', form.places, 0, DECIMAL_SCALE_MAX)
  if (form.rounding !== 'HALF_EVEN' && form.rounding !== 'HALF_UP') {
    throw declarationInvalid(faults.aggregate, 'form.rounding', 'must be HALF_EVEN or HALF_UP')
  }
}
