import * as client from '@platformatic/kafka'
import { topicIdOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import { newDecompress } from '../../src/pinned/batch-compression.ts'
import { PartitionCursor } from '../../src/pinned/partition-cursor.ts'
import { batchBytes } from './batch-bytes.ts'

const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')
const codecs = { decompress: newDecompress(client), crc32c: client.crc32c }

/** A cursor that took one answer a batch; each batch spans ten offsets of which the first two hold records. */
function cursorOver(...epochs: readonly number[]): PartitionCursor {
  const cursor = new PartitionCursor(0, 0n, 1_000_000)
  epochs.forEach((epoch, index) => {
    const records = batchBytes({
      base: BigInt(index) * 10n,
      epoch,
      lastDelta: 9,
      records: [{ delta: 0 }, { delta: 1 }],
    })
    const ends = { highWatermark: 100n, lastStableOffset: 100n, logStartOffset: 0n, diverging: undefined }
    cursor.accept({ topicId, partition: 0, errorCode: 0, ...ends, aborted: [], records }, topicId, codecs)
  })
  return cursor
}

/** What the next fetch asks once the buffer was given up. */
function restartOf(cursor: PartitionCursor): { offset: bigint; epoch: number } {
  cursor.dropBuffer()
  return { offset: cursor.fetchOffset, epoch: cursor.lastFetchedEpoch }
}

describe('where a partition stands after its buffer was given up', () => {
  it('[KAF-25] the epoch of what was handed out, although the next answer gave no record yet', () => {
    const cursor = cursorOver(3, 4)
    expect(cursor.deliver(2)?.records).toHaveLength(2)
    expect(restartOf(cursor)).toEqual({ offset: 10n, epoch: 3 })
  })

  it('[KAF-25] the epoch of the record handed out last', () => {
    const cursor = cursorOver(3, 4)
    expect(cursor.deliver(3)?.records).toHaveLength(3)
    expect(restartOf(cursor)).toEqual({ offset: 11n, epoch: 4 })
  })

  it('[KAF-25] no epoch where nothing was handed out', () => {
    expect(restartOf(cursorOver(3, 4))).toEqual({ offset: 0n, epoch: -1 })
  })
})
