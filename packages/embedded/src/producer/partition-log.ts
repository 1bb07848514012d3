import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { OFFSET_ZERO } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { embeddedErrors } from '../errors.ts'
import { createFramedFile, ioFailed, openFramedFile } from '../files/framed-file.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import type { FramedFile } from '../files/framed-file.ts'
import { encodeBatch, encodeMarker, NO_TRANSACTION } from '../log/batch-codec.ts'
import type { EntryHead, PlainRecord, TransactionId } from '../log/batch-codec.ts'
import { abortedFile, boundsFile, segmentFile } from '../log/log-layout.ts'
import { BOUNDS_SLOT_BYTES, boundsSlotPosition, decodeBoundsFile, encodeBounds } from '../log/partition-bounds.ts'
import type { PublishedBounds } from '../log/partition-bounds.ts'
import { recoverTail } from './partition-recovery.ts'
import type { RecoveredTail } from './partition-recovery.ts'
import { cutSegments } from './segment-cut.ts'
import { listSegments, segmentOf } from '../log/segment-list.ts'

/** One partition as its writer sees it. The producer calls one operation at a time. */
export interface PartitionLog {
  readonly bounds: PublishedBounds
  /** Transactions that have records here and no marker. */
  readonly openTransactions: ReadonlyMap<TransactionId, Offset>
  /** Appends a batch and returns the offset of its first record. */
  append(records: readonly PlainRecord[], transactionId: TransactionId): Promise<Offset>
  /** Ends a transaction here; its records are delivered, or never. */
  mark(kind: 'commit' | 'abort', transactionId: TransactionId): Promise<void>
  /** Takes offsets that hold nothing, as compaction leaves them. */
  skip(count: number): Promise<void>
  /** Removes everything at and above an offset and begins another leader epoch. */
  truncate(end: Offset): Promise<void>
  /** Moves the low end; whole segments below it are removed. */
  deleteBefore(low: Offset): Promise<void>
  close(): Promise<void>
}

/** How a partition is opened. */
export interface PartitionLogOptions {
  readonly directory: string
  readonly durability: EmbeddedDurability
  readonly segmentBytesMax: number
  /** What to do when acknowledged records are gone. */
  readonly lostRecords: 'refuse' | 'accept'
}

/** Creates an empty partition; the topic's file, written afterwards, makes it visible. */
export async function createPartition(directory: string, durability: EmbeddedDurability): Promise<void> {
  await mkdir(directory, { recursive: true })
  await createFramedFile(segmentFile(directory, 0n), 'segment', durability)
  await createFramedFile(abortedFile(directory), 'aborted', durability)
  const slots = Buffer.alloc(2 * BOUNDS_SLOT_BYTES)
  encodeBounds(emptyBounds).copy(slots, boundsSlotPosition(emptyBounds.sequence))
  await writeFile(boundsFile(directory), slots, { flush: durability === 'fsync' })
}

const emptyBounds: PublishedBounds = {
  sequence: 1n,
  low: OFFSET_ZERO,
  lastStableOffset: OFFSET_ZERO,
  highWatermark: OFFSET_ZERO,
  leaderEpoch: -1,
  truncations: 0,
  truncatedTo: OFFSET_ZERO,
  truncating: false,
}

/**
 * Opens a partition for writing: finishes a cut that was interrupted, drops a torn tail, finds open transactions.
 *
 * @throws {TidemarkError} TM_EMBEDDED_DAMAGED, TM_EMBEDDED_RECORDS_LOST
 */
export async function openPartitionLog(options: PartitionLogOptions): Promise<PartitionLog> {
  const { directory, durability } = options
  const path = boundsFile(directory)
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw ioFailed('reading', path, cause)
  })
  const published = decodeBoundsFile(bytes)
  if (published === undefined) {
    throw embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file: path, position: 0, reason: 'neither slot is whole' })
  }
  if (published.truncating) await cutSegments(directory, durability, published.highWatermark)
  const tail = await recoverTail(directory, durability, await listSegments(directory), published.lastStableOffset)
  const lost = tail.end < published.highWatermark
  if (lost && options.lostRecords === 'refuse') {
    await tail.active.close()
    const [end, highWatermark] = [String(tail.end), String(published.highWatermark)]
    throw embeddedErrors.create('TM_EMBEDDED_RECORDS_LOST', { directory, end, highWatermark })
  }
  const aborted = await openFramedFile(abortedFile(directory), 'aborted', durability, () => undefined).catch(
    async (error: unknown) => {
      await tail.active.close()
      throw error
    },
  )
  const handle = await open(path, 'r+')
  const truncations = published.truncations + (lost ? 1 : 0)
  const truncatedTo = lost ? tail.end : published.truncatedTo
  const low = published.low < tail.end ? published.low : tail.end
  // A new writer is a new leader: records of both sides of a crash can be told apart.
  const leaderEpoch = published.leaderEpoch + 1
  const bounds = { ...published, low, leaderEpoch, truncations, truncatedTo, truncating: false }
  const partition = new OpenPartitionLog(options, { bounds, tail, aborted, handle })
  await partition.publish({ durable: true })
  return partition
}

