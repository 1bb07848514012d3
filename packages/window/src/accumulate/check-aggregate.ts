import { canonicalJson, isTidemarkError } from '@tidemark/core'
import type { JsonValue } from '@tidemark/core'
import type { Aggregate, AggregateOperation } from './aggregate.ts'
import { declarationInvalid, described, faultsOf } from './aggregate-faults.ts'
import type { AggregateFaults } from './aggregate-faults.ts'

/**
 * What a user's operations are given to change.
 *
 * - `copy`: a copy made through `encode` and `decode`. Whatever an operation does before it fails, the accumulator is as it was,
 *   as long as `encode` changes nothing. Costs three encodings and a decoding an operation.
 * - `none`: the accumulator itself. After a failure it holds whatever the operation did to it before; the state of the last cut is
 *   the one to go on from.
 *
 * With either, what a failed operation returned is never handed on, and what an operation changes elsewhere (the payload, a
 * variable outside) cannot be seen.
 */
export type AggregateIsolation = 'copy' | 'none'

const required = ['create', 'add', 'merge', 'result', 'encode', 'decode'] as const
const optional = ['retract', 'difference'] as const

/**
 * A user's aggregate, with every operation watched: what throws, and what is none of the values an operation may give, becomes a
 * typed error that names the aggregate, the operation and the path.
 *
 * Checked at every operation: an accumulator that is undefined, a number but no safe integer, a function, a symbol or a promise is
 * refused. Checked wherever something is written (`result`, `difference`, `encode`; with `copy` also after every operation):
 * canonical JSON all through, so that fractions, dates and maps inside are found. `decode` must give back what its encoding says.
 * Results are copies that later operations cannot change.
 *
 * Promises: WIN-50, WIN-51.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID; by its operations AGGREGATE_THREW and
 * AGGREGATE_VALUE_INVALID
 */
export function guardAggregate<P, A>(
  aggregate: Aggregate<P, A>,
  { isolation }: { readonly isolation: AggregateIsolation },
): Aggregate<P, A> {
  const faults = checkDeclaration(aggregate, isolation)
  const watch = createWatch(aggregate, faults)
  const own =
    isolation === 'copy' ? (accumulator: A): A => watch.copied(accumulator) : (accumulator: A): A => accumulator
  const kept = (operation: AggregateOperation, next: A): A => {
    checkAccumulator(faults, operation, next)
    if (isolation === 'copy') watch.encoded(operation, next)
    return next
  }
  // Written out for each operation: a function made at every record would cost more than the watching.
  const guarded: Aggregate<P, A> = {
    name: aggregate.name,
    version: aggregate.version,
    create: () =>
      kept(
        'create',
        watch.call('create', () => aggregate.create()),
      ),
    add: (accumulator, payload) => {
      let next: A
      try {
        next = aggregate.add(own(accumulator), payload)
      } catch (cause) {
        throw watch.failed('add', cause)
      }
      return kept('add', next)
    },
    merge: (into, from) => {
      let next: A
      try {
        next = aggregate.merge(own(into), own(from))
      } catch (cause) {
        throw watch.failed('merge', cause)
      }
      return kept('merge', next)
    },
    result: (accumulator) => {
      const value = watch.call('result', () => aggregate.result(own(accumulator)))
      return value === undefined ? undefined : watch.json('result', value)
    },
    encode: (accumulator) => watch.encoded('encode', accumulator),
    decode: (encoded) => watch.decoded(encoded),
    ...guardedRetract(aggregate, watch, own, kept),
    ...guardedDifference(aggregate, watch),
  }
  checkCreated(guarded, aggregate)
  return guarded
}

function guardedRetract<P, A>(
  aggregate: Aggregate<P, A>,
  watch: Watch<A>,
  own: (accumulator: A) => A,
  kept: (operation: AggregateOperation, next: A) => A,
): Pick<Aggregate<P, A>, 'retract'> {
  if (aggregate.retract === undefined) return {}
  const retract = aggregate.retract.bind(aggregate)
  return {
    retract: (accumulator, payload) => {
      let next: A
      try {
        next = retract(own(accumulator), payload)
      } catch (cause) {
        throw watch.failed('retract', cause)
      }
      return kept('retract', next)
    },
  }
}

function guardedDifference<P, A>(aggregate: Aggregate<P, A>, watch: Watch<A>): Pick<Aggregate<P, A>, 'difference'> {
  if (aggregate.difference === undefined) return {}
  const difference = aggregate.difference.bind(aggregate)
  return {
    difference: (current, previous) =>
      watch.json(
        'difference',
        watch.call('difference', () => difference(current, previous)),
      ),
  }
}

