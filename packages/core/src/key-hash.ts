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
  const chunks: (string | Uint8Array)[] = []
  appendPart(chunks, `tidemark:${domain}`, domain, -2)
  appendPart(chunks, String(version), domain, -1)
  parts.forEach((part, index) => appendPart(chunks, part, domain, index))
  return sha256Hex(chunks)
}

const typeByte = { null: 0, string: 1, bytes: 2 } as const

function appendPart(chunks: (string | Uint8Array)[], part: KeyPart, domain: string, index: number): void {
  if (part === null) {
    chunks.push(prefix(typeByte.null, 0))
    return
  }
  if (typeof part !== 'string') {
    chunks.push(prefix(typeByte.bytes, part.byteLength), part)
    return
  }
  if (!isWellFormed(part)) {
    throw coreErrors.create('TM_CORE_KEY_PART_INVALID', {
      domain,
      part: index,
      reason: 'the string holds a lone surrogate',
    })
  }
  chunks.push(prefix(typeByte.string, utf8Length(part)), part)
}

function prefix(type: number, length: number): Uint8Array {
  // Big-endian by hand: a view costs several times the five bytes, and a start makes thousands of these.
  return Uint8Array.of(type, length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff)
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
