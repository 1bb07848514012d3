import { offsetOf } from '@tidemark/core'
import type { LogRecord, PartitionBatch } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createPartitionLane } from '../../src/runtime/run/partition-lane.ts'
import type { PartitionLane } from '../../src/runtime/run/partition-lane.ts'

const at = (value: number) => offsetOf(value)

function record(offset: number): LogRecord {
  const value = new TextEncoder().encode(`v${offset}`)
  return { partition: 0, offset: at(offset), leaderEpoch: 0, timestampMs: 0, key: null, value, headers: [] }
}

function batch(offsets: readonly number[], end?: number): PartitionBatch {
  return { partition: 0, records: offsets.map(record), ...(end === undefined ? {} : { endOffset: at(end) }) }
}

function lane(next: number = 0): PartitionLane {
  const bounds = { partition: 0, low: at(0), lastStableOffset: at(100), highWatermark: at(100) }
  return createPartitionLane({ partition: 0, nextOffset: at(next), target: at(100), origin: 'checkpoint', bounds })
}

const offsets = (from: PartitionLane, proven: number): readonly unknown[] =>
  [...from.provenItems(proven)].map((item) =>
    item.kind === 'end' ? `end ${item.endOffset}` : item.records.map((r) => Number(r.offset)),
  )

describe('a partition lane', () => {
  it('[CKP-32] hands out proven items only, oldest first, the end behind the records it followed', () => {
    const subject = lane()
    subject.enqueue(batch([0, 1], 4), 1)
    subject.enqueue(batch([4, 5]), 2)
    expect(offsets(subject, 0)).toEqual([])
    expect(offsets(subject, 1)).toEqual([[0, 1], 'end 4'])
    expect(offsets(subject, 2)).toEqual([[0, 1], 'end 4', [4, 5]])
  })

  it('[CKP-32] drops what a finished step covers, also in the middle of a fetch, and counts what waits', () => {
    const subject = lane()
    subject.enqueue(batch([0, 1, 2, 3], 6), 1)
    expect([subject.queuedRecords, subject.queuedBytes]).toEqual([4, 8])
    subject.begin(at(2))
    expect([subject.next, subject.inFlightTo]).toEqual([0n, 2n])
    subject.finish()
    expect(offsets(subject, 1)).toEqual([[2, 3], 'end 6'])
    expect([subject.queuedRecords, subject.queuedBytes, subject.next]).toEqual([2, 4, 2n])
    subject.begin(at(6))
    subject.finish()
    expect([subject.queuedRecords, subject.queuedBytes, subject.headFetch]).toEqual([0, 0, undefined])
  })

  it('takes gaps upwards and refuses anything downwards, naming both offsets', () => {
    const subject = lane(10)
    expect(subject.enqueue(batch([12, 20]), 1)).toBeUndefined()
    expect(subject.fetchPosition).toBe(21n)
    expect(subject.enqueue(batch([20]), 2)).toEqual({ partition: 0, expected: 21n, found: 20n })
    expect(subject.enqueue(batch([], 15), 2)).toEqual({ partition: 0, expected: 21n, found: 15n })
    expect(subject.enqueue(batch([25, 24]), 2)).toEqual({ partition: 0, expected: 26n, found: 24n })
    expect(subject.queuedRecords).toBe(2)
  })

  it('an end that is no news makes no item', () => {
    const subject = lane(5)
    expect(subject.enqueue(batch([], 5), 1)).toBeUndefined()
    expect(subject.headFetch).toBeUndefined()
  })

  it('[CKP-41] counts the bytes of headers, which can be all there is of a record', () => {
    const subject = lane()
    const headers = [
      { name: 'trace', value: new Uint8Array(1_000) },
      { name: 'none', value: null },
    ]
    subject.enqueue({ partition: 0, records: [{ ...record(0), value: null, headers }] }, 1)
    expect(subject.queuedBytes).toBe(1_009)
    subject.begin(at(1))
    subject.finish()
    expect(subject.queuedBytes).toBe(0)
  })

  it('an end moves the read position: what comes after it may not lie below it, not even by one', () => {
    const subject = lane()
    subject.enqueue(batch([0, 1], 6), 1)
    expect(subject.fetchPosition).toBe(6n)
    expect(subject.enqueue(batch([5]), 2)).toEqual({ partition: 0, expected: 6n, found: 5n })
    expect(subject.enqueue(batch([], 5), 2)).toEqual({ partition: 0, expected: 6n, found: 5n })
    expect(subject.enqueue(batch([6], 6), 2)).toEqual({ partition: 0, expected: 7n, found: 6n })
    expect([subject.fetchPosition, subject.queuedRecords]).toEqual([6n, 2])
  })
})
