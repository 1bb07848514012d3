import type { Offset } from '@tidemark/core'
import type { LogRecord, RecordHeader } from '@tidemark/log'
import { UnreadableBatch } from './batch-compression.ts'
import type { Decompress } from './batch-compression.ts'
import { CHECKED_FROM, readBatchHeader } from './batch-header.ts'
import type { BatchHeader } from './batch-header.ts'
import type { AbortedTransaction } from './fetch-answer.ts'
import { WireCursor } from './wire-cursor.ts'

/** What reading batches needs from outside. */
export interface BatchCodecs {
  readonly decompress: Decompress
  readonly crc32c: (bytes: Buffer) => number
}

/** The batches that one answer brought of one partition. */
export interface RecordSetSource {
  readonly partition: number
  readonly bytes: Buffer
  /** The offset asked for; a batch may begin below it. */
  readonly from: bigint
  readonly aborted: readonly AbortedTransaction[]
}

/** The batch under way: its plain records and how far they are read. */
interface OpenBatch {
  readonly header: BatchHeader
  readonly cursor: WireCursor
  /** The base offset as an exact number, or `undefined` beyond 2^53. */
  readonly base: number | undefined
  readonly lastDelta: number
  remaining: number
  previousDelta: number
}

const CONTROL_ABORT = 0
const noHeaders: readonly RecordHeader[] = []
const noBytes = new Uint8Array(0)

/**
 * Reads the committed data records of an answer, some at a time: what is not wanted yet stays undecoded.
 *
 * Left out are records below the offset asked for, control records, and batches of transactions that the answer lists
 * as aborted: from the transaction's first offset to the marker of the same producer. Promises: KAF-21, KAF-22, KAF-23.
 */
export class RecordSet {
  readonly #source: RecordSetSource
  readonly #codecs: BatchCodecs
  /** Transactions that have not begun yet at the batch under way, latest first. */
  readonly #abortedAhead: AbortedTransaction[]
  readonly #abortedProducers = new Set<bigint>()
  #at = 0
  #open: OpenBatch | undefined
  #leaderEpoch = -1

  constructor(source: RecordSetSource, codecs: BatchCodecs) {
    this.#source = source
    this.#codecs = codecs
    this.#abortedAhead = [...source.aborted].sort((a, b) => (a.firstOffset < b.firstOffset ? 1 : -1))
  }

  /** The leader epoch of the batch read last, or -1. */
  get leaderEpoch(): number {
    return this.#leaderEpoch
  }

