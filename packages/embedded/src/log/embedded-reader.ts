import { createCancelSource } from '@tidemark/core'
import type { Clock } from '@tidemark/core'
import type { LogIdentity, LogReader, PartitionBatch, PollRequest, PollResult, ReadFailure } from '@tidemark/log'
import type { PartitionCursor } from './partition-cursor.ts'
import { readTopic } from './topic-file.ts'

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
  const { directory, clock, pollIntervalMs, identity, cursors } = options
  const paused = new Set<number>()
  const closing = createCancelSource()
  let ended: ReadFailure | undefined
  let polling: Promise<unknown> = Promise.resolve()
  let first = 0

  const fail = (failure: ReadFailure): PollResult => {
    ended = failure
    return { kind: 'failed', failure }
  }
  const identityFailure = async (): Promise<ReadFailure | undefined> => {
    const reading = await readTopic(directory, identity.topic)
    if (reading.kind === 'no-answer') {
      const reason = reading.reason === 'unknown-topic' || reading.reason === 'unreachable' ? 'unknown-topic' : 'other'
      return { reason, partition: undefined, message: reading.message }
    }
    const found = reading.topic.identity
    if (found.topicId === identity.topicId && found.clusterId === identity.clusterId) return undefined
    const message = `topic ${identity.topic} was recreated: its id was ${identity.topicId}, is ${found.topicId}`
    return { reason: 'unknown-topic', partition: undefined, message }
  }
  const readAll = async (recordsMax: number): Promise<PartitionBatch[] | ReadFailure> => {
    const batches: PartitionBatch[] = []
    let left = recordsMax
    const partitions = [...cursors.keys()]
    for (let turn = 0; turn < partitions.length && left > 0; turn += 1) {
      const partition = partitions[(first + turn) % partitions.length]!
      if (paused.has(partition)) continue
      const reading = await cursors.get(partition)!.read(left)
      if (reading.kind === 'failed') return reading.failure
      const { records, endOffset } = reading
      left -= records.length
      if (endOffset !== undefined) batches.push({ partition, records, endOffset })
      else if (records.length > 0) batches.push({ partition, records })
    }
    // The next poll begins with another partition, so that one long log does not starve the others.
    first = partitions.length === 0 ? 0 : (first + 1) % partitions.length
    return batches
  }
  const poll = async ({ recordsMax, waitMs }: PollRequest): Promise<PollResult> => {
    const deadline = clock.monotonicMs() + waitMs
    for (;;) {
      if (ended !== undefined) return { kind: 'failed', failure: ended }
      const changed = await identityFailure()
      if (changed !== undefined) return fail(changed)
      const batches = await readAll(recordsMax)
      if (!Array.isArray(batches)) return fail(batches)
      const left = deadline - clock.monotonicMs()
      if (batches.length > 0 || left <= 0) return { kind: 'fetched', batches }
      await clock.sleep(Math.min(pollIntervalMs, left), closing.signal)
    }
  }
  return {
    poll(request) {
      const result = poll(request).catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        return fail({ reason: 'connection', partition: undefined, message })
      })
      polling = result
      return result
    },
    pause: (partitions) => partitions.forEach((partition) => paused.add(partition)),
    resume: (partitions) => partitions.forEach((partition) => paused.delete(partition)),
    async describeTopic() {
      return { kind: 'described', topicId: identity.topicId, partitionCount: identity.partitionCount }
    },
    async close() {
      ended ??= { reason: 'closed', partition: undefined, message: 'the reader was closed' }
      closing.cancel()
      await polling
      for (const cursor of cursors.values()) await cursor.close()
      options.onClose()
    },
  }
}
