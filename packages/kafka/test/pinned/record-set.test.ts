import zlib from 'node:zlib'
import * as client from '@platformatic/kafka'
import type { LogRecord } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { newDecompress, UnreadableBatch } from '../../src/pinned/batch-compression.ts'
import { spanOfBatches } from '../../src/pinned/batch-header.ts'
import type { AbortedTransaction } from '../../src/pinned/fetch-answer.ts'
import { RecordSet } from '../../src/pinned/record-set.ts'
import { batchBytes, markerBytes } from './batch-bytes.ts'

const codecs = { decompress: newDecompress(client), crc32c: client.crc32c }
const text = (value: string): Buffer => Buffer.from(value)

function read(
  bytes: Buffer,
  {
    from = 0n,
    aborted = [],
    perTake = 1_000,
  }: { from?: bigint; aborted?: AbortedTransaction[]; perTake?: number } = {},
): readonly LogRecord[] {
  const set = new RecordSet({ partition: 2, bytes, from, aborted }, codecs)
  const records: LogRecord[] = []
  for (let rounds = 0; set.take(records, perTake); rounds += 1) if (rounds > 10_000) throw new Error('it never ends')
  return records
}

const offsets = (records: readonly LogRecord[]): readonly number[] => records.map(({ offset }) => Number(offset))
const numbered = (count: number, prefix = 'v') =>
  Array.from({ length: count }, (_, delta) => ({ delta, value: text(`${prefix}${delta}`) }))

describe('records of an answer', () => {
  it('[KAF-22] come back unchanged: null apart from empty, headers in order, times of the producer', () => {
    const big = Buffer.alloc(70_000, 7)
    const bytes = batchBytes({
      base: 5n,
      epoch: 9,
      records: [
        { delta: 0, key: null, value: null },
        { delta: 1, key: Buffer.alloc(0), value: Buffer.alloc(0), timestampDelta: -5 },
        {
          delta: 4,
          key: text('k'),
          value: big,
          timestampDelta: 3_000_000_000,
          headers: [
            ['a', text('1')],
            ['a', null],
          ],
        },
      ],
    })
    const records = read(bytes)
    expect(records.map(({ key, value }) => [key?.length ?? null, value?.length ?? null])).toEqual([
      [null, null],
      [0, 0],
      [1, 70_000],
    ])
    expect(Buffer.from(records[2]!.value!).equals(big)).toBe(true)
    expect(records[2]!.headers.map(({ name, value }) => [name, value === null ? null : [...value]])).toEqual([
      ['a', [49]],
      ['a', []],
    ])
    expect(records.map(({ offset, partition, leaderEpoch }) => [offset, partition, leaderEpoch])).toEqual([
      [5n, 2, 9],
      [6n, 2, 9],
      [9n, 2, 9],
    ])
    const at = 1_700_000_000_000
    expect(records.map(({ timestampMs }) => timestampMs)).toEqual([at, at - 5, at + 3_000_000_000])
  })

  it("[KAF-22] carry the broker's time where the broker appends its own", () => {
    const records = read(batchBytes({ base: 0n, records: numbered(2), appendTime: true, maxTimestamp: 42n }))
    expect(records.map(({ timestampMs }) => timestampMs)).toEqual([42, 42])
  })

  it('[KAF-20] have exact offsets beyond 2^53', () => {
    const base = 2n ** 60n
    expect(read(batchBytes({ base, records: numbered(3) }), { from: base + 1n }).map(({ offset }) => offset)).toEqual([
      base + 1n,
      base + 2n,
    ])
  })

  it.each([1, 2, 7, 1_000])('[KAF-21] come in order however few are taken at a time: %i', (perTake) => {
    const bytes = Buffer.concat([
      batchBytes({ base: 0n, records: numbered(5) }),
      batchBytes({ base: 5n, records: [], lastDelta: 3 }),
      batchBytes({ base: 9n, records: numbered(4), codec: 'gzip' }),
      batchBytes({ base: 20n, records: numbered(3), codec: 'lz4' }),
    ])
    expect(offsets(read(bytes, { perTake, from: 2n }))).toEqual([2, 3, 4, 9, 10, 11, 12, 20, 21, 22])
  })

  it('[KAF-21] of a batch that a broker cut off are left for the next answer', () => {
    const whole = batchBytes({ base: 0n, records: numbered(3) })
    const next = batchBytes({ base: 3n, records: numbered(3) })
    for (let length = 0; length < next.length; length += 1) {
      const bytes = Buffer.concat([whole, next.subarray(0, length)])
      expect(spanOfBatches(bytes, 0n)).toEqual({ nextOffset: 3n, lastEpoch: 3, bytes: whole.length })
      expect(offsets(read(bytes))).toEqual([0, 1, 2])
    }
  })
})

