// The one file of the pure packages that may import from Node: hashing is deterministic and does no I/O.
// Ignored rather than expected, because programs that do have Node's types see no error here.
// @ts-ignore the pure packages compile without Node's types
import { createHash, hash } from 'node:crypto'

interface Hash {
  update(data: string | Uint8Array, encoding?: 'utf8'): Hash
  digest(encoding: 'hex'): string
}

/** The SHA-256 of a sequence of chunks, as 64 lower-case hexadecimal digits; strings are hashed as UTF-8. */
export function sha256Hex(chunks: readonly (string | Uint8Array)[]): string {
  // One chunk needs no hash object, which costs several times the hashing of a short one.
  if (chunks.length === 1) {
    return (hash as (algorithm: 'sha256', data: string | Uint8Array, encoding: 'hex') => string)(
      'sha256',
      chunks[0]!,
      'hex',
    )
  }
  let whole = (createHash as (algorithm: 'sha256') => Hash)('sha256')
  for (const chunk of chunks) whole = typeof chunk === 'string' ? whole.update(chunk, 'utf8') : whole.update(chunk)
  return whole.digest('hex')
}
