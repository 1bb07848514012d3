import { hashKey } from '@tidemark/core'
import type { Envelope } from './envelope.ts'

/**
 * What the record at an offset looked like, so that another record there is told from the same one again.
 *
 * Total: a quarantined record, whose fields may be anything, has a witness too. `payloadDigest` is only asked for records that
 * stand last in their partition. Cost: one hash.
 */
export function envelopeWitness<P>(envelope: Envelope<P>, payloadDigest: (payload: P) => string): string {
  const { eventId, eventTime, key, payload } = envelope
  return hashKey('envelope-witness', 1, [text(eventId), text(eventTime), text(key), payloadDigest(payload)])
}

/** Scalars by type and value; JSON's escapes keep strings with lone surrogates apart and hashable. */
function text(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value)}`
    case 'number':
    case 'bigint':
    case 'boolean':
      return `${typeof value} ${value}`
    default:
      return value === null ? 'null' : typeof value
  }
}
