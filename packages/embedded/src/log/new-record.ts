import { isWellFormed } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { RecordHeader } from '@tidemark/log'
import { embeddedErrors } from '../errors.ts'
import { recordBytes } from './batch-codec.ts'
import type { PlainRecord } from './batch-codec.ts'

/** A record to be appended. */
export interface NewRecord {
  readonly partition: number
  readonly key?: Uint8Array | null
  readonly value?: Uint8Array | null
  readonly headers?: readonly RecordHeader[]
  /** Epoch milliseconds; the clock's, unless said. */
  readonly timestampMs?: number
}

/** Where a record stands. */
export interface AppendedRecord {
  readonly partition: number
  readonly offset: Offset
}

/** The largest batch of one partition and append, in its stored form. */
export const BATCH_BYTES_MAX: number = 16 * 1024 * 1024

/** Records of one append, by partition, with their places in the caller's order. */
export interface PartitionRecords {
  readonly partition: number
  readonly records: PlainRecord[]
  readonly indexes: number[]
}

/**
 * The records of an append, by partition.
 *
 * @throws {TidemarkError} TM_EMBEDDED_RECORD_INVALID naming the first record that cannot be stored.
 */
export function groupRecords(
  topic: string,
  partitionCount: number,
  records: readonly NewRecord[],
  nowMs: number,
): readonly PartitionRecords[] {
  const groups = new Map<number, PartitionRecords & { bytes: number }>()
  records.forEach((record, index) => {
    const plain = plainRecord(topic, partitionCount, record, index, nowMs)
    let group = groups.get(record.partition)
    if (group === undefined) {
      group = { partition: record.partition, records: [], indexes: [], bytes: 0 }
      groups.set(record.partition, group)
    }
    group.records.push(plain)
    group.indexes.push(index)
    group.bytes += recordBytes(plain)
    if (group.bytes > BATCH_BYTES_MAX) {
      throw invalid(topic, index, `with it the batch has ${group.bytes} bytes, more than ${BATCH_BYTES_MAX}`)
    }
  })
  return [...groups.values()]
}

function plainRecord(
  topic: string,
  partitionCount: number,
  record: NewRecord,
  index: number,
  nowMs: number,
): PlainRecord {
  const { partition, key = null, value = null, headers = [], timestampMs = nowMs } = record
  if (!Number.isSafeInteger(partition) || partition < 0 || partition >= partitionCount) {
    throw invalid(topic, index, `partition ${partition} is not one of ${partitionCount}`)
  }
  if (!Number.isSafeInteger(timestampMs))
    throw invalid(topic, index, `timestamp ${timestampMs} is not whole milliseconds`)
  for (const part of [key, value, ...headers.map((header) => header.value)]) {
    if (part !== null && !(part instanceof Uint8Array)) throw invalid(topic, index, 'a part is neither bytes nor null')
  }
  for (const { name } of headers)
    if (!isWellFormed(name)) throw invalid(topic, index, 'a header name is not well-formed')
  return { key, value, headers, timestampMs }
}

function invalid(topic: string, index: number, reason: string): Error {
  return embeddedErrors.create('TM_EMBEDDED_RECORD_INVALID', { topic, index, reason })
}
