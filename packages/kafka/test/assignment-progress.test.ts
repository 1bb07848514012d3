import { describe, expect, it } from 'vitest'
import type { Offset } from '@tidemark/core'
import { newAssignmentProgress } from '../src/reading/assignment-progress.ts'
import type { Accepted } from '../src/reading/assignment-progress.ts'
import type { ConfluentMessage } from '../src/reading/confluent-client.ts'
import { recordOf } from '../src/reading/record-conversion.ts'

const topic = 't'
const message = (offset: number, partition = 0): ConfluentMessage => ({
  topic,
  partition,
  offset,
  key: null,
  value: null,
})
const end = (offset: number, partition = 0) => ({ topic, partition, offset })
const started = (...offsets: number[]) =>
  newAssignmentProgress(
    topic,
    offsets.map((offset, partition) => ({ partition, nextOffset: BigInt(offset) as Offset })),
  )
const shape = (accepted: Accepted): unknown =>
  accepted.kind === 'failed'
    ? accepted.failure.message
    : accepted.batches.map(({ partition, records, endOffset }) => [
        partition,
        records.map((record) => Number(record.offset)),
        endOffset === undefined ? undefined : Number(endOffset),
      ])

describe('progress of an assignment', () => {
  it('[KAF-4] groups a pull by partition and keeps the order', () => {
    const progress = started(0, 5)
    const messages = [message(0), message(5, 1), message(1), message(9, 1), message(2)]
    expect(shape(progress.accept(messages, []))).toEqual([
      [0, [0, 1, 2], undefined],
      [1, [5, 9], undefined],
    ])
    expect([progress.expected(0), progress.expected(1), progress.expected(2)]).toEqual([3, 10, undefined])
  })

  it('[KAF-4] passes over gaps: control records, aborted records and compaction deliver nothing', () => {
    const progress = started(0)
    expect(shape(progress.accept([message(3), message(12)], [end(18)]))).toEqual([[0, [3, 12], 18]])
    expect(progress.expected(0)).toBe(18)
    expect(shape(progress.accept([message(18)], []))).toEqual([[0, [18], undefined]])
  })

  it('[KAF-4] [CK-38] a record below the expected one fails the pull, and nothing of it is handed over', () => {
    const progress = started(46_580)
    expect(shape(progress.accept([message(46_580), message(42_100)], []))).toContain('offsets went backwards')
    expect(shape(started(5).accept([message(5), message(5)], []))).toContain('5 arrived where 6 or later')
  })

  it('[KAF-4] [CK-15] offset 0 where 40 was expected is a failure, not a fresh start', () => {
    const accepted = started(40).accept([message(0)], [])
    expect(accepted).toMatchObject({ kind: 'failed', failure: { reason: 'other', partition: 0 } })
  })

  it('[KAF-4] one bad partition fails the whole pull', () => {
    const accepted = started(0, 7).accept([message(0), message(3, 1)], [])
    expect(accepted).toMatchObject({ kind: 'failed', failure: { partition: 1 } })
  })

  it('[KAF-4] refuses records and ends of what is not assigned, and offsets that are not exact', () => {
    expect(shape(started(0).accept([message(0, 3)], []))).toContain('not assigned')
    expect(shape(started(0).accept([{ ...message(0), topic: 'other' }], []))).toContain('not assigned')
    expect(shape(started(0).accept([], [end(1, 4)]))).toContain('not assigned')
    for (const offset of [2 ** 53, -1, 1.5, Number.NaN]) {
      expect(shape(started(0).accept([message(offset)], []))).toContain('not an exact offset')
      expect(shape(started(0).accept([], [end(offset)]))).toContain('not an exact offset')
    }
  })

  it('[KAF-5] an end moves the position by itself, and is told once per end', () => {
    const progress = started(4, 0)
    expect(shape(progress.accept([], [end(4), end(0, 1)]))).toEqual([
      [0, [], 4],
      [1, [], 0],
    ])
    expect(shape(progress.accept([], [end(7)]))).toEqual([[0, [], 7]])
    expect(shape(progress.accept([message(6)], []))).toContain('backwards')
  })

  it('[KAF-5] an end that later records of the same pull passed is not told', () => {
    const progress = started(0)
    expect(shape(progress.accept([message(0), message(1), message(2)], [end(2)]))).toEqual([[0, [0, 1, 2], undefined]])
    expect(shape(progress.accept([message(3)], [end(4)]))).toEqual([[0, [3], 4]])
  })

  it('[KAF-5] an end below the position held before the pull is a failure', () => {
    expect(shape(started(10).accept([], [end(4)]))).toContain('an end at 4 arrived where 10')
    expect(shape(started(10).accept([message(10)], [end(4)]))).toContain('an end at 4 arrived where 10')
  })

  it('[KAF-3] keeps absent parts absent and takes what the client says', () => {
    expect(recordOf(message(3))).toEqual({
      partition: 0,
      offset: 3n,
      leaderEpoch: -1,
      timestampMs: -1,
      key: null,
      value: null,
      headers: [],
    })
    const bytes = new Uint8Array([1, 2])
    const full = {
      ...message(3),
      key: bytes,
      value: new Uint8Array(),
      timestamp: 9,
      leaderEpoch: 4,
      headers: [{ a: bytes }],
    }
    expect(recordOf(full)).toMatchObject({ leaderEpoch: 4, timestampMs: 9, headers: [{ name: 'a', value: bytes }] })
    expect(recordOf(full).value).toBe(full.value)
  })
})
