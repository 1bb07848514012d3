import { messageOf, OFFSET_ZERO } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { judgeSurvey } from '@tidemark/log'
import type { CommittedLog, LogReader, LogRecord, PartitionBounds } from '@tidemark/log'

/** How far a reading went. */
export interface CommittedReading {
  readonly records: number
  /** By partition: the read-committed end that was reached. */
  readonly ends: ReadonlyMap<number, Offset>
}

/** What to read. */
export interface CommittedRequest {
  readonly log: CommittedLog
  readonly topic: string
  /** Where to go on, by partition; a partition that is not named is read from its first record. */
  readonly from?: ReadonlyMap<number, Offset>
  readonly deadlineMs: number
  readonly visit: (record: LogRecord) => void
}

/**
 * Visits every committed record up to the read-committed end as it is now: the plainest possible reading of the log,
 * with nothing of the projection in it.
 *
 * @throws {Error} when the topic cannot be proven to be one log, when its beginning is gone, or at the deadline.
 */
export async function readCommitted(request: CommittedRequest): Promise<CommittedReading> {
  const { log, topic, deadlineMs } = request
  const startedAt = performance.now()
  const bounds = await boundsOf(request)
  const positions = bounds.map(({ partition, low }) => {
    const nextOffset = request.from?.get(partition) ?? OFFSET_ZERO
    if (nextOffset < low) throw new Error(`partition ${partition} of ${topic} begins at ${low}, ${nextOffset} is gone`)
    return { partition, nextOffset }
  })
  const ends = new Map(bounds.map(({ partition, lastStableOffset }) => [partition, lastStableOffset]))
  const reader = await log.openReader({ topic, positions, deadlineMs })
  try {
    const left = (): number => deadlineMs - (performance.now() - startedAt)
    const reached = new Map(positions.map(({ partition, nextOffset }) => [partition, nextOffset]))
    return { records: await visitUntil(reader, reached, ends, left, request.visit), ends }
  } finally {
    await reader.close()
  }
}

async function visitUntil(
  reader: LogReader,
  reached: Map<number, Offset>,
  ends: ReadonlyMap<number, Offset>,
  leftMs: () => number,
  visit: (record: LogRecord) => void,
): Promise<number> {
  let records = 0
  while ([...ends].some(([partition, end]) => reached.get(partition)! < end)) {
    if (leftMs() <= 0) throw new Error('the log was not read to its end within the deadline')
    const result = await reader.poll({ recordsMax: 5_000, waitMs: 100 })
    if (result.kind === 'failed') throw new Error(`the log could not be read: ${result.failure.message}`)
    for (const { partition, records: batch, endOffset } of result.batches) {
      for (const record of batch) {
        // What was appended after the ends were read belongs to a later reading.
        if (record.offset >= ends.get(partition)!) break
        visit(record)
        records += 1
      }
      const last = batch.at(-1)
      const next = endOffset ?? (last === undefined ? undefined : ((last.offset + 1n) as Offset))
      if (next !== undefined) reached.set(partition, next)
    }
  }
  return records
}

async function boundsOf({ log, topic, deadlineMs }: CommittedRequest): Promise<readonly PartitionBounds[]> {
  const verdict = judgeSurvey(await log.inspector.surveyIdentity(topic, { deadlineMs }), undefined)
  if (verdict.kind !== 'proven') {
    throw new Error(`topic ${topic}: ${verdict.kind === 'unproven' ? verdict.message : verdict.kind}`)
  }
  const reading = await log.inspector
    .readBounds(topic, verdict.identity.partitionCount, { deadlineMs })
    .catch((error: unknown) => {
      throw new Error(`the bounds of ${topic} could not be read: ${messageOf(error)}`, { cause: error })
    })
  if (reading.kind === 'unreadable') throw new Error(`the bounds of ${topic} could not be read: ${reading.message}`)
  return reading.partitions
}
