import { createCancelSource, messageOf } from '@tidemark/core'
import type { CancelSource, Clock } from '@tidemark/core'
import type {
  ClientStatement,
  LogIdentity,
  LogReader,
  PartitionBatch,
  PollRequest,
  PollResult,
  ReadFailure,
} from '@tidemark/log'
import type { PartitionCursor } from './partition-cursor.ts'
import { readTopic } from '../log/topic-file.ts'

/** What a reader works on. */
export interface EmbeddedReaderOptions {
  readonly directory: string
  readonly clock: Clock
  readonly pollIntervalMs: number
  /** The topic as it was when the reader was opened; it reads no other. */
  readonly identity: LogIdentity
  readonly cursors: ReadonlyMap<number, PartitionCursor>
  readonly onClose: () => void
}

/**
 * A reader bound to one topic id: it fails where the topic is deleted, recreated or grown, and never reads another's records.
 *
 * Promises: EMB-12, EMB-13.
 */
export function createEmbeddedReader(options: EmbeddedReaderOptions): LogReader {
  return new EmbeddedReader(options)
}

class EmbeddedReader implements LogReader {
  readonly #options: EmbeddedReaderOptions
  readonly #paused = new Set<number>()
  readonly #closing: CancelSource = createCancelSource()
  #ended: ReadFailure | undefined
  #polling: Promise<unknown> = Promise.resolve()
  #firstTurn = 0

  constructor(options: EmbeddedReaderOptions) {
    this.#options = options
  }

  poll(request: PollRequest): Promise<PollResult> {
    const result = this.#poll(request).catch((error: unknown) =>
      this.#fail({ reason: 'connection', partition: undefined, message: messageOf(error) }),
    )
    this.#polling = result
    return result
  }

  pause(partitions: readonly number[]): void {
    for (const partition of partitions) this.#paused.add(partition)
  }

  resume(partitions: readonly number[]): void {
    for (const partition of partitions) this.#paused.delete(partition)
  }

  async describeTopic(): Promise<ClientStatement> {
    const { topicId, partitionCount } = this.#options.identity
    return { kind: 'described', topicId, partitionCount }
  }

  async close(): Promise<void> {
    this.#ended ??= { reason: 'closed', partition: undefined, message: 'the reader was closed' }
    this.#closing.cancel()
    await this.#polling
    for (const cursor of this.#options.cursors.values()) await cursor.close()
    this.#options.onClose()
  }

  async #poll({ recordsMax, waitMs }: PollRequest): Promise<PollResult> {
    const { clock, pollIntervalMs } = this.#options
    const deadline = clock.monotonicMs() + waitMs
    for (;;) {
      if (this.#ended !== undefined) return { kind: 'failed', failure: this.#ended }
      const changed = await this.#identityFailure()
      if (changed !== undefined) return this.#fail(changed)
      const read = await this.#readAll(recordsMax)
      if (read.kind === 'failed') return this.#fail(read.failure)
      const left = deadline - clock.monotonicMs()
      if (read.batches.length > 0 || left <= 0) return read
      await clock.sleep(Math.min(pollIntervalMs, left), this.#closing.signal)
    }
  }

  async #readAll(recordsMax: number): Promise<PollResult> {
    const { cursors, identity } = this.#options
    // The cursors read the files of this id, which are the files of no other topic.
    const servedTopicId = identity.topicId
    const batches: PartitionBatch[] = []
    let left = recordsMax
    const partitions = [...cursors.keys()]
    for (let turn = 0; turn < partitions.length && left > 0; turn += 1) {
      const partition = partitions[(this.#firstTurn + turn) % partitions.length]!
      if (this.#paused.has(partition)) continue
      const reading = await cursors.get(partition)!.read(left)
      if (reading.kind === 'failed') return reading
      const { records, endOffset } = reading
      left -= records.length
      if (endOffset !== undefined) batches.push({ partition, records, endOffset, servedTopicId })
      else if (records.length > 0) batches.push({ partition, records, servedTopicId })
    }
    // The next poll begins with another partition, so that one long log does not starve the others.
    this.#firstTurn = partitions.length === 0 ? 0 : (this.#firstTurn + 1) % partitions.length
    return { kind: 'fetched', batches }
  }

  async #identityFailure(): Promise<ReadFailure | undefined> {
    const { directory, identity } = this.#options
    const reading = await readTopic(directory, identity.topic)
    if (reading.kind === 'no-answer') {
      const isGone = reading.reason === 'unknown-topic' || reading.reason === 'unreachable'
      return { reason: isGone ? 'unknown-topic' : 'other', partition: undefined, message: reading.message }
    }
    const found = reading.topic.identity
    if (found.topicId === identity.topicId && found.clusterId === identity.clusterId) return undefined
    const message = `topic ${identity.topic} was recreated: its id was ${identity.topicId}, is ${found.topicId}`
    return { reason: 'unknown-topic', partition: undefined, message }
  }

  #fail(failure: ReadFailure): PollResult {
    this.#ended = failure
    return { kind: 'failed', failure }
  }
}
