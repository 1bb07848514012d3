import type { Aggregate, AggregateName } from './aggregate.ts'
import { faultsOf } from './aggregate-faults.ts'
import type { DecimalOptions } from './decimal-sum.ts'
import { decimalValues, integerValues } from './exact-values.ts'
import type { ExactValues } from './exact-values.ts'
import type { ExactValue } from './exact/exact-value.ts'
import type { IntegerOptions } from './sum.ts'
import type { Extreme } from './value-multiset.ts'

/** The extreme so far. */
export interface ExtremeState {
  value: ExactValue | undefined
}

/**
 * The smallest integer of events that are never taken back: it keeps that one and has no `retract`, so a policy for changes or
 * deltas refuses it.
 *
 * Promises: WIN-46, WIN-49. Shape of the result: a safe integer; undefined for no events.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by its operations AGGREGATE_VALUE_INVALID, _THREW
 */
export function createAppendOnlyMin<P>(options: IntegerOptions<P>): Aggregate<P, ExtremeState> {
  const faults = faultsOf(options)
  return createExtremeSoFar(options, integerValues(faults, options.read), 'min')
}

/** The largest integer; otherwise as {@link createAppendOnlyMin}. */
export function createAppendOnlyMax<P>(options: IntegerOptions<P>): Aggregate<P, ExtremeState> {
  const faults = faultsOf(options)
  return createExtremeSoFar(options, integerValues(faults, options.read), 'max')
}

/** The smallest decimal, told with exactly `scale` places; otherwise as {@link createAppendOnlyMin}. */
export function createAppendOnlyDecimalMin<P>(options: DecimalOptions<P>): Aggregate<P, ExtremeState> {
  const faults = faultsOf(options)
  return createExtremeSoFar(options, decimalValues(faults, options.read, options.scale), 'min')
}

/** The largest decimal, told with exactly `scale` places; otherwise as {@link createAppendOnlyMin}. */
export function createAppendOnlyDecimalMax<P>(options: DecimalOptions<P>): Aggregate<P, ExtremeState> {
  const faults = faultsOf(options)
  return createExtremeSoFar(options, decimalValues(faults, options.read, options.scale), 'max')
}

function createExtremeSoFar<P>(
  { name, version }: AggregateName,
  values: ExactValues<P>,
  extreme: Extreme,
): Aggregate<P, ExtremeState> {
  const take = (state: ExtremeState, value: ExactValue | undefined): ExtremeState => {
    if (value === undefined) return state
    const held = state.value
    if (held === undefined || (extreme === 'min' ? value < held : value > held)) state.value = value
    return state
  }
  return {
    name,
    version,
    create: () => ({ value: undefined }),
    add: (state, payload) => take(state, values.read(payload, 'add')),
    merge: (into, from) => take(into, from.value),
    result: ({ value }) => (value === undefined ? undefined : values.tell(BigInt(value), 'result')),
    encode: ({ value }) => (value === undefined ? null : values.write(BigInt(value))),
    decode: (encoded) => {
      if (encoded === null) return { value: undefined }
      const value = values.parse(encoded)
      return value === undefined ? undefined : { value }
    },
  }
}
