import { readTopicId } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import { WireCursor } from './wire-cursor.ts'

/** What a leader answered to one fetch. Source: Fetch versions 13 to 17. */
export interface FetchAnswer {
  /** How long the broker asks to be left alone. Source: KIP-219. */
  readonly throttleMs: number
  readonly errorCode: number
  readonly partitions: readonly PartitionAnswer[]
}

/** What a leader answered about one partition. */
export interface PartitionAnswer {
  /** The id under which the broker served it; zero or damaged text is `undefined`. */
  readonly topicId: TopicId | undefined
  readonly partition: number
  readonly errorCode: number
  readonly highWatermark: bigint
  readonly lastStableOffset: bigint
  readonly logStartOffset: bigint
  /** Where the leader's log parts from what was read, when it does. Source: KIP-595, KIP-320. */
  readonly diverging: { readonly epoch: number; readonly endOffset: bigint } | undefined
  readonly aborted: readonly AbortedTransaction[]
  /** Record batches as they stand on disk; the last may be cut off. */
  readonly records: Buffer | undefined
}

/** A transaction that aborted within what an answer covers. */
export interface AbortedTransaction {
  readonly producerId: bigint
  readonly firstOffset: bigint
}

const DIVERGING_EPOCH_TAG = 0

/**
 * Reads a fetch answer. Records stay bytes.
 *
 * @throws {RangeError} when the bytes are not such an answer.
 */
export function decodeFetchAnswer(bytes: Buffer): FetchAnswer {
  const cursor = new WireCursor(bytes)
  const throttleMs = cursor.int32()
  const errorCode = cursor.int16()
  cursor.int32()
  const partitions: PartitionAnswer[] = []
  const topics = cursor.compactLength()
  for (let topic = 0; topic < topics; topic += 1) {
    const reading = readTopicId(hyphenated(cursor.view(16)))
    const topicId = reading.kind === 'topic-id' ? reading.topicId : undefined
    const count = cursor.compactLength()
    for (let index = 0; index < count; index += 1) partitions.push(partitionOf(cursor, topicId))
    cursor.taggedFields()
  }
  cursor.taggedFields()
  return { throttleMs, errorCode, partitions }
}

function hyphenated(id: Buffer): string {
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function partitionOf(cursor: WireCursor, topicId: TopicId | undefined): PartitionAnswer {
  const partition = cursor.int32()
  const errorCode = cursor.int16()
  const highWatermark = cursor.int64()
  const lastStableOffset = cursor.int64()
  const logStartOffset = cursor.int64()
  const aborted = abortedOf(cursor)
  // The preferred read replica: never asked for, see the request.
  cursor.int32()
  const length = cursor.compactLength()
  const records = length > 0 ? ownBytes(cursor.view(length), cursor.bytes.length) : undefined
  let diverging: PartitionAnswer['diverging']
  cursor.taggedFields((tag) => {
    if (tag === DIVERGING_EPOCH_TAG) diverging = { epoch: cursor.int32(), endOffset: cursor.int64() }
  })
  return {
    topicId,
    partition,
    errorCode,
    highWatermark,
    lastStableOffset,
    logStartOffset,
    diverging,
    aborted,
    records,
  }
}

function abortedOf(cursor: WireCursor): readonly AbortedTransaction[] {
  const count = cursor.compactLength()
  if (count <= 0) return noTransactions
  const aborted: AbortedTransaction[] = []
  for (let index = 0; index < count; index += 1) {
    aborted.push({ producerId: cursor.int64(), firstOffset: cursor.int64() })
    cursor.taggedFields()
  }
  return aborted
}

const noTransactions: readonly AbortedTransaction[] = []

/**
 * Records that are most of an answer stay a view; the others are copied out of it. A slow partition must not keep the
 * bytes of all its neighbours in memory.
 */
function ownBytes(view: Buffer, answerLength: number): Buffer {
  return view.length * 2 > answerLength ? view : Buffer.from(view)
}
