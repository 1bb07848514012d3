import { isUndecodable, undecodable } from '@tidemark/checkpoint'
import type { Undecodable } from '@tidemark/checkpoint'
import { isWellFormed, utf8Length } from '@tidemark/core'

/** One message sent into a conversation: what a record of the dispatch topic means. */
export interface DispatchRecord {
  readonly dispatchId: string
  readonly conversationId: string
  /** Whole epoch milliseconds, from 1970 to the end of the year 9999. */
  readonly createdAt: number
  /** Users who see the conversation; the same one may be named twice. */
  readonly recipients: readonly string[]
}

/** 9999-12-31T23:59:59.999Z. A later time is a unit mistake (microseconds, nanoseconds), not a date. */
export const CREATED_AT_MAX_MS = 253_402_300_799_999

/** The most recipients of one dispatch. Such a record is written in several steps of the store, but in whole or not at all. */
export const RECIPIENTS_MAX = 10_000

/** The longest id, in UTF-8 bytes. */
export const ID_BYTES_MAX = 1_024

// A byte order mark is not white space in JSON; keeping it makes the parser refuse it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The dispatch a record's value stands for, or why it stands for none.
 *
 * Shape: a JSON object with at least the four fields; more fields are allowed, so that producers may add some.
 * Reasons name the field and never quote the payload, since they end up in logs and in the quarantine.
 */
export function decodeDispatch(value: Uint8Array | null): DispatchRecord | Undecodable {
  const fields = parseObject(value)
  if (isUndecodable(fields)) return fields
  const { dispatchId, conversationId, createdAt, recipients } = fields
  const fault =
    idFault('dispatchId', dispatchId) ??
    idFault('conversationId', conversationId) ??
    createdAtFault(createdAt) ??
    recipientsFault(recipients)
  if (fault !== undefined) return undecodable(fault)
  return { dispatchId, conversationId, createdAt, recipients } as DispatchRecord
}

/** The bytes of a dispatch. */
export function encodeDispatch(dispatch: DispatchRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(dispatch))
}

function parseObject(value: Uint8Array | null): Record<string, unknown> | Undecodable {
  if (value === null) return undecodable('the value is null')
  let parsed: unknown
  try {
    parsed = JSON.parse(utf8.decode(value))
  } catch {
    return undecodable('the value is not JSON in UTF-8')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return undecodable('the value is not a JSON object')
  }
  return parsed as Record<string, unknown>
}

function idFault(field: string, id: unknown): string | undefined {
  if (id === undefined) return `${field} is missing`
  if (typeof id !== 'string') return `${field} is not a string`
  if (id === '') return `${field} is empty`
  // UTF-8 has no form for a lone surrogate: two different ids would become one.
  if (!isWellFormed(id)) return `${field} holds a lone surrogate`
  if (utf8Length(id) > ID_BYTES_MAX) return `${field} is longer than ${ID_BYTES_MAX} bytes`
  return undefined
}

function createdAtFault(createdAt: unknown): string | undefined {
  if (createdAt === undefined) return 'createdAt is missing'
  if (typeof createdAt !== 'number' || !Number.isSafeInteger(createdAt)) return 'createdAt is not a whole number'
  if (createdAt < 0) return 'createdAt is negative'
  if (createdAt > CREATED_AT_MAX_MS) return 'createdAt is beyond the year 9999; is it in milliseconds?'
  return undefined
}

function recipientsFault(recipients: unknown): string | undefined {
  if (recipients === undefined) return 'recipients is missing'
  if (!Array.isArray(recipients)) return 'recipients is not a list'
  if (recipients.length === 0) return 'recipients is empty'
  if (recipients.length > RECIPIENTS_MAX)
    return `recipients has ${recipients.length} entries, more than ${RECIPIENTS_MAX}`
  for (const [index, recipient] of recipients.entries()) {
    const fault = idFault(`recipients[${index}]`, recipient)
    if (fault !== undefined) return fault
  }
  return undefined
}
