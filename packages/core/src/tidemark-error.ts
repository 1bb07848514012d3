import type { JsonValue } from './json-value.ts'

const brand = Symbol.for('tidemark.error')

/** What every tidemark error carries besides its message. */
export interface TidemarkErrorFields {
  /** Stable, greppable identity: `TM_<AREA>_<CONDITION>`. Never renamed. */
  readonly code: string
  /** The values involved, safe to print as JSON. Never holds a secret. */
  readonly details: Readonly<Record<string, JsonValue>>
  /** Kafka's word: true when the same call may succeed later without anything being repaired. */
  readonly retriable: boolean
  /** What an operator can do about it. */
  readonly remedy: string
  /** Where the code is explained, relative to the documentation root. */
  readonly docsPath: string
}

/**
 * The one error class: a broken contract or failed I/O, identified by brand and code.
 *
 * Expected outcomes (refused, fenced, late) are values and never come as this.
 * Identify it with {@link isTidemarkError}; `instanceof` fails across copies of the package.
 */
export class TidemarkError extends Error implements TidemarkErrorFields {
  readonly code: string
  readonly details: Readonly<Record<string, JsonValue>>
  readonly retriable: boolean
  readonly remedy: string
  readonly docsPath: string

  constructor(message: string, fields: TidemarkErrorFields, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'TidemarkError'
    this.code = fields.code
    this.details = fields.details
    this.retriable = fields.retriable
    this.remedy = fields.remedy
    this.docsPath = fields.docsPath
    Object.defineProperty(this, brand, { value: true, enumerable: false })
  }

  /** The error as plain data for a log line; the cause is reduced to its message. */
  toJSON(): Record<string, JsonValue> {
    const { code, message, details, retriable, remedy, docsPath } = this
    const cause = this.cause === undefined ? {} : { cause: messageOf(this.cause) }
    return { code, message, details, retriable, remedy, docsPath, ...cause }
  }
}

/** Whether a caught value is a tidemark error, optionally one of a given code, in whichever copy of the package it arose. */
export function isTidemarkError(error: unknown, code?: string): error is TidemarkError {
  if (typeof error !== 'object' || error === null) return false
  if ((error as Record<symbol, unknown>)[brand] !== true) return false
  return code === undefined || (error as TidemarkError).code === code
}

/** The one-line message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string') {
    return thrown.message
  }
  return String(thrown)
}
