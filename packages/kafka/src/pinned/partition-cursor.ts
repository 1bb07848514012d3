import type { Offset, TopicId } from '@tidemark/core'
import type { LogRecord, PartitionBatch } from '@tidemark/log'
import { spanOfBatches } from './batch-header.ts'
import type { PartitionAnswer } from './fetch-answer.ts'
import { RecordSet } from './record-set.ts'
import type { BatchCodecs } from './record-set.ts'

/** What one answer brought and nobody has taken yet. */
interface Chunk {
  readonly records: RecordSet
  readonly bytes: number
  readonly topicId: TopicId
  /** The offset after it, over control records, aborted transactions and compacted gaps. */
  readonly nextOffset: bigint
  /** Set when the read-committed end was reached with it. */
  end: bigint | undefined
}

/**
 * Where one partition stands: what is fetched next, what is handed out next, and what lies between.
 *
 * Both positions move only over batches that a leader delivered under the held topic id. No error, no leader and no
 * answer without batches moves them. Promises: KAF-20, KAF-27.
 */
export class PartitionCursor {
  readonly partition: number
  leaderId = -1
  leaderEpoch = -1
  /** Set while a request that names the partition is under way; an answer to any other request is not for it. */
  request: object | undefined
  paused = false
  pausedAtMs = 0
  /** When it may be asked for again after trouble. */
  notBeforeMs = 0
  troubleSinceMs: number | undefined
  unknownIdSinceMs: number | undefined
  attempts = 0
  fetchOffset: bigint
  lastFetchedEpoch = -1
  bytesMax: number
  bufferedBytes = 0
  #deliveredOffset: bigint
  #deliveredEpoch = -1
  #chunks: Chunk[] = []
  /** An end that was reached without anything new. */
  #idleEnd: { readonly offset: bigint; readonly topicId: TopicId } | undefined
  #toldEnd: bigint | undefined

  constructor(partition: number, nextOffset: bigint, bytesMax: number) {
    this.partition = partition
    this.fetchOffset = nextOffset
    this.#deliveredOffset = nextOffset
    this.bytesMax = bytesMax
  }

  /** Whether a poll would get something of it. */
  get isReady(): boolean {
    return !this.paused && (this.#chunks.length > 0 || this.#idleEnd !== undefined)
  }

  /**
   * Takes a good answer to the request under way; says whether it brought batches.
   *
   * @throws {UnreadableBatch} when its batches are not a continuation.
   */
  accept(answer: PartitionAnswer, topicId: TopicId, codecs: BatchCodecs): boolean {
    const { records, lastStableOffset, highWatermark } = answer
    let brought = false
    if (records !== undefined) {
      const span = spanOfBatches(records, this.fetchOffset)
      brought = span.bytes > 0
      // A broker answers with at least one whole batch; one that does not is asked for more.
      if (!brought) this.bytesMax = Math.min(this.bytesMax * 2, 2 ** 30)
      else this.#append(answer, records.subarray(0, span.bytes), span.nextOffset, span.lastEpoch!, topicId, codecs)
    }
    // Above the high watermark nothing is known of an end: a new leader may not have caught up with its own log.
    if (this.fetchOffset >= lastStableOffset && this.fetchOffset <= highWatermark) this.#reachedEnd(topicId)
    return brought
  }

  #append(
    answer: PartitionAnswer,
    bytes: Buffer,
    nextOffset: bigint,
    lastEpoch: number,
    topicId: TopicId,
    codecs: BatchCodecs,
  ): void {
    const { partition, aborted } = answer
    const records = new RecordSet({ partition, bytes, from: this.fetchOffset, aborted }, codecs)
    this.#chunks.push({ records, bytes: bytes.length, topicId, nextOffset, end: undefined })
    this.bufferedBytes += bytes.length
    this.fetchOffset = nextOffset
    this.lastFetchedEpoch = lastEpoch
    this.#idleEnd = undefined
  }

  #reachedEnd(topicId: TopicId): void {
    const last = this.#chunks.at(-1)
    if (last !== undefined) last.end = this.fetchOffset
    else if (this.#toldEnd !== this.fetchOffset) this.#idleEnd = { offset: this.fetchOffset, topicId }
  }

  /**
   * Hands out at most `recordsMax` records and the end when it comes after them; nothing when nothing is there to tell.
   *
   * @throws {UnreadableBatch}
   */
  deliver(recordsMax: number): PartitionBatch | undefined {
    const idle = this.#idleEnd
    if (idle !== undefined) {
      this.#idleEnd = undefined
      return this.#batchOf([], idle.topicId, idle.offset)
    }
    const records: LogRecord[] = []
    const topicId = this.#chunks[0]?.topicId
    let end: bigint | undefined
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      if (chunk.topicId !== topicId) break
      const taken = records.length
      const more = chunk.records.take(records, recordsMax - taken)
      // A chunk that nothing was read of yet knows no epoch, and what was handed out before it keeps its own.
      if (chunk.records.leaderEpoch >= 0) this.#deliveredEpoch = chunk.records.leaderEpoch
      end = undefined
      if (more) {
        const last = records.at(-1)
        if (last !== undefined && records.length > taken) this.#deliveredOffset = last.offset + 1n
        break
      }
      this.#chunks.shift()
      this.bufferedBytes -= chunk.bytes
      this.#deliveredOffset = chunk.nextOffset
      end = chunk.end
    }
    return topicId === undefined ? undefined : this.#batchOf(records, topicId, end)
  }

  #batchOf(records: readonly LogRecord[], topicId: TopicId, end: bigint | undefined): PartitionBatch | undefined {
    const batch = { partition: this.partition, records, servedTopicId: topicId }
    if (end !== undefined && end !== this.#toldEnd) {
      this.#toldEnd = end
      return { ...batch, endOffset: end as Offset }
    }
    return records.length === 0 ? undefined : batch
  }

  /** Gives up what is buffered: it will be fetched again from where it was handed out. */
  dropBuffer(): void {
    this.#chunks = []
    this.bufferedBytes = 0
    this.#idleEnd = undefined
    // What a request under way asked for is another position than the one from here on.
    this.request = undefined
    this.fetchOffset = this.#deliveredOffset
    this.lastFetchedEpoch = this.#deliveredEpoch
  }

  /** A good answer ends all trouble. */
  settled(): void {
    this.attempts = 0
    this.notBeforeMs = 0
    this.troubleSinceMs = undefined
    this.unknownIdSinceMs = undefined
  }
}
