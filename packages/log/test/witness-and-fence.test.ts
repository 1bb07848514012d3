import { offsetOf } from '@tidemark/core'
import {
  boundsFault,
  decodeFence,
  decodeWitness,
  encodeFence,
  encodeWitness,
  judgeFence,
  judgeWitness,
  witnessOf,
} from '@tidemark/log'
import type { LogRecord, PartitionBounds, ReadBack } from '@tidemark/log'
import { describe, expect, it } from 'vitest'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function record(changed: Partial<LogRecord> = {}): LogRecord {
  const headers = [{ name: 'h', value: bytes('1') }]
  const plain = { partition: 0, leaderEpoch: 2, timestampMs: 7, key: bytes('k'), value: bytes('v'), headers }
  return { ...plain, offset: offsetOf(5), ...changed }
}

const bounds = (low: number, highWatermark: number): PartitionBounds => ({
  partition: 0,
  low: offsetOf(low),
  lastStableOffset: offsetOf(highWatermark),
  highWatermark: offsetOf(highWatermark),
})

describe('the tail witness', () => {
  it('[LOG-8] sees every part of a record, null apart from empty, and not the leader epoch', () => {
    const variants = [
      record(),
      record({ offset: offsetOf(6) }),
      record({ timestampMs: 8 }),
      record({ key: null }),
      record({ key: bytes('') }),
      record({ value: null }),
      record({ value: bytes('') }),
      record({ headers: [] }),
      record({ headers: [{ name: 'h', value: null }] }),
      record({ headers: [{ name: 'h', value: bytes('') }] }),
      record({ headers: [{ name: 'h1', value: bytes('') }] }),
      record({ headers: [...record().headers, ...record().headers] }),
      record({ key: bytes('kv'), value: bytes('') }),
    ]
    expect(new Set(variants.map((each) => witnessOf(each).digest)).size).toBe(variants.length)
    // The same record read from a later leader is the same record.
    expect(witnessOf(record({ leaderEpoch: 9 })).digest).toBe(witnessOf(record()).digest)
  })

  it('[LOG-8] is read back from exactly the text it was written as', () => {
    const witness = witnessOf(record())
    const text = encodeWitness(witness)
    expect(text).toBe(`{"digest":"${witness.digest}","epoch":2,"offset":"5","v":1}`)
    expect(decodeWitness(text)).toEqual(witness)
    expect(decodeWitness(encodeWitness({ ...witness, leaderEpoch: -1 }))?.leaderEpoch).toBe(-1)
    const damaged = [
      '',
      '{}',
      text.slice(0, -1),
      `${text} `,
      text.replace('"v":1', '"v":2'),
      text.replace('"5"', '5'),
      text.replace('"5"', '"05"'),
      text.replace('"5"', '"-1"'),
      text.replace('"5"', '"9223372036854775808"'),
      text.replace(witness.digest, witness.digest.toUpperCase()),
      text.replace(witness.digest, witness.digest.slice(1)),
      text.replace('"epoch":2', '"epoch":02'),
    ]
    for (const each of damaged.filter((candidate) => candidate !== text)) expect(decodeWitness(each)).toBeUndefined()
  })

  const witness = witnessOf(record())
  const same: ReadBack = { kind: 'record', partition: 0, offset: offsetOf(5), witness: witnessOf(record()) }
  const absent: ReadBack = { kind: 'absent', partition: 0, offset: offsetOf(5) }
  const other: ReadBack = { ...same, witness: witnessOf(record({ value: bytes('w'), leaderEpoch: 3 })) }
  const unreadable: ReadBack = { kind: 'unreadable', partition: 0, offset: offsetOf(5), message: 'timed out' }

  it.each([
    ['read back the same', bounds(0, 9), false, same, 'confirmed'],
    ['read back otherwise', bounds(0, 9), false, other, 'diverged'],
    ['not there', bounds(0, 9), false, absent, 'diverged'],
    ['not there, on a compacted topic', bounds(0, 9), true, absent, 'not-retained'],
    ['read back otherwise, on a compacted topic', bounds(0, 9), true, other, 'diverged'],
    ['unreadable', bounds(0, 9), false, unreadable, 'unproven'],
    ['not read', bounds(0, 9), false, undefined, 'unproven'],
    ['just below low', bounds(6, 9), false, undefined, 'not-retained'],
    ['at low', bounds(5, 9), false, same, 'confirmed'],
    ['the last of the log', bounds(0, 6), false, same, 'confirmed'],
    ['beyond the end', bounds(0, 5), false, undefined, 'diverged'],
  ] as const)('[LOG-9] [A12] a witness that is %s', (_, within, compacted, answer, kind) => {
    expect(judgeWitness(witness, within, compacted, answer).kind).toBe(kind)
  })

  it('[LOG-9] what is damaged is unproven and told from what may still be answered', () => {
    expect(judgeWitness(witness, bounds(0, 9), false, unreadable)).not.toHaveProperty('reason')
    const damaged: ReadBack = { ...unreadable, reason: 'damaged' }
    expect(judgeWitness(witness, bounds(0, 9), false, damaged)).toMatchObject({ kind: 'unproven', reason: 'damaged' })
  })

  it('[LOG-9] an answer about another offset is no answer', () => {
    const elsewhere: ReadBack = { kind: 'absent', partition: 0, offset: offsetOf(4) }
    expect(judgeWitness(witness, bounds(0, 9), false, elsewhere).kind).toBe('unproven')
  })
})