interface Opened {
  readonly bounds: PublishedBounds
  readonly tail: RecoveredTail
  readonly aborted: FramedFile
  readonly handle: FileHandle
}

class OpenPartitionLog implements PartitionLog {
  readonly #options: PartitionLogOptions
  readonly #aborted: FramedFile
  readonly #boundsHandle: FileHandle
  #bounds: PublishedBounds
  #active: FramedFile
  #end: Offset
  #open: Map<TransactionId, Offset>

  constructor(options: PartitionLogOptions, opened: Opened) {
    this.#options = options
    this.#aborted = opened.aborted
    this.#boundsHandle = opened.handle
    this.#bounds = opened.bounds
    this.#active = opened.tail.active
    this.#end = opened.tail.end
    this.#open = opened.tail.open
  }

  get bounds(): PublishedBounds {
    return this.#bounds
  }

  get openTransactions(): ReadonlyMap<TransactionId, Offset> {
    return this.#open
  }

  async append(records: readonly PlainRecord[], transactionId: TransactionId): Promise<Offset> {
    const payload = encodeBatch(this.#head(transactionId, records.length), records)
    const base = await this.#write(payload, records.length)
    if (transactionId !== NO_TRANSACTION && !this.#open.has(transactionId)) this.#open.set(transactionId, base)
    await this.publish({ durable: false })
    return base
  }

  async mark(kind: 'commit' | 'abort', transactionId: TransactionId): Promise<void> {
    // Readers look the abort up once the records are stable, so it must be there before they are.
    if (kind === 'abort') await this.#aborted.append(encodeTransactionId(transactionId))
    await this.#write(encodeMarker(kind, this.#head(transactionId, 1)), 1)
    this.#open.delete(transactionId)
    await this.publish({ durable: false })
  }

  async skip(count: number): Promise<void> {
    await this.#write(encodeMarker('gap', this.#head(NO_TRANSACTION, count)), count)
    await this.publish({ durable: false })
  }

  async truncate(cut: Offset): Promise<void> {
    const { directory, durability } = this.#options
    const bounds = this.#bounds
    const lastStableOffset = bounds.lastStableOffset < cut ? bounds.lastStableOffset : cut
    const truncations = bounds.truncations + 1
    const change = { highWatermark: cut, lastStableOffset, truncations, truncatedTo: cut, truncating: true }
    await this.#publishAs(change, true)
    await this.#active.close()
    await cutSegments(directory, durability, cut)
    const bases = await listSegments(directory)
    const tail = await recoverTail(directory, durability, bases, (bases[0] ?? cut) as Offset)
    this.#active = tail.active
    this.#end = tail.end
    this.#open = tail.open
    await this.#publishAs({ leaderEpoch: bounds.leaderEpoch + 1, truncating: false }, true)
    await this.publish({ durable: true })
  }

  async deleteBefore(low: Offset): Promise<void> {
    const { directory } = this.#options
    await this.#publishAs({ low }, true)
    await this.publish({ durable: true })
    const bases = await listSegments(directory)
    const first = segmentOf(bases, low)
    for (const base of bases) if (first !== undefined && base < first) await rm(segmentFile(directory, base))
  }

  async close(): Promise<void> {
    await this.#active.close()
    await this.#aborted.close()
    await this.#boundsHandle.close()
  }

  /** Tells readers the ends as they are. Only what a crash must not forget needs to be durable. */
  async publish({ durable }: { readonly durable: boolean }): Promise<void> {
    let lastStableOffset = this.#end
    for (const first of this.#open.values()) if (first < lastStableOffset) lastStableOffset = first
    // A transaction can begin below the low end; a stable end below it would not be one log.
    if (lastStableOffset < this.#bounds.low) lastStableOffset = this.#bounds.low
    await this.#publishAs({ highWatermark: this.#end, lastStableOffset }, durable)
  }

  async #publishAs(change: Partial<PublishedBounds>, durable: boolean): Promise<void> {
    const next = { ...this.#bounds, ...change, sequence: this.#bounds.sequence + 1n }
    await this.#boundsHandle.write(encodeBounds(next), 0, BOUNDS_SLOT_BYTES, boundsSlotPosition(next.sequence))
    if (durable && this.#options.durability === 'fsync') await this.#boundsHandle.datasync()
    this.#bounds = next
  }

  async #write(payload: Buffer, offsetCount: number): Promise<Offset> {
    const { directory, durability, segmentBytesMax } = this.#options
    if (this.#active.size >= segmentBytesMax) {
      const path = segmentFile(directory, this.#end)
      await createFramedFile(path, 'segment', durability)
      await this.#active.close()
      this.#active = await openFramedFile(path, 'segment', durability, () => undefined)
    }
    await this.#active.append(payload)
    const base = this.#end
    this.#end = (base + BigInt(offsetCount)) as Offset
    return base
  }

  #head(transactionId: TransactionId, offsetCount: number): EntryHead {
    return { baseOffset: this.#end, leaderEpoch: this.#bounds.leaderEpoch, transactionId, offsetCount }
  }
}

/** The payload of a frame that names a transaction. */
export function encodeTransactionId(transactionId: TransactionId): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(transactionId)
  return bytes
}
