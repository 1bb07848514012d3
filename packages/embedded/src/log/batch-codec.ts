import type { Offset } from '@tidemark/core'
import type { LogRecord, RecordHeader } from '@tidemark/log'

/** The transaction a batch belongs to; the zero id stands for none. */
export type TransactionId = bigint
export const NO_TRANSACTION: TransactionId = 0n

/**
 * One frame of a segment: a batch of records, a control record, or offsets that hold nothing.
 *
 * Shape: kind 1, base offset 8, leader epoch 4, transaction 8, offset count 4, then the records of a batch.
 */
export type LogEntry =
  | (EntryHead & { readonly kind: 'batch'; readonly records: readonly LogRecord[] })
  | (EntryHead & { readonly kind: 'commit' | 'abort' })
  | (EntryHead & { readonly kind: 'gap' })

/** What every entry says of itself. */
export interface EntryHead {
  readonly baseOffset: Offset
  readonly leaderEpoch: number
  readonly transactionId: TransactionId
  /** How many offsets it takes; the next entry begins right after. */
  readonly offsetCount: number
}

/** A record before it has an offset. */
export interface PlainRecord {
  readonly timestampMs: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly RecordHeader[]
}

const headBytes = 25
const kinds = ['batch', 'commit', 'abort', 'gap'] as const

/** The payload of an entry that holds no records. */
export function encodeMarker(kind: 'commit' | 'abort' | 'gap', head: EntryHead): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes)
  writeHead(bytes, kind, head)
  return bytes
}

/** The payload of a batch. Cost: one pass to measure, one to copy. */
export function encodeBatch(head: EntryHead, records: readonly PlainRecord[]): Buffer {
  let size = headBytes
  for (const record of records) size += recordBytes(record)
  const bytes = Buffer.allocUnsafe(size)
  writeHead(bytes, 'batch', head)
  let at = headBytes
  for (const record of records) at = writeRecord(bytes, at, record)
  return bytes
}

/** How many bytes a record takes in a batch. */
export function recordBytes(record: PlainRecord): number {
  let size = 8 + 4 + (record.key?.byteLength ?? 0) + 4 + (record.value?.byteLength ?? 0) + 4
  for (const { name, value } of record.headers) size += 8 + Buffer.byteLength(name) + (value?.byteLength ?? 0)
  return size
}

/** The head of an entry without its records, or `undefined` when the payload is none. */
export function decodeHead(payload: Buffer): (EntryHead & { readonly kind: LogEntry['kind'] }) | undefined {
  const kind = payload.length < headBytes ? undefined : kinds[payload.readUInt8(0)]
  if (kind === undefined) return undefined
  return {
    kind,
    baseOffset: payload.readBigUInt64BE(1) as Offset,
    leaderEpoch: payload.readInt32BE(9),
    transactionId: payload.readBigUInt64BE(13),
    offsetCount: payload.readUInt32BE(21),
  }
}

/** The records of a batch; `undefined` when the payload does not hold exactly as many as it says. */
export function decodeRecords(payload: Buffer, head: EntryHead, partition: number): readonly LogRecord[] | undefined {
  const records: LogRecord[] = []
  const cursor = { at: headBytes }
  try {
    for (let index = 0; index < head.offsetCount; index += 1) {
      const offset = (head.baseOffset + BigInt(index)) as Offset
      records.push({ partition, offset, leaderEpoch: head.leaderEpoch, ...readRecord(payload, cursor) })
    }
  } catch {
    return undefined
  }
  return cursor.at === payload.length ? records : undefined
}

function writeHead(bytes: Buffer, kind: (typeof kinds)[number], head: EntryHead): void {
  bytes.writeUInt8(kinds.indexOf(kind), 0)
  bytes.writeBigUInt64BE(head.baseOffset, 1)
  bytes.writeInt32BE(head.leaderEpoch, 9)
  bytes.writeBigUInt64BE(head.transactionId, 13)
  bytes.writeUInt32BE(head.offsetCount, 21)
}

function writeRecord(bytes: Buffer, start: number, record: PlainRecord): number {
  bytes.writeDoubleBE(record.timestampMs, start)
  let at = writeBytes(bytes, start + 8, record.key)
  at = writeBytes(bytes, at, record.value)
  at = bytes.writeUInt32BE(record.headers.length, at)
  for (const { name, value } of record.headers) {
    at = writeBytes(bytes, at, Buffer.from(name))
    at = writeBytes(bytes, at, value)
  }
  return at
}

function writeBytes(bytes: Buffer, at: number, part: Uint8Array | null): number {
  const next = bytes.writeInt32BE(part === null ? -1 : part.byteLength, at)
  if (part === null) return next
  bytes.set(part, next)
  return next + part.byteLength
}

interface ReadCursor {
  at: number
}

function readRecord(payload: Buffer, cursor: ReadCursor): PlainRecord {
  const timestampMs = payload.readDoubleBE(cursor.at)
  cursor.at += 8
  const key = readBytes(payload, cursor)
  const value = readBytes(payload, cursor)
  const headerCount = payload.readUInt32BE(cursor.at)
  cursor.at += 4
  const headers: RecordHeader[] = []
  for (let index = 0; index < headerCount; index += 1) {
    const name = readBytes(payload, cursor)
    headers.push({ name: Buffer.from(name ?? []).toString('utf8'), value: readBytes(payload, cursor) })
  }
  return { timestampMs, key, value, headers }
}

/** Copied, so that a record kept by its reader does not keep a whole chunk of the file in memory. */
function readBytes(payload: Buffer, cursor: ReadCursor): Uint8Array | null {
  const length = payload.readInt32BE(cursor.at)
  cursor.at += 4
  if (length === -1) return null
  const end = cursor.at + length
  if (length < 0 || end > payload.length) throw new RangeError('a part runs past the batch')
  const part = new Uint8Array(payload.subarray(cursor.at, end))
  cursor.at = end
  return part
}
