import { fetchV13, fetchV14, fetchV15, fetchV16, fetchV17, Reader } from '@platformatic/kafka'
import { topicIdOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import { decodeFetchAnswer } from '../../src/pinned/fetch-answer.ts'
import { encodeFetchRequest, FETCH_VERSIONS } from '../../src/pinned/fetch-request.ts'
import { batchBytes } from './batch-bytes.ts'

const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')
const clients = { 13: fetchV13, 14: fetchV14, 15: fetchV15, 16: fetchV16, 17: fetchV17 }

/** Bytes of an answer, with tagged fields where the protocol has them. */
function answerBytes(options: {
  diverging?: boolean
  records?: Buffer
  topicHex?: string
  partitions?: number
}): Buffer {
  const { records, partitions = 1 } = options
  const int = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    return bytes
  }
  const long = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(value)
    return bytes
  }
  const varint = (value: number): Buffer => {
    const bytes: number[] = []
    for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80)
    return Buffer.from([...bytes, value])
  }
  // Tag 0 is the diverging epoch, tag 1 the current leader; each ends with tags of its own.
  const tags = options.diverging
    ? Buffer.concat([
        Buffer.from([2, 0, 13]),
        int(7),
        long(12n),
        Buffer.from([0, 1, 9]),
        int(2),
        int(9),
        Buffer.from([0]),
      ])
    : Buffer.from([0])
  const partition = (index: number): Buffer =>
    Buffer.concat([
      int(index),
      Buffer.from([0, 0]),
      long(30n),
      long(20n),
      long(5n),
      Buffer.from([2]),
      long(77n),
      long(11n),
      Buffer.from([0]),
      int(-1),
      varint((records?.length ?? -1) + 1),
      records ?? Buffer.alloc(0),
      tags,
    ])
  return Buffer.concat([
    int(250),
    Buffer.from([0, 0]),
    int(0),
    Buffer.from([2]),
    Buffer.from(options.topicHex ?? topicId.replaceAll('-', ''), 'hex'),
    varint(partitions + 1),
    ...Array.from({ length: partitions }, (_, index) => partition(index)),
    Buffer.from([0, 0]),
  ])
}

describe('the fetch request', () => {
  it.each(FETCH_VERSIONS)('[KAF-24] is the one the client writes, in version %i', (version) => {
    const partitions = Array.from({ length: 200 }, (_, partition) => ({
      partition,
      currentLeaderEpoch: partition + 1,
      fetchOffset: BigInt(partition) * 1_000_000_007n,
      lastFetchedEpoch: partition % 5,
      partitionMaxBytes: 1_048_576 + partition,
    }))
    const expected = clients[version].createRequest(500, 1, 8_388_608, 1, 0, -1, [{ topicId, partitions }], [], '')
    const request = {
      topicId,
      maxWaitMs: 500,
      minBytes: 1,
      bytesMax: 8_388_608,
      partitions: partitions.map((each) => ({
        partition: each.partition,
        leaderEpoch: each.currentLeaderEpoch,
        fetchOffset: each.fetchOffset,
        lastFetchedEpoch: each.lastFetchedEpoch,
        bytesMax: each.partitionMaxBytes,
      })),
    }
    expect(encodeFetchRequest(version, request).equals(expected.buffer)).toBe(true)
  })
})

describe('the fetch answer', () => {
  it('[KAF-21] says what the client reads in it', () => {
    const records = batchBytes({ base: 5n, records: [{ delta: 0, value: Buffer.from('a') }] })
    const bytes = answerBytes({ records, partitions: 3 })
    const expected = fetchV17.parseResponse(1, 1, 17, Reader.from(bytes))
    const answer = decodeFetchAnswer(bytes)
    expect(answer.throttleMs).toBe(expected.throttleTimeMs)
    const theirs = expected.responses[0]!.partitions
    for (const [index, partition] of answer.partitions.entries()) {
      const { partitionIndex, errorCode, highWatermark, lastStableOffset, logStartOffset, abortedTransactions } =
        theirs[index]!
      expect(partition).toMatchObject({ partition: partitionIndex, errorCode, highWatermark, lastStableOffset })
      expect(partition).toMatchObject({ logStartOffset, aborted: abortedTransactions, topicId, diverging: undefined })
      expect(partition.records?.equals(records)).toBe(true)
    }
  })

  it('[KAF-25] tells a diverging epoch, and reads on behind tagged fields it does not know', () => {
    const answer = decodeFetchAnswer(answerBytes({ diverging: true, partitions: 2 }))
    expect(answer.partitions.map(({ diverging }) => diverging)).toEqual([
      { epoch: 7, endOffset: 12n },
      { epoch: 7, endOffset: 12n },
    ])
    expect(answer.partitions.map(({ partition }) => partition)).toEqual([0, 1])
  })

  it('[KAF-24] under the zero id carries no id', () => {
    const [partition] = decodeFetchAnswer(answerBytes({ topicHex: '0'.repeat(32) })).partitions
    expect(partition?.topicId).toBeUndefined()
  })

  it('[KAF-23] that ends too early is an error at every length, never a part of an answer', () => {
    const bytes = answerBytes({ diverging: true, records: batchBytes({ base: 0n, records: [{ delta: 0 }] }) })
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => decodeFetchAnswer(bytes.subarray(0, length))).toThrow(RangeError)
    }
    expect(decodeFetchAnswer(bytes).partitions).toHaveLength(1)
  })
})
