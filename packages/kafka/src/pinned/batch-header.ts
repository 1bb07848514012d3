import { UnreadableBatch } from './batch-compression.ts'

/** The head of a record batch. Source: Kafka's message format 2, KIP-98. */
export interface BatchHeader {
  /** Where it begins in its bytes, where its records begin, and where the next batch begins. */
  readonly start: number
  readonly recordsStart: number
  readonly end: number
  readonly baseOffset: bigint
  readonly lastOffset: bigint
  readonly leaderEpoch: number
  readonly checksum: number
  readonly codec: number
  readonly isTransactional: boolean
  readonly isControl: boolean
  /** Whether all its records carry the broker's time of appending instead of their own. */
  readonly hasAppendTime: boolean
  readonly baseTimestampMs: number
  readonly maxTimestampMs: number
  readonly producerId: bigint
  readonly recordCount: number
}

/** Where the batch's length ends; a batch shorter than this has not even said how long it is. */
const LENGTH_END = 12
const HEADER_BYTES = 61
/** What the checksum covers begins here. */
export const CHECKED_FROM = 21
const FORMAT = 2

const attribute = { codec: 0x07, appendTime: 0x08, transactional: 0x10, control: 0x20 } as const

/**
 * The head of the batch at a position, or `undefined` when the bytes end inside the batch: a broker cuts the last one
 * off where the size that was asked for ends.
 *
 * @throws {UnreadableBatch} for a format that is not read here, and for numbers that cannot be true.
 */
export function readBatchHeader(bytes: Buffer, start: number): BatchHeader | undefined {
  if (bytes.length - start < LENGTH_END) return undefined
  const baseOffset = bytes.readBigInt64BE(start)
  const length = bytes.readInt32BE(start + 8)
  if (length < HEADER_BYTES - LENGTH_END)
    throw new UnreadableBatch(`the batch at ${baseOffset} is ${length} bytes long`)
  const end = start + LENGTH_END + length
  if (end > bytes.length) return undefined
  const format = bytes.readInt8(start + 16)
  if (format !== FORMAT) {
    throw new UnreadableBatch(`the batch at ${baseOffset} has message format ${format}; only format ${FORMAT} is read`)
  }
  const attributes = bytes.readInt16BE(start + CHECKED_FROM)
  const lastOffsetDelta = bytes.readInt32BE(start + 23)
  const recordCount = bytes.readInt32BE(start + 57)
  if (baseOffset < 0n || lastOffsetDelta < 0 || recordCount < 0) {
    throw new UnreadableBatch(
      `the batch at ${baseOffset} claims ${recordCount} records over ${lastOffsetDelta} offsets`,
    )
  }
  return {
    start,
    recordsStart: start + HEADER_BYTES,
    end,
    baseOffset,
    lastOffset: baseOffset + BigInt(lastOffsetDelta),
    leaderEpoch: bytes.readInt32BE(start + 12),
    checksum: bytes.readUInt32BE(start + 17),
    codec: attributes & attribute.codec,
    isTransactional: (attributes & attribute.transactional) !== 0,
    isControl: (attributes & attribute.control) !== 0,
    hasAppendTime: (attributes & attribute.appendTime) !== 0,
    baseTimestampMs: Number(bytes.readBigInt64BE(start + 27)),
    maxTimestampMs: Number(bytes.readBigInt64BE(start + 35)),
    producerId: bytes.readBigInt64BE(start + 43),
    recordCount,
  }
}

/** How far complete batches reach. */
export interface BatchSpan {
  /** The offset after the last complete batch, or where the read began when there is none. */
  readonly nextOffset: bigint
  /** The leader epoch of the last complete batch, or `undefined`. */
  readonly lastEpoch: number | undefined
  /** How many bytes complete batches take. */
  readonly bytes: number
}

/**
 * How far the complete batches of an answer reach, by their heads alone.
 *
 * @throws {UnreadableBatch} also when batches go backwards or leave the first one wholly below what was asked for.
 */
export function spanOfBatches(bytes: Buffer, from: bigint): BatchSpan {
  let nextOffset = from
  let lastEpoch: number | undefined
  let at = 0
  for (let header = readBatchHeader(bytes, at); header !== undefined; header = readBatchHeader(bytes, at)) {
    // The first batch may begin below the offset asked for, but must reach it; each later one follows.
    const floor = lastEpoch === undefined ? header.lastOffset : header.baseOffset
    if (floor < nextOffset) {
      throw new UnreadableBatch(
        `a batch of ${header.baseOffset} to ${header.lastOffset} came where ${nextOffset} was due`,
      )
    }
    nextOffset = header.lastOffset + 1n
    lastEpoch = header.leaderEpoch
    at = header.end
  }
  return { nextOffset, lastEpoch, bytes: at }
}
