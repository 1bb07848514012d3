import { commutes, createWriteBuffer, WRITE_PART_BYTES_MAX } from '@tidemark/checkpoint'
import type { IdempotentWriter, ProjectionWrite } from '@tidemark/checkpoint'
import { isTidemarkError } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

const buffer = () => createWriteBuffer({ reservedPrefix: 'ns:' })

const valid: readonly ((w: IdempotentWriter) => void)[] = [
  (w) => w.zadd('z', 'GT', 1, 'm'),
  (w) => w.zadd('z', 'LT', -1, 'm'),
  (w) => w.zadd('z', 'ANY', 0, 'm'),
  (w) => w.zrem('z', 'm'),
  (w) => w.sadd('s', 'm'),
  (w) => w.srem('s', 'm'),
  (w) => w.hset('h', 'f', 'v'),
  (w) => w.hdel('h', 'f'),
  (w) => w.set('t', ''),
  (w) => w.setIfGreater('n', 2n ** 63n - 1n),
  (w) => w.del('k'),
]

const invalid: readonly [string, (w: IdempotentWriter) => void][] = [
  ['an empty key', (w) => w.del('')],
  ['a key of the store itself', (w) => w.del('ns:meta')],
  ['a key with a lone surrogate', (w) => w.del('\ud800')],
  ['a member with a lone surrogate', (w) => w.sadd('s', '\udc00')],
  ['a value that is no string', (w) => w.set('t', 7 as unknown as string)],
  ['a missing member', (w) => w.sadd('s', undefined as unknown as string)],
  ['a missing key', (w) => w.del(undefined as unknown as string)],
  ['a fractional score', (w) => w.zadd('z', 'GT', 0.5, 'm')],
  ['a score beyond 2^53', (w) => w.zadd('z', 'GT', 2 ** 53, 'm')],
  ['a score that is no number', (w) => w.zadd('z', 'GT', Number.NaN, 'm')],
  ['an unknown mode', (w) => w.zadd('z', 'NX' as 'GT', 1, 'm')],
  ['a negative number', (w) => w.setIfGreater('n', -1n)],
  ['a number beyond 2^63-1', (w) => w.setIfGreater('n', 2n ** 63n)],
  ['a float where a bigint is due', (w) => w.setIfGreater('n', 1 as unknown as bigint)],
  ['a part one byte too long', (w) => w.set('t', 'é'.repeat(WRITE_PART_BYTES_MAX / 2) + 'x')],
]

describe('the write buffer', () => {
  it('[CKP-15] collects every write of the vocabulary in order', () => {
    const collected = buffer()
    for (const write of valid) write(collected.writer)
    expect(collected.writes.map(({ op }) => op)).toEqual([
      ...['zadd', 'zadd', 'zadd', 'zrem', 'sadd', 'srem', 'hset', 'hdel', 'set', 'setIfGreater', 'del'],
    ])
    expect(collected.writeCount).toBe(valid.length)
  })

  it.each(invalid)('[CKP-15] %s is refused and nothing of it is collected', (_, write) => {
    const collected = buffer()
    collected.writer.sadd('kept', 'm')
    const size = [collected.writeCount, collected.byteCount]
    let thrown: unknown
    try {
      write(collected.writer)
    } catch (error) {
      thrown = error
    }
    expect(isTidemarkError(thrown, 'TM_CHECKPOINT_WRITE_INVALID')).toBe(true)
    expect([collected.writeCount, collected.byteCount]).toEqual(size)
  })

  it('[CKP-15] parts up to the limit and strange keys are accepted', () => {
    const collected = buffer()
    for (const key of ['a:b', '{x}', 'new\nline', '💧', 'ns', 'x'.repeat(WRITE_PART_BYTES_MAX)])
      collected.writer.set(key, 'v')
    expect(collected.writeCount).toBe(6)
  })

  it('[CKP-15] -0 is written as 0', () => {
    const collected = buffer()
    collected.writer.zadd('z', 'GT', -0, 'm')
    expect(Object.is((collected.writes[0] as { readonly score: number }).score, 0)).toBe(true)
  })

  it('[CKP-15] the size covers every text of every write', () => {
    for (const write of valid) {
      const collected = buffer()
      write(collected.writer)
      const texts = Object.values(collected.writes[0]!).map(String).join('')
      expect(collected.byteCount).toBeGreaterThanOrEqual(new TextEncoder().encode(texts).byteLength)
    }
    const wide = buffer()
    wide.writer.hset('ключ', '💧', '€'.repeat(100))
    expect(wide.byteCount).toBeGreaterThanOrEqual(8 + 4 + 300)
  })

  it('[CKP-15] rewinds to a mark exactly, also twice', () => {
    const collected = buffer()
    collected.writer.sadd('s', 'a')
    const mark = collected.mark()
    for (let round = 0; round < 2; round += 1) {
      collected.writer.sadd('s', 'b')
      collected.writer.set('t', 'c')
      collected.rewind(mark)
      expect(collected.writes).toEqual([{ op: 'sadd', key: 's', member: 'a' }])
      expect(collected.mark()).toEqual(mark)
    }
  })

  it('[CKP-15] knows which writes commute', () => {
    const collected = buffer()
    for (const write of valid) write(collected.writer)
    const commuting = collected.writes.filter((write: ProjectionWrite) => commutes(write))
    expect(commuting.map((write) => ('mode' in write ? `${write.op} ${write.mode}` : write.op))).toEqual([
      'zadd GT',
      'zadd LT',
      'sadd',
      'setIfGreater',
    ])
  })
})
