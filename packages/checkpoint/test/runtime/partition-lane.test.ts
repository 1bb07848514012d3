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

  it('[CKP-50] where the data is ahead, items end there: no step mixes what it holds with what it lacks', () => {
    const bounds = { partition: 0, low: at(0), lastStableOffset: at(100), highWatermark: at(100) }
    const ahead = (data: number): PartitionLane => {
      const apart = { data: at(data), checkpoint: at(0) }
      return createPartitionLane({
        partition: 0,
        nextOffset: at(0),
        target: at(100),
        origin: 'checkpoint',
        bounds,
        apart,
      })
    }
    const subject = ahead(4)
    subject.enqueue(batch([0, 2, 5, 6], 8), 1)
    expect(offsets(subject, 1)).toEqual([[0, 2], 'end 4'])
    expect(subject.apart).toEqual({ data: 4n, checkpoint: 0n })
    subject.begin(at(4))
    subject.finish()
    expect([subject.apart, subject.next]).toEqual([undefined, 4n])
    expect(offsets(subject, 1)).toEqual([[5, 6], 'end 8'])
    // Nothing but a gap below the border; a border at the end of a record, at an end, and beyond both.
    const cases: readonly [number, readonly number[], number | undefined, readonly unknown[]][] = [
      [4, [5, 6], undefined, ['end 4']],
      [3, [1, 2], 3, [[1, 2]]],
      [9, [1, 2], 6, [[1, 2], 'end 6']],
      [4, [], 9, ['end 4']],
    ]
    for (const [data, records, end, expected] of cases) {
      const lane = ahead(data)
      lane.enqueue(batch(records, end), 1)
      expect(offsets(lane, 1)).toEqual(expected)
    }
  })

  it('[CKP-50] where the checkpoint is ahead, it stays there until the steps pass it', () => {
    const bounds = { partition: 0, low: at(0), lastStableOffset: at(100), highWatermark: at(100) }
    const apart = { data: at(2), checkpoint: at(5) }
    const subject = createPartitionLane({
      partition: 0,
      nextOffset: at(2),
      target: at(100),
      origin: 'checkpoint',
      bounds,
      apart,
    })
    for (const [to, expected] of [
      [4, { data: 4n, checkpoint: 5n }],
      [7, undefined],
    ] as const) {
      subject.begin(at(to))
      subject.finish()
      expect(subject.apart).toEqual(expected)
    }
    expect([subject.checkpointAt, subject.dataAt]).toEqual([7n, 7n])
    subject.begin(at(9))
    subject.dataMoved(at(9))
    subject.begin(subject.next)
    expect(subject.apart).toEqual({ data: 9n, checkpoint: 7n })
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
