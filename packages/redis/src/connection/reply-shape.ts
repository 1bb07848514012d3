import { redisErrors } from '../errors.ts'

/** A reply that must be an array, of exactly a length where one is given. */
export function arrayReply(operation: string, reply: unknown, length?: number): readonly unknown[] {
  if (Array.isArray(reply) && (length === undefined || reply.length === length)) return reply as readonly unknown[]
  throw malformed(operation, length === undefined ? 'an array' : `an array of ${length}`, reply)
}

/** A reply that must be a string. */
export function textReply(operation: string, reply: unknown): string {
  if (typeof reply === 'string') return reply
  throw malformed(operation, 'a string', reply)
}

/** A reply that must be a string or nil. */
export function optionalTextReply(operation: string, reply: unknown): string | undefined {
  return reply === null || reply === undefined ? undefined : textReply(operation, reply)
}

/** A reply that must be a whole number inside a range. */
export function countReply(operation: string, reply: unknown, max: number = Number.MAX_SAFE_INTEGER): number {
  if (typeof reply === 'number' && Number.isSafeInteger(reply) && reply >= 0 && reply <= max) return reply
  throw malformed(operation, `a whole number up to ${max}`, reply)
}

/**
 * A reply that must be field-value pairs, as a plain record.
 *
 * A field that comes twice means that the replies of two commands were mixed up.
 */
export function fieldsReply(operation: string, reply: unknown): Readonly<Record<string, string>> {
  const flat = arrayReply(operation, reply)
  if (flat.length % 2 !== 0) throw malformed(operation, 'field-value pairs', reply)
  const fields = new Map<string, string>()
  for (let index = 0; index < flat.length; index += 2) {
    const field = textReply(operation, flat[index])
    if (fields.has(field)) throw malformed(operation, 'every field once', reply)
    fields.set(field, textReply(operation, flat[index + 1]))
  }
  // Unlike assignment, this keeps a field named "__proto__" an ordinary one.
  return Object.fromEntries(fields)
}

/** The error of a reply of another shape. Only the shape is told: the values may be anybody's data. */
export function malformed(operation: string, expected: string, reply: unknown): Error {
  return redisErrors.create('TM_REDIS_REPLY_MALFORMED', { operation, expected, found: shapeOf(reply) })
}

function shapeOf(reply: unknown): string {
  if (Array.isArray(reply)) return `an array of ${reply.length}`
  return reply === null ? 'nil' : `a ${typeof reply}`
}
