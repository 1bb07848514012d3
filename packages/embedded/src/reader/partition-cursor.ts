import { readFile } from 'node:fs/promises'
import type { Offset } from '@tidemark/core'
import type { LogRecord, ReadFailure } from '@tidemark/log'
import { createAbortedTransactions } from './aborted-transactions.ts'
import type { AbortedTransactions } from './aborted-transactions.ts'
import { decodeRecords, NO_TRANSACTION } from '../log/batch-codec.ts'
import { boundsFile } from '../log/log-layout.ts'
import { decodeBoundsFile } from '../log/partition-bounds.ts'
import type { PublishedBounds } from '../log/partition-bounds.ts'
import { openSegmentReader } from './segment-reader.ts'
import type { SegmentReader } from './segment-reader.ts'

/** What one read of a partition brought. */
export type CursorReading =
  | { readonly kind: 'records'; readonly records: readonly LogRecord[]; readonly endOffset: Offset | undefined }
  /** `damaged`: the files do not hold what they must, which no later read will mend. */
  | { readonly kind: 'failed'; readonly failure: ReadFailure; readonly damaged: boolean }

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
  return new Cursor(directory, partition, from)
}

class Cursor implements PartitionCursor {
  readonly #directory: string
  readonly #partition: number
  readonly #aborted: AbortedTransactions
  /** The next offset to deliver. */
  #position: Offset
  /** Records read and not yet delivered. */
  #decoded: LogRecord[] = []
  #segments: SegmentReader | undefined
  #truncationsSeen: number | undefined
  #endReported: Offset | undefined

  constructor(directory: string, partition: number, from: Offset) {
    this.#directory = directory
    this.#partition = partition
    this.#aborted = createAbortedTransactions(directory)
    this.#position = from
  }

  async read(recordsMax: number): Promise<CursorReading> {
    const bounds = await readBounds(this.#directory)
    if (bounds === undefined) return this.#gone()
    if (bounds === 'damaged') return this.#damaged(`${boundsFile(this.#directory)} is damaged`)
    if (bounds.truncating) return nothing
    const outside = await this.#checkRange(bounds)
    if (outside !== undefined) return outside
    await this.#aborted.refresh()
    const fault = await this.#advance(bounds.lastStableOffset, recordsMax)
    const again = await readBounds(this.#directory)
    if (again === undefined) return this.#gone()
    const isCut = again !== 'damaged' && (again.truncations !== bounds.truncations || again.truncating)
    // A cut in between may have put other records under these offsets: the next read judges the position first.
    if (fault === undefined && !isCut) return this.#deliver(bounds.lastStableOffset, recordsMax)
    await this.close()
    // Files that were cut or removed in between hold less than the bounds promised, and nothing is wrong.
    if (isCut || (again !== 'damaged' && again.low !== bounds.low)) return nothing
    return this.#damaged(`the log is damaged: ${fault}`)
  }

  async close(): Promise<void> {
    await this.#segments?.close()
    this.#segments = undefined
    this.#decoded = []
  }

  async #checkRange(bounds: PublishedBounds): Promise<CursorReading | undefined> {
    const { low, highWatermark, truncations, truncatedTo } = bounds
    const position = this.#position
    const cuts = truncations - (this.#truncationsSeen ?? truncations)
    this.#truncationsSeen = truncations
    if (cuts > 0) {
      // After several cuts only the last place is known; an earlier one may have been lower.
      if (cuts > 1 || position > truncatedTo) {
        const times = cuts === 1 ? '' : `, ${cuts} times`
        const message = `partition log truncated to ${truncatedTo}${times}, the position is ${position}`
        return this.#failed('out-of-range', message)
      }
      await this.close()
    }
    if (position >= low && position <= highWatermark) return undefined
    const message = `offset ${position} is outside the log, which holds ${low} to ${highWatermark}`
    return this.#failed('out-of-range', message)
  }

  /** Decodes entries until there are enough records or the stable end is reached; the text says what is damaged. */
  async #advance(end: Offset, recordsMax: number): Promise<string | undefined> {
    this.#segments ??= await openSegmentReader(this.#directory, this.#position)
    const segments = this.#segments
    while (this.#decoded.length < recordsMax && segments.offset < end) {
      const reading = await segments.peek()
      if (reading.kind === 'short') return `${reading.file} at byte ${reading.position}: ${reading.reason}`
      const { head, payload } = reading
      segments.take()
      const isData = head.kind === 'batch' && segments.offset > this.#position
      if (!isData) continue
      if (head.transactionId !== NO_TRANSACTION && this.#aborted.has(head.transactionId)) continue
      const records = decodeRecords(payload, head, this.#partition)
      if (records === undefined) return `a batch at offset ${head.baseOffset} does not hold its records`
      for (const record of records) if (record.offset >= this.#position) this.#decoded.push(record)
    }
    return undefined
  }

  #deliver(stableEnd: Offset, recordsMax: number): CursorReading {
    const records = this.#decoded.splice(0, recordsMax)
    const last = records.at(-1)
    if (last !== undefined) this.#position = (last.offset + 1n) as Offset
    if (this.#decoded.length > 0 || this.#segments === undefined) {
      return { kind: 'records', records, endOffset: undefined }
    }
    if (this.#segments.offset > this.#position) this.#position = this.#segments.offset
    const position = this.#position
    const isNewEnd = position >= stableEnd && this.#endReported !== position
    if (isNewEnd) this.#endReported = position
    return { kind: 'records', records, endOffset: isNewEnd ? position : undefined }
  }

  #gone(): CursorReading {
    return this.#failed('unknown-topic', `the files of partition ${this.#partition} are gone`)
  }

  #failed(reason: ReadFailure['reason'], message: string): CursorReading {
    return { kind: 'failed', failure: { reason, partition: this.#partition, message }, damaged: false }
  }

  #damaged(message: string): CursorReading {
    return { kind: 'failed', failure: { reason: 'other', partition: this.#partition, message }, damaged: true }
  }
}

const nothing: CursorReading = { kind: 'records', records: [], endOffset: undefined }

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
