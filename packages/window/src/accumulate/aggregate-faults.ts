import { isWellFormed, messageOf } from '@tidemark/core'
import { windowErrors } from '../errors.ts'
import type { AggregateName, AggregateOperation } from './aggregate.ts'

/** Makes the errors of one aggregate, so that each of them names it. */
export interface AggregateFaults {
  readonly aggregate: string
  threw(operation: AggregateOperation, cause: unknown): Error
  valueInvalid(operation: AggregateOperation, path: string, reason: string): Error
  unmatched(operation: AggregateOperation, reason: string): Error
  overflow(operation: AggregateOperation, reason: string): Error
  full(operation: AggregateOperation, valuesMax: number): Error
}

/**
 * The faults of an aggregate of a checked name and version.
 *
 * @throws {TidemarkError} TM_WINDOW_AGGREGATE_DECLARATION_INVALID
 */
export function faultsOf({ name, version }: AggregateName): AggregateFaults {
  if (typeof name !== 'string' || name === '' || !isWellFormed(name)) {
    throw declarationInvalid(String(name), 'name', 'must be text, not empty and well-formed')
  }
  if (!Number.isSafeInteger(version) || version < 1) {
    throw declarationInvalid(name, 'version', `is ${version}; it must be a whole number from 1`)
  }
  const aggregate = `${name}@${version}`
  return {
    aggregate,
    threw: (operation, cause) =>
      windowErrors.create('TM_WINDOW_AGGREGATE_THREW', { aggregate, operation, reason: messageOf(cause) }, { cause }),
    valueInvalid: (operation, path, reason) =>
      windowErrors.create('TM_WINDOW_AGGREGATE_VALUE_INVALID', { aggregate, operation, path, reason }),
    unmatched: (operation, reason) =>
      windowErrors.create('TM_WINDOW_AGGREGATE_RETRACT_UNMATCHED', { aggregate, operation, reason }),
    overflow: (operation, reason) =>
      windowErrors.create('TM_WINDOW_AGGREGATE_OVERFLOW', { aggregate, operation, reason }),
    full: (operation, valuesMax) =>
      windowErrors.create('TM_WINDOW_AGGREGATE_FULL', { aggregate, operation, valuesMax }),
  }
}

/** The error of a declaration that cannot be used. */
export function declarationInvalid(aggregate: string, field: string, reason: string): Error {
  return windowErrors.create('TM_WINDOW_AGGREGATE_DECLARATION_INVALID', { aggregate, field, reason })
}

/** A limit or a scale of a declaration: a whole number inside its range. */
export function checkDeclared(faults: AggregateFaults, field: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw declarationInvalid(faults.aggregate, field, `is ${value}; it must be a whole number from ${min} to ${max}`)
}

/** What a value is, in words that can stand in a log: text that does not look like a number is told by its length alone. */
export function described(value: unknown): string {
  if (typeof value === 'string') {
    if (/^[-+0-9.,eE_ ]{1,48}$/.test(value)) return JSON.stringify(value)
    return `a string of ${value.length} characters`
  }
  if (typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return `the bigint ${value}`
  if (value === null || value === undefined) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  return Array.isArray(value) ? 'an array' : `an object (${constructorName(value)})`
}

function constructorName(value: object): string {
  const { constructor } = value
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'no class'
}