describe('the fence', () => {
  const held = { epoch: 3n, nonce: 'ab'.repeat(16) }

  it('[LOG-10] [A8] is held only under its own nonce', () => {
    expect(judgeFence(held, encodeFence(held))).toEqual({ kind: 'held' })
    expect(judgeFence(held, encodeFence({ ...held, epoch: 4n }))).toEqual({ kind: 'held' })
    const twice = { epoch: 3n, nonce: 'cd'.repeat(16) }
    expect(judgeFence(held, encodeFence(twice))).toEqual({ kind: 'taken', by: twice })
    expect(judgeFence(held, undefined)).toEqual({ kind: 'missing' })
  })

  it.each([
    '',
    'x',
    '3',
    `3:${'ab'.repeat(15)}`,
    `0:${'ab'.repeat(16)}`,
    `03:${'ab'.repeat(16)}`,
    `3:${'AB'.repeat(16)}`,
    `3:${'ab'.repeat(16)}\n`,
    `-3:${'ab'.repeat(16)}`,
  ])('[LOG-10] the text %j is no fence', (text) => {
    expect(decodeFence(text)).toBeUndefined()
    expect(judgeFence(held, text)).toEqual({ kind: 'unreadable', text })
  })

  it('[LOG-10] a damaged text of any length is shown in part', () => {
    expect(judgeFence(held, 'z'.repeat(10_000))).toEqual({ kind: 'unreadable', text: 'z'.repeat(64) })
  })
})

describe('bounds', () => {
  const of = (partition: number, low: number, lso: number, hw: number): PartitionBounds => ({
    partition,
    low: offsetOf(low),
    lastStableOffset: offsetOf(lso),
    highWatermark: offsetOf(hw),
  })

  it('[LOG-11] are usable when every partition is reported once and in order', () => {
    expect(boundsFault([of(1, 0, 5, 9), of(0, 3, 3, 3)], 2)).toBeUndefined()
  })

  it.each([
    ['a missing partition', [of(0, 0, 0, 0)], /partition 1 was not reported/],
    ['a partition twice', [of(0, 0, 0, 0), of(0, 0, 0, 0)], /twice/],
    ['a partition too many', [of(0, 0, 0, 0), of(1, 0, 0, 0), of(2, 0, 0, 0)], /beyond 1/],
    ['low above the stable end', [of(0, 2, 1, 3), of(1, 0, 0, 0)], /partition 0 reports low 2/],
    ['the stable end above the high watermark', [of(0, 0, 4, 3), of(1, 0, 0, 0)], /last stable 4, high watermark 3/],
    ['nothing', [], /partition 0 was not reported/],
  ] as const)('[LOG-11] [CK-54] %s makes them unusable', (_, reading, fault) => {
    expect(boundsFault(reading, 2)).toMatch(fault)
  })
})
