import { systemClock } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import type { ClientStatement, PartitionBatch, PartitionPosition, PollRequest, PollResult } from '@tidemark/log'
import type { ReadFailure } from '@tidemark/log'
import type { BrokerConnections } from '../inspection/broker-connections.ts'
import type { ServedReader } from '../reading/served-reader.ts'
import { UnreadableBatch } from './batch-compression.ts'
import { startFetching } from './leader-fetching.ts'
import type { Fetching, FetchingParts } from './leader-fetching.ts'
import { PartitionCursor } from './partition-cursor.ts'
import type { BatchCodecs } from './record-set.ts'
import type { TopicLeaders } from './topic-leaders.ts'
import { newWakeSignal } from './wake-signal.ts'

/** What a reader is opened with, all of it checked. */
export interface PinnedReaderParts {
  readonly topic: string
  readonly topicId: TopicId
  readonly positions: readonly PartitionPosition[]
  /** Owned by the reader: closed with it. */
  readonly connections: BrokerConnections
  readonly leaders: TopicLeaders
  readonly codecs: BatchCodecs
  readonly limits: FetchingParts['limits']
  onClosed(): void
}

/** The most records one poll hands out, whatever the caller asks for: decoding them is one task of the event loop. */
const POLLED_RECORDS_MAX = 100_000

/**
 * Reads partitions of the topic with one id from explicit positions, until it is closed or fails once.
 *
 * Promises: KAF-20 to KAF-28.
 */
export function newPinnedReader(parts: PinnedReaderParts): ServedReader {
  return new PinnedReader(parts)
}

class PinnedReader implements ServedReader {
  readonly #parts: PinnedReaderParts
  readonly #cursors: ReadonlyMap<number, PartitionCursor>
  readonly #fetching: Fetching
  readonly #arrived = newWakeSignal()
  /** Handed out last, looked at last. */
  #turns: PartitionCursor[]
  #closing: Promise<void> | undefined
  #polling = false

  constructor(parts: PinnedReaderParts) {
    this.#parts = parts
    const { positions, limits } = parts
    this.#turns = positions.map(
      ({ partition, nextOffset }) => new PartitionCursor(partition, nextOffset, limits.partitionBytesMax),
    )
    this.#cursors = new Map(this.#turns.map((cursor) => [cursor.partition, cursor]))
    this.#fetching = startFetching({ ...parts, cursors: this.#turns, arrived: () => this.#arrived.ring() })
  }

  async poll({ recordsMax, waitMs }: PollRequest): Promise<PollResult> {
    if (this.#polling) return failed({ reason: 'other', partition: undefined, message: 'two polls at a time' })
    this.#polling = true
    try {
      const untilMs = systemClock.monotonicMs() + waitMs
      const wanted = Math.min(POLLED_RECORDS_MAX, Math.max(1, Math.floor(recordsMax)))
      for (;;) {
        if (this.#closing !== undefined) {
          return failed({ reason: 'closed', partition: undefined, message: 'the reader was closed' })
        }
        const batches = this.#fetching.failure === undefined ? this.#gather(wanted) : []
        if (this.#fetching.failure !== undefined) return failed(this.#fetching.failure)
        const remainingMs = untilMs - systemClock.monotonicMs()
        if (batches.length > 0 || remainingMs <= 0) return { kind: 'fetched', batches }
        await this.#arrived.wait(remainingMs)
      }
    } finally {
      this.#polling = false
    }
  }

  servedUntilMs(): number {
    return this.#fetching.servedUntilMs
  }

  /** Hands out what is there, each partition once, those first that waited longest. */
  #gather(recordsMax: number): readonly PartitionBatch[] {
    const batches: PartitionBatch[] = []
    const served = new Set<PartitionCursor>()
    let room = recordsMax
    for (const cursor of this.#turns) {
      if (room === 0) break
      if (!cursor.isReady) continue
      served.add(cursor)
      try {
        const batch = cursor.deliver(room)
        if (batch === undefined) continue
        room -= batch.records.length
        batches.push(batch)
      } catch (error) {
        if (!(error instanceof UnreadableBatch)) throw error
        const message = `${this.#parts.topic}[${cursor.partition}]: ${error.message}`
        this.#fetching.fail({ reason: 'other', partition: cursor.partition, message })
        return []
      }
    }
    if (served.size > 0) {
      this.#turns = [...this.#turns.filter((cursor) => !served.has(cursor)), ...served]
      this.#fetching.changed()
    }
    return batches
  }

  pause(partitions: readonly number[]): void {
    for (const partition of partitions) {
      const cursor = this.#cursors.get(partition)
      if (cursor === undefined || cursor.paused) continue
      cursor.paused = true
      cursor.pausedAtMs = systemClock.monotonicMs()
    }
  }

  resume(partitions: readonly number[]): void {
    for (const partition of partitions) {
      const cursor = this.#cursors.get(partition)
      if (cursor === undefined || !cursor.paused) continue
      cursor.paused = false
      // Nobody asked for it meanwhile, so how long it was in trouble before says nothing.
      cursor.troubleSinceMs = undefined
      if (cursor.isReady) this.#arrived.ring()
    }
    this.#fetching.changed()
  }

  async describeTopic(deadlineMs: number): Promise<ClientStatement> {
    const { topic, leaders } = this.#parts
    if (this.#closing !== undefined)
      return { kind: 'no-answer', reason: 'unreachable', message: 'the reader was closed' }
    const reading = await leaders.ask(topic, deadlineMs)
    switch (reading.kind) {
      case 'described':
        return { kind: 'described', topicId: reading.topicId, partitionCount: reading.partitionCount }
      case 'gone':
        return { kind: 'no-answer', reason: 'unknown-topic', message: reading.message }
      case 'unread':
        return { kind: 'no-answer', reason: reading.reason, message: reading.message }
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#release())
  }

  async #release(): Promise<void> {
    this.#arrived.ring()
    // Connections first: a fetch that waits at a broker ends with its connection.
    await this.#parts.connections.close()
    await this.#fetching.stop()
    this.#parts.onClosed()
  }
}

function failed(failure: ReadFailure): PollResult {
  return { kind: 'failed', failure }
}
