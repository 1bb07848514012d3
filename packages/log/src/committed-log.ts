import type { CancelSignal, Offset, TopicId } from '@tidemark/core'
import type { ClientStatement } from './identity-survey.ts'
import type { LogIdentity } from './log-identity.ts'
import type { LogRecord } from './log-record.ts'
import type { TailWitness } from './tail-witness.ts'
import type { TopicInspector } from './topic-inspector.ts'

/** PORT: a log whose committed records can be read from explicit positions, and whose identity can be inspected. */
export interface CommittedLog {
  /** Who proves identity and bounds. Independent of any reader's connection state. */
  readonly inspector: TopicInspector
  /**
   * Opens a reader with a position for every partition named, in one assignment.
   *
   * Never falls back to earliest, latest or a stored group offset: a position outside the log is a read failure.
   * @throws {TidemarkError} when the log cannot be reached or refuses the caller.
   */
  openReader(request: ReaderRequest): Promise<LogReader>
  /**
   * Reads stretches of partitions back, for the tail witness. Answers once per stretch, in any order.
   *
   * Settles when the log kept silent for `deadlineMs`, at `totalMsMax` at the latest, and when it is cancelled; what is
   * not decided by then is `unreadable`. Promises: LOG-14.
   */
  readBack(request: ReadBackRequest): Promise<readonly ReadBack[]>
  /** Releases everything the log opened, readers included. */
  close(): Promise<void>
}

/** Where to start, per partition. */
export interface ReaderRequest {
  readonly topic: string
  readonly positions: readonly PartitionPosition[]
  readonly deadlineMs: number
  /** What the caller proved the log to be. A log that fetches by topic id fetches under this one or not at all. */
  readonly identity?: LogIdentity
  readonly signal?: CancelSignal
}

/** The next record to read of one partition. */
export interface PartitionPosition {
  readonly partition: number
  readonly nextOffset: Offset
}

/** A running read of assigned partitions. One caller polls at a time. */
export interface LogReader {
  /**
   * Fetches what is there, waiting up to `waitMs` when there is nothing.
   *
   * Order: per partition strictly rising offsets. Never rejects for a condition of the log: that is `failed`, and after
   * it the reader is finished. An empty `batches` is a normal answer.
   */
  poll(request: PollRequest): Promise<PollResult>
  /** Stops fetching of partitions whose queue is full; their position is kept. */
  pause(partitions: readonly number[]): void
  resume(partitions: readonly number[]): void
  /** What the client that fetches believes the topic is. */
  describeTopic(deadlineMs: number): Promise<ClientStatement>
  close(): Promise<void>
}

/** How much to fetch and how long to wait for it. */
export interface PollRequest {
  readonly recordsMax: number
  readonly waitMs: number
}

/** One answer of a reader. */
export type PollResult =
  | { readonly kind: 'fetched'; readonly batches: readonly PartitionBatch[] }
  | { readonly kind: 'failed'; readonly failure: ReadFailure }

/** What arrived of one partition in one poll. */
export interface PartitionBatch {
  readonly partition: number
  readonly records: readonly LogRecord[]
  /**
   * Set when the read reached the end after these records: the offset that the next record will have or exceed.
   * It passes over control records, aborted transactions and compacted gaps, which deliver nothing.
   */
  readonly endOffset?: Offset
  /**
   * The topic id under which the broker served this batch, as its answer says; absent where a log fetches by name.
   * The caller compares it with the identity it holds: the word of a reader alone proves nothing.
   */
  readonly servedTopicId?: TopicId
}

/** Why a reader stopped. Every one of them ends serving; none is retried in place. */
export interface ReadFailure {
  /** `out-of-range`: the position is below the low or above the high end, also after truncation (librdkafka reports both as one). */
  readonly reason: 'out-of-range' | 'unknown-topic' | 'authorization' | 'connection' | 'closed' | 'other'
  readonly partition: number | undefined
  /** The client's own words and code. */
  readonly message: string
}

/** What to read back: of each stretch, the first committed record in it. */
export interface ReadBackStretch {
  readonly partition: number
  readonly offset: Offset
  /** The first offset beyond the stretch; without it the stretch is the one offset. */
  readonly before?: Offset
}

/** Which stretches to read back. */
export interface ReadBackRequest {
  readonly topic: string
  readonly records: readonly ReadBackStretch[]
  /** How long the log may keep silent; by itself also how long the whole reading may take. Milliseconds. */
  readonly deadlineMs: number
  /**
   * The hard limit of the whole reading, however well it gets on. With it, `deadlineMs` bounds only the time in which
   * nothing comes: a long stretch of a slow log is read through. Milliseconds.
   */
  readonly totalMsMax?: number
  /** As in `ReaderRequest`. */
  readonly identity?: LogIdentity
  readonly signal?: CancelSignal
}

/**
 * What stands in a stretch: the witness of its first committed data record, nothing (a gap), or no answer. The stretch is named as it was
 * asked for. One that is not decided to its end, because a transaction is open in it or the log ends there, is
 * `unreadable`; `damaged` says that asking again will not help.
 */
export type ReadBack = ReadBackStretch &
  (
    | { readonly kind: 'record'; readonly witness: TailWitness }
    | { readonly kind: 'absent' }
    | { readonly kind: 'unreadable'; readonly message: string; readonly reason?: 'damaged' }
  )