  /**
   * Appends at most `recordsMax` records to `into`; says whether more may follow.
   *
   * @throws {UnreadableBatch} for what cannot be read: damaged bytes, an unknown codec. Nothing is skipped for that.
   */
  take(into: LogRecord[], recordsMax: number): boolean {
    const until = into.length + recordsMax
    for (;;) {
      if (this.#open !== undefined) {
        this.#readRecords(this.#open, into, until)
        if (this.#open.remaining > 0) return true
        this.#open = undefined
      }
      if (into.length >= until && this.#at < this.#source.bytes.length) return true
      const header = readBatchHeader(this.#source.bytes, this.#at)
      if (header === undefined) return false
      this.#at = header.end
      this.#leaderEpoch = header.leaderEpoch
      this.#check(header)
      if (this.#isDelivered(header)) this.#open = this.#openBatch(header)
    }
  }

  #check(header: BatchHeader): void {
    const found = this.#codecs.crc32c(this.#source.bytes.subarray(header.start + CHECKED_FROM, header.end))
    if (found === header.checksum) return
    throw new UnreadableBatch(
      `the batch at ${header.baseOffset} is damaged: its checksum is ${header.checksum}, not ${found}`,
    )
  }

  #isDelivered(header: BatchHeader): boolean {
    const ahead = this.#abortedAhead
    for (let next = ahead.at(-1); next !== undefined && next.firstOffset <= header.lastOffset; next = ahead.at(-1)) {
      this.#abortedProducers.add(next.producerId)
      ahead.pop()
    }
    if (header.isControl) {
      if (this.#isAbortMarker(header)) this.#abortedProducers.delete(header.producerId)
      return false
    }
    if (header.isTransactional && this.#abortedProducers.has(header.producerId)) return false
    return header.recordCount > 0 && header.lastOffset >= this.#source.from
  }

  /** A control record's key is its version and its type. */
  #isAbortMarker(header: BatchHeader): boolean {
    if (header.recordCount === 0) return false
    const cursor = new WireCursor(this.#plain(header))
    return reading(header, () => {
      cursor.varint()
      cursor.int8()
      cursor.varint()
      cursor.varint()
      if (cursor.varint() < 4) return false
      cursor.int16()
      return cursor.int16() === CONTROL_ABORT
    })
  }

  #plain(header: BatchHeader): Buffer {
    const records = this.#source.bytes.subarray(header.recordsStart, header.end)
    try {
      return this.#codecs.decompress(header.codec, records)
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error
      throw new UnreadableBatch(`the batch at ${header.baseOffset} cannot be read: ${error.message}`, { cause: error })
    }
  }

  #openBatch(header: BatchHeader): OpenBatch {
    return {
      header,
      cursor: new WireCursor(this.#plain(header)),
      base: header.lastOffset <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(header.baseOffset) : undefined,
      lastDelta: Number(header.lastOffset - header.baseOffset),
      remaining: header.recordCount,
      previousDelta: -1,
    }
  }

  #readRecords(batch: OpenBatch, into: LogRecord[], until: number): void {
    const { from, partition } = this.#source
    reading(batch.header, () => {
      while (batch.remaining > 0 && into.length < until) {
        const record = readRecord(batch, partition, from)
        batch.remaining -= 1
        if (record !== undefined) into.push(record)
      }
      if (batch.remaining === 0 && batch.cursor.position !== batch.cursor.bytes.length) {
        throw new RangeError('bytes are left after its last record')
      }
    })
  }
}

/** Runs a read of a batch; what the wire reader finds wrong becomes a sentence about the batch. */
function reading<T>(header: BatchHeader, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableBatch || !(error instanceof RangeError)) throw error
    throw new UnreadableBatch(`the batch at ${header.baseOffset} is damaged: ${error.message}`, { cause: error })
  }
}

/** The next record, or `undefined` when it lies below the offset asked for. Cost: one object, views of the bytes. */
function readRecord(batch: OpenBatch, partition: number, from: bigint): LogRecord | undefined {
  const { cursor, header } = batch
  const length = cursor.varint()
  const end = cursor.position + length
  if (length < 0 || end > cursor.bytes.length) throw new RangeError(`a record of ${length} bytes`)
  cursor.int8()
  const timestampDelta = cursor.varint()
  const delta = cursor.varint()
  if (delta <= batch.previousDelta || delta > batch.lastDelta) {
    throw new RangeError(`a record at ${delta} after one at ${batch.previousDelta} of ${batch.lastDelta}`)
  }
  batch.previousDelta = delta
  const offset = batch.base === undefined ? header.baseOffset + BigInt(delta) : BigInt(batch.base + delta)
  if (offset < from) {
    cursor.position = end
    return undefined
  }
  const key = nullableBytes(cursor)
  const value = nullableBytes(cursor)
  const headers = headersOf(cursor)
  if (cursor.position !== end) throw new RangeError(`a record of ${length} bytes ends elsewhere`)
  return {
    partition,
    offset: offset as Offset,
    leaderEpoch: header.leaderEpoch,
    timestampMs: header.hasAppendTime ? header.maxTimestampMs : header.baseTimestampMs + timestampDelta,
    key,
    value,
    headers,
  }
}

function nullableBytes(cursor: WireCursor): Buffer | null {
  const length = cursor.varint()
  return length === -1 ? null : cursor.view(length)
}

function headersOf(cursor: WireCursor): readonly RecordHeader[] {
  const count = cursor.varint()
  if (count === 0) return noHeaders
  if (count < 0) throw new RangeError(`a record with ${count} headers`)
  const headers: RecordHeader[] = []
  for (let index = 0; index < count; index += 1) {
    const name = cursor.view(cursor.varint()).toString('utf8')
    // The official client delivers a header without a value as an empty one. A witness taken through one client must
    // be found again through the other, so both do.
    headers.push({ name, value: nullableBytes(cursor) ?? noBytes })
  }
  return headers
}
