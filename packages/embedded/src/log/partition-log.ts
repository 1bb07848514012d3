import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { OFFSET_ZERO } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { embeddedErrors } from '../errors.ts'
import { createFramedFile, ioFailed, openFramedFile } from '../files/framed-file.ts'
import type { EmbeddedDurability, FramedFile } from '../files/framed-file.ts'
import { encodeBatch, encodeMarker, NO_TRANSACTION } from './batch-codec.ts'
import type { PlainRecord, TransactionId } from './batch-codec.ts'
import { abortedFile, boundsFile, segmentFile } from './log-layout.ts'
import { BOUNDS_SLOT_BYTES, boundsSlotPosition, decodeBoundsFile, encodeBounds } from './partition-bounds.ts'
import type { PublishedBounds } from './partition-bounds.ts'
import { recoverTail } from './partition-recovery.ts'
import type { RecoveredTail } from './partition-recovery.ts'
import { cutSegments } from './segment-cut.ts'
import { listSegments, segmentOf } from './segment-list.ts'

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
  const aborted = await openFramedFile(abortedFile(directory), 'aborted', durability, () => undefined)
  const handle = await open(path, 'r+')
  const truncations = published.truncations + (lost ? 1 : 0)
  const truncatedTo = lost ? tail.end : published.truncatedTo
  const low = published.low < tail.end ? published.low : tail.end
  // A new writer is a new leader: records of both sides of a crash can be told apart.
  const leaderEpoch = published.leaderEpoch + 1
  const bounds = { ...published, low, leaderEpoch, truncations, truncatedTo, truncating: false }
  const partition = openedPartition(options, { bounds, tail, aborted, handle })
  await partition.publish({ durable: true })
  return partition
}

interface Opened {
  readonly bounds: PublishedBounds
  readonly tail: RecoveredTail
  readonly aborted: FramedFile
  readonly handle: FileHandle
}

interface OpenedPartition extends PartitionLog {
  publish(options: { readonly durable: boolean }): Promise<void>
}

function openedPartition(options: PartitionLogOptions, opened: Opened): OpenedPartition {
  const { directory, durability, segmentBytesMax } = options
  let { bounds } = opened
  let { active, end } = opened.tail
  let openTransactions = opened.tail.open

  const publishAs = async (change: Partial<PublishedBounds>, durable: boolean): Promise<void> => {
    const next = { ...bounds, ...change, sequence: bounds.sequence + 1n }
    await opened.handle.write(encodeBounds(next), 0, BOUNDS_SLOT_BYTES, boundsSlotPosition(next.sequence))
    if (durable && durability === 'fsync') await opened.handle.datasync()
    bounds = next
  }
  const publish = async ({ durable }: { readonly durable: boolean }): Promise<void> => {
    let lastStableOffset = end
    for (const first of openTransactions.values()) if (first < lastStableOffset) lastStableOffset = first
    // A cut can reopen a transaction below the low end; a stable end below it would not be one log.
    if (lastStableOffset < bounds.low) lastStableOffset = bounds.low
    await publishAs({ highWatermark: end, lastStableOffset }, durable)
  }
  const write = async (payload: Buffer, offsetCount: number): Promise<Offset> => {
    if (active.size >= segmentBytesMax) {
      const path = segmentFile(directory, end)
      await createFramedFile(path, 'segment', durability)
      await active.close()
      active = await openFramedFile(path, 'segment', durability, () => undefined)
    }
    await active.append(payload)
    const base = end
    end = (end + BigInt(offsetCount)) as Offset
    return base
  }
  const head = (transactionId: TransactionId, offsetCount: number) => {
    return { baseOffset: end, leaderEpoch: bounds.leaderEpoch, transactionId, offsetCount }
  }
  return {
    get bounds() {
      return bounds
    },
    get openTransactions() {
      return openTransactions
    },
    publish,
    async append(records, transactionId) {
      const base = await write(encodeBatch(head(transactionId, records.length), records), records.length)
      if (transactionId !== NO_TRANSACTION && !openTransactions.has(transactionId)) {
        openTransactions.set(transactionId, base)
      }
      await publish({ durable: false })
      return base
    },
    async mark(kind, transactionId) {
      // Readers look the abort up once the records are stable, so it must be there before they are.
      if (kind === 'abort') await opened.aborted.append(encodeTransactionId(transactionId))
      await write(encodeMarker(kind, head(transactionId, 1)), 1)
      openTransactions.delete(transactionId)
      await publish({ durable: false })
    },
    async skip(count) {
      await write(encodeMarker('gap', head(NO_TRANSACTION, count)), count)
      await publish({ durable: false })
    },
    async truncate(cut) {
      const truncations = bounds.truncations + 1
      const lastStableOffset = bounds.lastStableOffset < cut ? bounds.lastStableOffset : cut
      const low = bounds.low < cut ? bounds.low : cut
      const change = { highWatermark: cut, lastStableOffset, low, truncations, truncatedTo: cut, truncating: true }
      await publishAs(change, true)
      await active.close()
      await cutSegments(directory, durability, cut)
      const bases = await listSegments(directory)
      const tail = await recoverTail(directory, durability, bases, (bases[0] ?? cut) as Offset)
      active = tail.active
      end = tail.end
      openTransactions = tail.open
      await publishAs({ leaderEpoch: bounds.leaderEpoch + 1, truncating: false }, true)
      await publish({ durable: true })
    },
    async deleteBefore(low) {
      await publishAs({ low }, true)
      await publish({ durable: true })
      const bases = await listSegments(directory)
      const first = segmentOf(bases, low)
      for (const base of bases) if (first !== undefined && base < first) await rm(segmentFile(directory, base))
    },
    async close() {
      await active.close()
      await opened.aborted.close()
      await opened.handle.close()
    },
  }
}

/** The payload of a frame that names a transaction. */
export function encodeTransactionId(transactionId: TransactionId): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(transactionId)
  return bytes
}