function checkDeclaration<P, A>(aggregate: Aggregate<P, A>, isolation: AggregateIsolation): AggregateFaults {
  if (typeof aggregate !== 'object' || aggregate === null) {
    throw declarationInvalid('unnamed', 'aggregate', `is ${described(aggregate)}; it must be an object`)
  }
  const faults = faultsOf(aggregate)
  for (const field of [...required, ...optional]) {
    const operation: unknown = aggregate[field]
    const absent = operation === undefined && (optional as readonly string[]).includes(field)
    if (!absent && typeof operation !== 'function') {
      throw declarationInvalid(faults.aggregate, field, `is ${described(operation)}; it must be a function`)
    }
  }
  if (isolation !== 'copy' && isolation !== 'none') {
    throw declarationInvalid(faults.aggregate, 'isolation', 'must be copy or none')
  }
  return faults
}

/** Every window starts from `create`: what it shares, windows would share. */
function checkCreated<P, A>(guarded: Aggregate<P, A>, aggregate: Aggregate<P, A>): void {
  const name = `${aggregate.name}@${aggregate.version}`
  const [first, second] = [guarded.create(), guarded.create()]
  if (typeof first === 'object' && first !== null && first === second) {
    throw declarationInvalid(name, 'create', 'gives the same object twice; windows would share it')
  }
  if (guarded.decode(guarded.encode(first)) === undefined) {
    throw declarationInvalid(name, 'decode', 'does not take what encode gives; no state could be restored')
  }
}

interface Watch<A> {
  /** The typed error of what an operation threw. */
  failed(operation: AggregateOperation, cause: unknown): Error
  /** Calls a user's operation; what it throws becomes a typed error. */
  call<T>(operation: AggregateOperation, act: () => T): T
  /** A copy of a value that must be canonical JSON. */
  json(operation: AggregateOperation, value: unknown): JsonValue
  encoded(operation: AggregateOperation, accumulator: A): JsonValue
  decoded(encoded: JsonValue): A | undefined
  copied(accumulator: A): A
}

function createWatch<P, A>(aggregate: Aggregate<P, A>, faults: AggregateFaults): Watch<A> {
  const failed = (operation: AggregateOperation, cause: unknown): Error => {
    // A guard inside, or an aggregate of the library that this one is made of, has said it already.
    if (isTidemarkError(cause) && cause.code.startsWith('TM_WINDOW_AGGREGATE_')) return cause
    return faults.threw(operation, cause)
  }
  const call = <T>(operation: AggregateOperation, act: () => T): T => {
    try {
      return act()
    } catch (cause) {
      throw failed(operation, cause)
    }
  }
  const textOf = (operation: AggregateOperation, value: unknown): string => {
    try {
      return canonicalJson(value)
    } catch (cause) {
      if (!isTidemarkError(cause, 'TM_CORE_JSON_NOT_CANONICAL')) throw faults.threw(operation, cause)
      const { path, reason } = cause.details as { readonly path: string; readonly reason: string }
      silence(value)
      throw faults.valueInvalid(operation, path, reason)
    }
  }
  const json = (operation: AggregateOperation, value: unknown): JsonValue =>
    JSON.parse(textOf(operation, value)) as JsonValue
  const encoded = (operation: AggregateOperation, accumulator: A): JsonValue =>
    json(
      operation,
      call('encode', () => aggregate.encode(accumulator)),
    )
  const decoded = (stored: JsonValue): A | undefined => {
    const text = textOf('decode', stored)
    const accumulator = call('decode', () => aggregate.decode(JSON.parse(text) as JsonValue))
    if (accumulator === undefined) return undefined
    checkAccumulator(faults, 'decode', accumulator)
    if (
      textOf(
        'decode',
        call('encode', () => aggregate.encode(accumulator)),
      ) === text
    )
      return accumulator
    throw faults.valueInvalid('decode', '$', 'the accumulator is encoded otherwise than what it was decoded from')
  }
  return {
    failed,
    call,
    json,
    encoded,
    decoded,
    copied: (accumulator) => {
      const copy = decoded(encoded('encode', accumulator))
      if (copy !== undefined) return copy
      throw faults.valueInvalid('decode', '$', 'what encode gave is not taken back')
    },
  }
}

function checkAccumulator(faults: AggregateFaults, operation: AggregateOperation, value: unknown): void {
  const kind = typeof value
  if (kind === 'object' || kind === 'string' || kind === 'boolean' || kind === 'bigint') {
    if (!silence(value)) return
    throw faults.valueInvalid(operation, '$', 'it is a promise; operations are synchronous')
  }
  if (kind === 'number' && Number.isSafeInteger(value)) return
  throw faults.valueInvalid(operation, '$', `${described(value)} is no accumulator`)
}

/** Whether a value is a promise; its failure is told by the error that refuses it, and must not end the process as well. */
function silence(value: unknown): boolean {
  if (!(value instanceof Promise)) return false
  value.then(undefined, () => undefined)
  return true
}
