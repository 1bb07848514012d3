import type { JsonValue } from '@tidemark/core'

/**
 * How the events of one window become one value.
 *
 * A pure function of the events, in any order: `add`, `merge` and `retract` may change the accumulator they are given and return
 * it, and do nothing else. What they are given as `from` or as payload stays as it was. A thrown error leaves the accumulator
 * unchanged; `guardAggregate` says what it can see to where a user's does not.
 *
 * Shape: the accumulator is anything but undefined; what leaves the aggregate (result, difference, encode) is canonical JSON.
 */
export interface Aggregate<P, A> {
  readonly name: string
  /** From 1; anything that would give another result for the same events is another version. */
  readonly version: number
  /** The accumulator of no events, a fresh one at each call. */
  create(): A
  add(accumulator: A, payload: P): A
  /** Both together; `into` is not used after. */
  merge(into: A, from: A): A
  /** Takes back one `add` of an equal payload. Absent where nothing can be taken back. */
  retract?(accumulator: A, payload: P): A
  /** The value; undefined where there is nothing to tell. */
  result(accumulator: A): JsonValue | undefined
  /**
   * What turns the previous value into the current one by addition, undefined standing for no value. Absent where values do not
   * add up.
   */
  difference?(current: JsonValue | undefined, previous: JsonValue | undefined): JsonValue
  /** Equal accumulators have one encoding, whatever the order in which they came about. */
  encode(accumulator: A): JsonValue
  /** The accumulator of an encoding; undefined for what `encode` does not write. */
  decode(encoded: JsonValue): A | undefined
}

/** What an aggregate is asked to do, as errors name it. */
export type AggregateOperation = 'create' | 'add' | 'merge' | 'retract' | 'result' | 'difference' | 'encode' | 'decode'

/** The name under which an aggregate is declared, and its version. */
export interface AggregateName {
  readonly name: string
  readonly version: number
}
