import { isWellFormed } from './canonical-json.ts'
import { coreErrors } from './errors.ts'
import { sha256Hex } from './sha256.ts'

/** One part of a composed key. `null` is a part of its own, unlike the empty string. */
export type KeyPart = string | Uint8Array | null

/**
 * The hash of a key composed of several parts, such that no two different compositions share an input.
 *
 * Shape: SHA-256 over the domain, its version and every part, each preceded by a type byte and its length in bytes;
 * joining with a separator would make ("a|b", "c") and ("a", "b|c") one key.
 * Cost: one hash; call it once per window or batch, not per event.
 *
 * @throws {TidemarkError} TM_CORE_KEY_PART_INVALID for a string with a lone surrogate.
 */
export function hashKey(domain: string, version: number, parts: readonly KeyPart[]): string {
  const all: readonly KeyPart[] = [`tidemark:${domain}`, String(version), ...parts]
  if (bytesMaxOf(all) > scratch.length) return sha256Hex(chunksOf(domain, all))
  let end = 0
  for (let index = 0; index < all.length; index += 1) end = writePart(end, all[index]!, domain, index - 2)
  return sha256Hex([scratch.subarray(0, end)])
}

const typeByte = { null: 0, string: 1, bytes: 2 } as const
const prefixBytes = 5

/** Where a key is put together: its parts are short and many, and an object for each costs more than hashing them all. */
const scratch = new Uint8Array(16_384)

/** At most so many bytes: a unit of UTF-16 takes three in UTF-8, and two of them four. */
function bytesMaxOf(parts: readonly KeyPart[]): number {
  let bytes = 0
  for (const part of parts) {
    bytes += prefixBytes + (part === null ? 0 : typeof part === 'string' ? 3 * part.length : part.byteLength)
  }
  return bytes
}

function writePart(at: number, part: KeyPart, domain: string, index: number): number {
  if (part === null) return writePrefix(at, typeByte.null, 0)
  const from = at + prefixBytes
  if (typeof part !== 'string') {
    scratch.set(part, from)
    writePrefix(at, typeByte.bytes, part.byteLength)
    return from + part.byteLength
  }
  const end = writeUtf8(from, part)
  if (end === undefined) throw loneSurrogate(domain, index)
  writePrefix(at, typeByte.string, end - from)
  return end
}

function writePrefix(at: number, type: number, length: number): number {
  scratch[at] = type
  scratch[at + 1] = length >>> 24
  scratch[at + 2] = length >>> 16
  scratch[at + 3] = length >>> 8
  scratch[at + 4] = length
  return at + prefixBytes
}

/** Writes a string as UTF-8; where it ends, or `undefined` at a lone surrogate. */
function writeUtf8(from: number, text: string): number | undefined {
  let to = from
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) {
      scratch[to] = unit
      to += 1
    } else if (unit < 0x800) {
      scratch[to] = 0xc0 | (unit >> 6)
      scratch[to + 1] = 0x80 | (unit & 0x3f)
      to += 2
    } else if (unit >= 0xd800 && unit <= 0xdfff) {
      const low = text.charCodeAt(index + 1)
      // Past the end there is NaN, which is no low surrogate either.
      if (unit > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) return undefined
      const point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
      scratch[to] = 0xf0 | (point >> 18)
      scratch[to + 1] = 0x80 | ((point >> 12) & 0x3f)
      scratch[to + 2] = 0x80 | ((point >> 6) & 0x3f)
      scratch[to + 3] = 0x80 | (point & 0x3f)
      to += 4
      index += 1
    } else {
      scratch[to] = 0xe0 | (unit >> 12)
      scratch[to + 1] = 0x80 | ((unit >> 6) & 0x3f)
      scratch[to + 2] = 0x80 | (unit & 0x3f)
      to += 3
    }
  }
  return to
}

/** The same bytes in pieces, for a key too long to be put together. */
function chunksOf(domain: string, parts: readonly KeyPart[]): (string | Uint8Array)[] {
  return parts.flatMap((part, index): (string | Uint8Array)[] => {
    if (part === null) return [prefix(typeByte.null, 0)]
    if (typeof part !== 'string') return [prefix(typeByte.bytes, part.byteLength), part]
    if (!isWellFormed(part)) throw loneSurrogate(domain, index - 2)
    return [prefix(typeByte.string, utf8Length(part)), part]
  })
}

function loneSurrogate(domain: string, part: number): Error {
  return coreErrors.create('TM_CORE_KEY_PART_INVALID', { domain, part, reason: 'the string holds a lone surrogate' })
}

function prefix(type: number, length: number): Uint8Array {
  return Uint8Array.of(type, length >>> 24, length >>> 16, length >>> 8, length)
}

/** The number of bytes a well-formed string takes in UTF-8. */
export function utf8Length(text: string): number {
  let length = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) length += 1
    else if (unit < 0x800) length += 2
    else if (unit >= 0xd800 && unit <= 0xdfff) length += 2
    else length += 3
  }
  return length
}
