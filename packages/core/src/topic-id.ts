import { coreErrors } from './errors.ts'

declare const topicIdBrand: unique symbol

/**
 * The KIP-516 identity of a topic: never reused, so a recreated topic of the same name has another one.
 *
 * Shape: lower-case hyphenated UUID, for example `edbce881-ef7f-96bd-9d9a-2d48fd68e2f5`.
 */
export type TopicId = string & { readonly [topicIdBrand]: true }

/** What a text says about a topic's identity. A zero id means the broker does not know one. */
export type TopicIdReading =
  | { readonly kind: 'topic-id'; readonly topicId: TopicId }
  | { readonly kind: 'zero' }
  | { readonly kind: 'unreadable'; readonly reason: string }

const zeroHex = '0'.repeat(32)
const zeroUuid = hyphenate(zeroHex)
const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const hyphenated = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * Reads a topic id in any of the three spellings clients print and brings it to one.
 *
 * Shape: standard base64 (librdkafka), URL-safe base64 (Java tools), hyphenated hexadecimal (Node clients); base64 with
 * or without its two padding signs. Anything else is unreadable: a guess here would bind a checkpoint to a wrong topic.
 */
export function readTopicId(text: string): TopicIdReading {
  const hex = hyphenated.test(text) ? text.replaceAll('-', '').toLowerCase() : hexOfBase64(text)
  if (hex === undefined) return { kind: 'unreadable', reason: 'neither a hyphenated UUID nor 22 base64 characters' }
  if (hex === zeroHex) return { kind: 'zero' }
  return { kind: 'topic-id', topicId: hyphenate(hex) }
}

/**
 * The topic id a text stands for, where a usable one is required.
 *
 * @throws {TidemarkError} TM_CORE_TOPIC_ID_INVALID when it is zero or unreadable.
 */
export function topicIdOf(text: string): TopicId {
  const reading = readTopicId(text)
  if (reading.kind === 'topic-id') return reading.topicId
  const reason = reading.kind === 'zero' ? 'it is the zero id, which means the broker has none' : reading.reason
  throw coreErrors.create('TM_CORE_TOPIC_ID_INVALID', { value: text, reason })
}

/** Whether a text is exactly the stored spelling; stored state is never read leniently. */
export function isCanonicalTopicId(text: string): text is TopicId {
  return canonical.test(text) && text !== zeroUuid
}

function hyphenate(hex: string): TopicId {
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
  return groups.join('-') as TopicId
}

function hexOfBase64(text: string): string | undefined {
  const body = text.endsWith('==') ? text.slice(0, -2) : text
  if (body.length !== 22) return undefined
  const standard = body.replaceAll('-', '+').replaceAll('_', '/')
  // Mixing both alphabets in one text means it was damaged on its way, not that it has a fourth spelling.
  if (/[-_]/.test(body) && /[+/]/.test(body)) return undefined
  let bits = 0n
  for (const character of standard) {
    const value = base64Alphabet.indexOf(character)
    if (value < 0) return undefined
    bits = (bits << 6n) | BigInt(value)
  }
  // 22 characters carry 132 bits; the last four must be zero, else two texts would spell one id.
  if ((bits & 0xfn) !== 0n) return undefined
  return (bits >> 4n).toString(16).padStart(32, '0')
}
