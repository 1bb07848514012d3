import { readFile } from 'node:fs/promises'
import type { Offset } from '@tidemark/core'
import type { LogRecord, ReadFailure } from '@tidemark/log'
import { createAbortedTransactions } from './aborted-transactions.ts'
import { decodeRecords, NO_TRANSACTION } from './batch-codec.ts'
import { boundsFile } from './log-layout.ts'
import { decodeBoundsFile } from './partition-bounds.ts'
import type { PublishedBounds } from './partition-bounds.ts'
import { openSegmentReader } from './segment-reader.ts'
import type { SegmentReader } from './segment-reader.ts'

/** What one read of a partition brought. */
export type CursorReading =
  | { readonly kind: 'records'; readonly records: readonly LogRecord[]; readonly endOffset: Offset | undefined }
  | { readonly kind: 'failed'; readonly failure: ReadFailure }

/** A read position in one partition, for committed records only. */
export interface PartitionCursor {
  read(recordsMax: number): Promise<CursorReading>
  close(): Promise<void>
}

/**
 * A cursor at an offset. Nothing is read before the first call.
 *
 * Order: rising offsets. Bounds are read before records and again where the files do not hold what the bounds promise,
 * so that a cut or a deletion under way is told from damage.
 */
export function createPartitionCursor(directory: string, partition: number, from: Offset): PartitionCursor {
  const aborted = createAbortedTransactions(directory)
  let position = from
  let decoded: LogRecord[] = []
  let segments: SegmentReader | undefined
  let truncationsSeen: number | undefined
  let endReported: Offset | undefined

  const failed = (reason: ReadFailure['reason'], message: string): CursorReading => {
    return { kind: 'failed', failure: { reason, partition, message } }
  }
  const reset = async (): Promise<void> => {
    await segments?.close()
    segments = undefined
    decoded = []
  }
  const checkRange = async (bounds: PublishedBounds): Promise<CursorReading | undefined> => {
    const { low, highWatermark, truncations, truncatedTo } = bounds
    const cuts = truncations - (truncationsSeen ?? truncations)
    truncationsSeen = truncations
    if (cuts > 0) {
      // After several cuts only the last place is known; an earlier one may have been lower.
      if (cuts > 1 || position > truncatedTo) {
        const times = cuts === 1 ? '' : `, ${cuts} times`
        return failed('out-of-range', `partition log truncated to ${truncatedTo}${times}, the position is ${position}`)
      }
      await reset()
    }
    if (position >= low && position <= highWatermark) return undefined
    return failed('out-of-range', `offset ${position} is outside the log, which holds ${low} to ${highWatermark}`)
  }
  /** Decodes entries until there are enough records or the stable end is reached. */
  const advance = async (end: Offset, recordsMax: number): Promise<string | undefined> => {
    segments ??= await openSegmentReader(directory, position)
    while (decoded.length < recordsMax && segments.offset < end) {
      const reading = await segments.peek()
      if (reading.kind === 'short') return `${reading.file} at byte ${reading.position}: ${reading.reason}`
      const { head, payload } = reading
      segments.take()
      const isData = head.kind === 'batch' && segments.offset > position
      if (!isData) continue
      if (head.transactionId !== NO_TRANSACTION && aborted.has(head.transactionId)) continue
      const records = decodeRecords(payload, head, partition)
      if (records === undefined) return `a batch at offset ${head.baseOffset} does not hold its records`
      for (const record of records) if (record.offset >= position) decoded.push(record)
    }
    return undefined
  }
  const deliver = (stableEnd: Offset, recordsMax: number): CursorReading => {
    const records = decoded.splice(0, recordsMax)
    const last = records.at(-1)
    if (last !== undefined) position = (last.offset + 1n) as Offset
    if (decoded.length > 0 || segments === undefined) return { kind: 'records', records, endOffset: undefined }
    if (segments.offset > position) position = segments.offset
    if (position < stableEnd || endReported === position) return { kind: 'records', records, endOffset: undefined }
    endReported = position
    return { kind: 'records', records, endOffset: position }
  }
  return {
    async read(recordsMax) {
      const bounds = await readBounds(directory)
      if (bounds === undefined) return failed('unknown-topic', `the files of partition ${partition} are gone`)
      if (bounds === 'damaged') return failed('other', `${boundsFile(directory)} is damaged`)
      if (bounds.truncating) return { kind: 'records', records: [], endOffset: undefined }
      const outside = await checkRange(bounds)
      if (outside !== undefined) return outside
      await aborted.refresh()
      const fault = await advance(bounds.lastStableOffset, recordsMax)
      const again = await readBounds(directory)
      const isCut = again !== undefined && again !== 'damaged' && again.truncations !== bounds.truncations
      // A cut in between may have put other records under these offsets: the next read judges the position first.
      if (fault === undefined && !isCut) return deliver(bounds.lastStableOffset, recordsMax)
      await reset()
      if (again === undefined) return failed('unknown-topic', `the files of partition ${partition} are gone`)
      if (again !== 'damaged' && isMoved(bounds, again)) return { kind: 'records', records: [], endOffset: undefined }
      return failed('other', `the log is damaged: ${fault ?? boundsFile(directory)}`)
    },
    close: reset,
  }
}

/** Whether files may have been cut or removed between the two readings. */
function isMoved(before: PublishedBounds, after: PublishedBounds): boolean {
  return before.low !== after.low || before.truncations !== after.truncations || after.truncating
}

/** What the partition's writer published last; `undefined` when there is no such file. */
export async function readBounds(directory: string): Promise<PublishedBounds | 'damaged' | undefined> {
  // A read can meet a write, and one of two slots is whole at any moment; the pair is read again before it is called damaged.
  for (let tries = 0; tries < 3; tries += 1) {
    const bytes = await readFile(boundsFile(directory)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw error
    })
    if (bytes === undefined) return undefined
    const bounds = decodeBoundsFile(bytes)
    if (bounds !== undefined) return bounds
  }
  return 'damaged'
}