describe('transactions', () => {
  const data = (base: bigint, count: number, producerId: bigint, transactional = true) =>
    batchBytes({ base, records: numbered(count), producerId, transactional })

  it('[KAF-21] leave out what aborted between the first offset and the marker of the same producer, interleaved too', () => {
    const bytes = Buffer.concat([
      data(0n, 2, 1n),
      data(2n, 2, 2n),
      data(4n, 1, -1n, false),
      data(5n, 1, 1n),
      markerBytes(6n, 1n, 'abort'),
      data(7n, 1, 2n),
      markerBytes(8n, 2n, 'commit'),
      data(9n, 2, 1n),
      markerBytes(11n, 1n, 'commit'),
      data(12n, 1, 2n),
      markerBytes(13n, 2n, 'abort'),
      data(14n, 1, 2n),
    ])
    const aborted = [
      { producerId: 2n, firstOffset: 12n },
      { producerId: 1n, firstOffset: 0n },
    ]
    expect(offsets(read(bytes, { aborted }))).toEqual([2, 3, 4, 7, 9, 10, 14])
    expect(offsets(read(bytes, { aborted, perTake: 1 }))).toEqual([2, 3, 4, 7, 9, 10, 14])
  })

  it('[KAF-21] that began before the answer and abort in it are left out from its beginning', () => {
    const bytes = Buffer.concat([data(10n, 2, 4n), markerBytes(12n, 4n, 'abort'), data(13n, 1, 4n)])
    expect(offsets(read(bytes, { from: 10n, aborted: [{ producerId: 4n, firstOffset: 3n }] }))).toEqual([13])
  })

  it('[KAF-21] do not touch what a producer wrote outside a transaction', () => {
    const bytes = data(0n, 2, 4n, false)
    expect(offsets(read(bytes, { aborted: [{ producerId: 4n, firstOffset: 0n }] }))).toEqual([0, 1])
  })

  it('[KAF-21] control records of a kind that is not known are passed over', () => {
    const leaderChange = batchBytes({
      base: 0n,
      control: true,
      records: [{ delta: 0, key: Buffer.from([0, 0, 0, 2]), value: text('x') }],
    })
    expect(offsets(read(Buffer.concat([leaderChange, data(1n, 1, -1n, false)])))).toEqual([1])
  })
})

describe('compression', () => {
  const records = numbered(50, 'a longer value that compresses ')
  it.each(['none', 'gzip', 'snappy', 'lz4'] as const)('[KAF-22] %s is read', (codec) => {
    expect(offsets(read(batchBytes({ base: 3n, records, codec })))).toHaveLength(50)
  })

  it('[KAF-22] snappy in the blocks of the Java client is read', () => {
    const plain = batchBytes({ base: 0n, records }).subarray(61)
    const compressed = (part: Buffer): Buffer => {
      const block = Buffer.from(client.compressionsAlgorithms.snappy.compressSync(part))
      const length = Buffer.alloc(4)
      length.writeInt32BE(block.length)
      return Buffer.concat([length, block])
    }
    const magic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1])
    const payload = Buffer.concat([magic, compressed(plain.subarray(0, 100)), compressed(plain.subarray(100))])
    expect(offsets(read(batchBytes({ base: 0n, records, codec: 2, payload })))).toHaveLength(50)
    const cut = batchBytes({ base: 0n, records, codec: 2, payload: payload.subarray(0, payload.length - 3) })
    expect(() => read(cut)).toThrow(/damaged snappy/)
  })

  it('[KAF-23] zstd is read where Node.js has it and refused in words where it has not', () => {
    const plain = batchBytes({ base: 0n, records }).subarray(61)
    const bytes = batchBytes({ base: 0n, records, codec: 4, payload: text('zstd') })
    const taken = (zstd: Parameters<typeof newDecompress>[1]): LogRecord[] => {
      const into: LogRecord[] = []
      const reading = { ...codecs, decompress: newDecompress(client, zstd) }
      new RecordSet({ partition: 0, bytes, from: 0n, aborted: [] }, reading).take(into, 100)
      return into
    }
    expect(() => taken(null)).toThrow(/batch at 0 cannot be read: compressed with zstd.*22\.15/)
    expect(taken(() => plain)).toHaveLength(50)
  })

  it('[KAF-23] what Node.js itself has for zstd is what reads it', () => {
    const { zstdCompressSync } = zlib as { zstdCompressSync?: (data: Buffer) => Buffer }
    const plain = batchBytes({ base: 0n, records }).subarray(61)
    const payload = zstdCompressSync?.(plain) ?? text('zstd')
    const bytes = batchBytes({ base: 0n, records, codec: 4, payload })
    if (zstdCompressSync === undefined) expect(() => read(bytes)).toThrow(/compressed with zstd/)
    else expect(read(bytes)).toHaveLength(50)
  })

  it.each(['gzip', 'snappy', 'lz4'] as const)('[KAF-23] damaged %s is an error', (codec) => {
    const payload = Buffer.from(
      client.compressionsAlgorithms[codec].compressSync(batchBytes({ base: 0n, records }).subarray(61)),
    )
    payload.fill(0xff, 4, 24)
    expect(() => read(batchBytes({ base: 0n, records, codec, payload }))).toThrow(UnreadableBatch)
    // The decoder still works after it.
    expect(read(batchBytes({ base: 0n, records, codec }))).toHaveLength(50)
  })

  it('[KAF-23] a snappy block that claims to expand beyond all measure is refused before anything is allocated', () => {
    const payload = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3])
    expect(() => read(batchBytes({ base: 0n, records, codec: 2, payload }))).toThrow(/expands to 4294967295 bytes/)
  })

  it.each([5, 6, 7])('[KAF-23] codec %i is refused', (codec) => {
    expect(() => read(batchBytes({ base: 0n, records, codec }))).toThrow(`codec ${codec}, which is not known`)
  })
})

