import { nextOffset, offsetOf } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { LogRecord, PartitionBounds, RecordHeader } from '@tidemark/log'
import { simErrors } from './errors.ts'

/** What a test appends; everything absent is null, empty or the next tick of a fixed clock. */
export interface SimRecordInput {
  readonly key?: string | Uint8Array | null
  readonly value?: string | Uint8Array | null
  readonly timestampMs?: number
  readonly headers?: readonly RecordHeader[]
}

/** One offset of a partition: a data record, or a control record that ends a transaction. */
interface Entry {
  readonly offset: Offset
  readonly leaderEpoch: number
  /** Absent for a control record. */
  readonly record: LogRecord | undefined
  readonly transaction: TransactionState | undefined
}

/** Shared by all entries of a transaction, so that ending it ends them all. */
export interface TransactionState {
  outcome: 'open' | 'committed' | 'aborted'
}

/** One partition of one topic as its leader holds it. */
export interface SimPartition {
  readonly partition: number
  readonly leaderEpoch: number
  bounds(): PartitionBounds
  append(input: SimRecordInput, transaction?: TransactionState): Offset
  /** Writes the control record of an ended transaction; it occupies an offset and delivers nothing. */
  appendControl(transaction: TransactionState): Offset
  /** Moves the low end, as retention and DeleteRecords do. */
  deleteRecordsBefore(low: Offset): void
  /** Drops records but leaves their offsets, as compaction does. */
  compact(keep: (record: LogRecord) => boolean): void
  /** Cuts the tail and goes on under a new leader epoch, as an unclean election does. */
  truncate(end: Offset): void
  /** Raises the leader epoch without losing anything, as a clean election does. */
  electLeader(): void
  /** What read_committed delivers from a position, at most `recordsMax` records, and the position after them. */
  readCommitted(from: Offset, recordsMax: number): { readonly records: readonly LogRecord[]; readonly next: Offset }
  /** What uncommitted reading would deliver; for oracles and planted bugs. */
  readUncommitted(from: Offset, recordsMax: number): { readonly records: readonly LogRecord[]; readonly next: Offset }
}

/** The timestamp of the first record of a simulated partition; each later one is a second younger. */
const FIRST_TIMESTAMP_MS = 1_600_000_000_000

/** An empty partition. */
export function createSimPartition(partition: number): SimPartition {
  let entries: Entry[] = []
  let low = offsetOf(0n)
  let end = offsetOf(0n)
  let leaderEpoch = 0

  const add = (record: LogRecord | undefined, transaction: TransactionState | undefined): Offset => {
    const offset = end
    entries.push({ offset, leaderEpoch, record, transaction })
    end = nextOffset(end)
    return offset
  }
  const lastStable = (): Offset => entries.find((entry) => entry.transaction?.outcome === 'open')?.offset ?? end
  const isDelivered = (entry: Entry): boolean =>
    entry.record !== undefined && (entry.transaction === undefined || entry.transaction.outcome === 'committed')

  const readUpTo = (limit: Offset, delivers: (entry: Entry) => boolean, from: Offset, recordsMax: number) => {
    const records: LogRecord[] = []
    for (const entry of entries) {
      if (entry.offset < from || entry.offset >= limit || !delivers(entry)) continue
      if (records.length === recordsMax) return { records, next: nextOffset(records.at(-1)!.offset) }
      records.push(entry.record!)
    }
    return { records, next: from > limit ? from : limit }
  }
  return {
    partition,
    get leaderEpoch() {
      return leaderEpoch
    },
    bounds: () => ({ partition, low, lastStableOffset: lastStable(), highWatermark: end }),
    append(input, transaction) {
      return add(toRecord(input, partition, end, leaderEpoch), transaction)
    },
    appendControl: (transaction) => add(undefined, transaction),
    deleteRecordsBefore(newLow) {
      if (newLow < low || newLow > end) throw invalid('move the low end', `${newLow} is outside ${low}..${end}`)
      low = newLow
      entries = entries.filter((entry) => entry.offset >= low)
    },
    compact(keep) {
      const stable = lastStable()
      entries = entries.filter((entry) => entry.offset >= stable || entry.record === undefined || keep(entry.record))
    },
    truncate(newEnd) {
      if (newEnd < low || newEnd > end) throw invalid('truncate', `${newEnd} is outside ${low}..${end}`)
      entries = entries.filter((entry) => entry.offset < newEnd)
      end = newEnd
      leaderEpoch += 1
    },
    electLeader() {
      leaderEpoch += 1
    },
    readCommitted: (from, recordsMax) => readUpTo(lastStable(), isDelivered, from, recordsMax),
    readUncommitted: (from, recordsMax) => readUpTo(end, (entry) => entry.record !== undefined, from, recordsMax),
  }
}

function toRecord(input: SimRecordInput, partition: number, offset: Offset, leaderEpoch: number): LogRecord {
  return {
    partition,
    offset,
    leaderEpoch,
    timestampMs: input.timestampMs ?? FIRST_TIMESTAMP_MS + Number(offset) * 1_000,
    key: bytesOf(input.key),
    value: bytesOf(input.value),
    headers: input.headers ?? [],
  }
}

function bytesOf(input: string | Uint8Array | null | undefined): Uint8Array | null {
  if (input === undefined || input === null) return null
  return typeof input === 'string' ? new TextEncoder().encode(input) : input
}

function invalid(action: string, reason: string): Error {
  return simErrors.create('TM_SIM_WORLD_INVALID', { action, reason })
}
