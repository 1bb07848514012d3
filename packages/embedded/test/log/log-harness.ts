import { createEmbeddedLog, createEmbeddedProducer } from '@tidemark/embedded'
import type { EmbeddedProducerOptions, NewRecord } from '@tidemark/embedded'
import { offsetOf } from '@tidemark/core'
import type { CommittedLog, LogReader, PartitionBounds, ReadFailure } from '@tidemark/log'

export const inspectOptions = { deadlineMs: 5_000 }

export function text(partition: number, value: string): NewRecord {
  return { partition, value: Buffer.from(value), timestampMs: 7 }
}

export function texts(partition: number, ...values: readonly string[]): readonly NewRecord[] {
  return values.map((value) => text(partition, value))
}

/** A producer with one topic `t`. */
export async function producing(directory: string, options: Partial<EmbeddedProducerOptions> = {}, partitionCount = 1) {
  const producer = await createEmbeddedProducer({ directory, durability: 'server', ...options })
  if ((await producer.describeTopic('t')) === undefined) await producer.createTopic('t', { partitionCount })
  return producer
}

export function reading(directory: string): CommittedLog {
  return createEmbeddedLog({ directory, pollIntervalMs: 1 })
}

export async function readerAt(log: CommittedLog, ...positions: readonly number[]): Promise<LogReader> {
  return log.openReader({
    topic: 't',
    positions: positions.map((next, partition) => ({ partition, nextOffset: offsetOf(next) })),
    deadlineMs: 5_000,
  })
}

/** What a reader delivered until every partition reported an end, as `partition:offset=value`, or how it failed. */
export async function drain(reader: LogReader, partitionCount = 1, recordsMax = 1_000) {
  const records: string[] = []
  const ends = new Map<number, bigint>()
  for (let tries = 0; ends.size < partitionCount && tries < 10_000; tries += 1) {
    const result = await reader.poll({ recordsMax, waitMs: 50 })
    if (result.kind === 'failed') return { records, ends, failure: result.failure as ReadFailure | undefined }
    for (const batch of result.batches) {
      for (const { offset, value } of batch.records) {
        records.push(`${batch.partition}:${offset}=${value === null ? 'null' : Buffer.from(value).toString()}`)
      }
      if (batch.endOffset !== undefined) ends.set(batch.partition, batch.endOffset)
    }
  }
  return { records, ends, failure: undefined }
}

export async function bounds(log: CommittedLog, partition = 0, partitionCount = 1): Promise<PartitionBounds> {
  const result = await log.inspector.readBounds('t', partitionCount, inspectOptions)
  if (result.kind !== 'bounds') throw new Error(result.message)
  return result.partitions[partition]!
}