describe('what cannot be read', () => {
  const good = batchBytes({ base: 7n, records: numbered(3) })
  it('[KAF-23] every flipped byte of a batch is noticed', () => {
    // Base offset, length and leader epoch are outside the checksum; the offset is compared with what was asked for.
    for (let at = 16; at < good.length; at += 1) {
      const bytes = Buffer.from(good)
      bytes[at] = bytes[at]! ^ 0x11
      expect(() => read(bytes, { from: 7n }), `byte ${at}`).toThrow(UnreadableBatch)
    }
  })

  it('[KAF-23] another message format and impossible numbers are named', () => {
    const old = Buffer.from(good)
    old.writeInt8(1, 16)
    expect(() => read(old)).toThrow('message format 1')
    const short = Buffer.from(good)
    short.writeInt32BE(10, 8)
    expect(() => spanOfBatches(short, 0n)).toThrow('10 bytes long')
    expect(() => read(batchBytes({ base: 0n, records: numbered(2), lastDelta: -1 }))).toThrow('claims')
  })

  it('[KAF-23] batches that go backwards, overlap or end below the offset asked for are no continuation', () => {
    const later = batchBytes({ base: 9n, records: numbered(3) })
    expect(() => spanOfBatches(Buffer.concat([later, good]), 9n)).toThrow('came where 12 was due')
    expect(() => spanOfBatches(Buffer.concat([good, later]), 7n)).toThrow('came where 10 was due')
    expect(() => spanOfBatches(good, 20n)).toThrow('came where 20 was due')
    expect(spanOfBatches(good, 8n).nextOffset).toBe(10n)
  })

  it('[KAF-23] records that do not fit their batch are damage, with a checksum that matches', () => {
    const twice = batchBytes({ base: 0n, records: [{ delta: 1 }, { delta: 1 }], lastDelta: 3 })
    expect(() => read(twice)).toThrow('a record at 1 after one at 1')
    expect(() => read(batchBytes({ base: 0n, records: [{ delta: 9 }], lastDelta: 3 }))).toThrow('a record at 9')
    const trailing = Buffer.concat([batchBytes({ base: 0n, records: numbered(1) }).subarray(61), Buffer.from([1])])
    expect(() => read(batchBytes({ base: 0n, records: numbered(1), payload: trailing }))).toThrow('bytes are left')
    const missing = batchBytes({ base: 0n, records: numbered(1) }).subarray(61)
    expect(() => read(batchBytes({ base: 0n, records: numbered(2), payload: missing }))).toThrow('ends inside a number')
    const lengths = Buffer.from([0x7e, 0, 0, 0, 0x7f, 0x7f])
    expect(() => read(batchBytes({ base: 0n, records: numbered(1), payload: lengths }))).toThrow('a record of 63 bytes')
  })
})
