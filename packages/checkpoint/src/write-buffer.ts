import { isWellFormed, utf8Length } from '@tidemark/core'
import { checkpointErrors } from './errors.ts'
import type { IdempotentWriter, ProjectionWrite } from './projection-write.ts'

/** Writes collected for one step, in order, with what they will cost the store. */
export interface WriteBuffer<Writer> {
  /** What the projection function gets. */
  readonly writer: Writer
  /** How many writes are collected. */
  readonly writeCount: number
  /** An upper estimate of the bytes the store will be sent. */
  readonly byteCount: number
  /** Where the buffer stands, for {@link rewind}. */
  mark(): WriteMark
  /** Drops everything collected since a mark: the writes of a record that turned out to be undecodable. */
  rewind(mark: WriteMark): void
}

/** A point in a buffer to which it can be rewound. */
export interface WriteMark {
  readonly writeCount: number
  readonly byteCount: number
}

/** A buffer of the common vocabulary; stores read `writes`. */
export interface VocabularyBuffer extends WriteBuffer<IdempotentWriter> {
  readonly writes: readonly ProjectionWrite[]
}

/** What keys may not be written, and how long parts may be. */
export interface WriteBufferOptions {
  /** Keys starting with this belong to the store itself. */
  readonly reservedPrefix: string
}

/** The longest key, member, field or value of one write, in UTF-8 bytes. A script is bounded at 256 KiB. */
export const WRITE_PART_BYTES_MAX = 65_536

const perWriteOverheadBytes = 32

/**
 * An empty buffer of the common vocabulary.
 *
 * Each writer call throws TM_CHECKPOINT_WRITE_INVALID on a bad argument, before anything of it is collected.
 */
export function createWriteBuffer(options: WriteBufferOptions): VocabularyBuffer {
  const writes: ProjectionWrite[] = []
  let byteCount = 0
  const collect = (write: ProjectionWrite, bytes: number): void => {
    byteCount += bytes
    writes.push(write)
  }
  return {
    writer: createWriter(options.reservedPrefix, collect),
    writes,
    get writeCount() {
      return writes.length
    },
    get byteCount() {
      return byteCount
    },
    mark: () => ({ writeCount: writes.length, byteCount }),
    rewind(mark) {
      writes.length = mark.writeCount
      byteCount = mark.byteCount
    },
  }
}

type Collect = (write: ProjectionWrite, bytes: number) => void

/** Every call measures all of a write before anything of it is collected. */
function createWriter(reservedPrefix: string, collect: Collect): IdempotentWriter {
  const measure = (op: ProjectionWrite['op'], key: string): number => {
    if (typeof key !== 'string' || key === '') throw invalid(op, String(key), 'the key is empty')
    if (key.startsWith(reservedPrefix)) {
      throw invalid(op, key, `keys starting with ${reservedPrefix} belong to the checkpoint store`)
    }
    return perWriteOverheadBytes + partBytes(op, key, key)
  }
  return {
    zadd(key, mode, score, member) {
      if (!Number.isSafeInteger(score)) throw invalid('zadd', key, `score ${score} is not a safe integer`)
      if (mode !== 'GT' && mode !== 'LT' && mode !== 'ANY')
        throw invalid('zadd', key, `mode ${String(mode)} is unknown`)
      const bytes = measure('zadd', key) + partBytes('zadd', key, member)
      // -0 is stored as "-0" by some servers and as "0" by others; the two are one score.
      collect({ op: 'zadd', key, mode, score: score === 0 ? 0 : score, member }, bytes)
    },
    zrem: (key, member) => collect({ op: 'zrem', key, member }, measure('zrem', key) + partBytes('zrem', key, member)),
    sadd: (key, member) => collect({ op: 'sadd', key, member }, measure('sadd', key) + partBytes('sadd', key, member)),
    srem: (key, member) => collect({ op: 'srem', key, member }, measure('srem', key) + partBytes('srem', key, member)),
    hset(key, field, value) {
      const bytes = measure('hset', key) + partBytes('hset', key, field) + partBytes('hset', key, value)
      collect({ op: 'hset', key, field, value }, bytes)
    },
    hdel: (key, field) => collect({ op: 'hdel', key, field }, measure('hdel', key) + partBytes('hdel', key, field)),
    set: (key, value) => collect({ op: 'set', key, value }, measure('set', key) + partBytes('set', key, value)),
    del: (key) => collect({ op: 'del', key }, measure('del', key)),
    setIfGreater(key, value) {
      if (typeof value !== 'bigint' || value < 0n || value >= 2n ** 63n) {
        throw invalid('setIfGreater', key, `${String(value)} is not a whole number from 0 to 2^63-1`)
      }
      collect({ op: 'setIfGreater', key, value }, measure('setIfGreater', key))
    },
  }
}

/** The UTF-8 bytes of a part, after everything that a part may not be. */
function partBytes(op: ProjectionWrite['op'], key: string, part: string): number {
  if (typeof part !== 'string') throw invalid(op, key, `a ${typeof part} stands where a string is due`)
  const bytes = wellFormedBytes(part)
  if (bytes === undefined) throw invalid(op, key, 'a part holds a lone surrogate')
  if (bytes > WRITE_PART_BYTES_MAX)
    throw invalid(op, key, `a part has ${bytes} bytes, more than ${WRITE_PART_BYTES_MAX}`)
  return bytes
}

/** The UTF-8 length of a text, or `undefined` when it holds a lone surrogate. One pass, since it runs for every part. */
function wellFormedBytes(text: string): number | undefined {
  const { length } = text
  for (let index = 0; index < length; index += 1) {
    if (text.charCodeAt(index) >= 0x80) return isWellFormed(text) ? utf8Length(text) : undefined
  }
  return length
}

function invalid(op: string, key: string, reason: string): Error {
  return checkpointErrors.create('TM_CHECKPOINT_WRITE_INVALID', { op, key: key.slice(0, 128), reason })
}
