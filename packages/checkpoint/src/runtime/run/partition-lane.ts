import { nextOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { LogRecord, PartitionBatch, PartitionBounds } from '@tidemark/log'
import type { PartitionStart } from '../../start-planner.ts'
import type { Apart } from '../../stored-state.ts'

/** What waits in a lane: records of one fetch, or the news that the end was reached. */
export type LaneItem =
  | { readonly kind: 'records'; readonly fetch: number; readonly records: readonly LogRecord[] }
  | { readonly kind: 'end'; readonly fetch: number; readonly endOffset: Offset }

/** Why a fetched batch cannot belong where the lane stands. */
export interface LaneFault {
  readonly partition: number
  readonly expected: Offset
  readonly found: Offset
}

/** One partition's fetched but unapplied records, its position and its target. Pure bookkeeping, no I/O. */
export interface PartitionLane {
  readonly partition: number
  /** Where the projection was resumed. */
  readonly startedAt: Offset
  readonly target: Offset
  /** The next record to apply: what the checkpoint says. */
  readonly next: Offset
  /** The next record to fetch. Everything from `next` to here is in the queue or was a gap. */
  readonly fetchPosition: Offset
  /** Where the step under way leads, or `next` when none is. */
  readonly inFlightTo: Offset
  /** Where the stored checkpoint and the data stand; one of them may be ahead of `next` where they live apart. */
  readonly checkpointAt: Offset
  readonly dataAt: Offset
  /** Both, while they differ. */
  readonly apart: Apart | undefined
  readonly queuedRecords: number
  readonly queuedBytes: number
  /** The fetch number of the oldest waiting item. */
  readonly headFetch: number | undefined
  /** Bounds as last read. */
  bounds: PartitionBounds
  /** Monotonic time since when records wait and none was applied. */
  stalledSinceMs: number | undefined
  quarantined: number
  paused: boolean
  /** Takes a fetched batch, or says why it cannot follow what was fetched before. */
  enqueue(batch: PartitionBatch, fetch: number): LaneFault | undefined
  /**
   * Waiting items that fetches up to `provenFetch` brought, oldest first, starting at the first unapplied record. While
   * the data is ahead they end where it stands, so that no step mixes records it holds with records it lacks.
   */
  provenItems(provenFetch: number): Iterable<LaneItem>
  begin(to: Offset): void
  /** The step under way was confirmed: everything below its end leaves the queue. */
  finish(): void
  /** The step under way reached the data but not the checkpoint. */
  dataMoved(to: Offset): void
}

/** A lane at its planned start. */
export function createPartitionLane(start: PartitionStart): PartitionLane {
  return new Lane(start)
}

class Lane implements PartitionLane {
  readonly partition: number
  readonly startedAt: Offset
  readonly target: Offset
  readonly items: LaneItem[] = []
  next: Offset
  fetchPosition: Offset
  inFlightTo: Offset
  checkpointAt: Offset
  dataAt: Offset
  queuedRecords = 0
  queuedBytes = 0
  bounds: PartitionBounds
  stalledSinceMs: number | undefined = undefined
  quarantined = 0
  paused = false

  constructor(start: PartitionStart) {
    const { partition, target, nextOffset: next, bounds, apart } = start
    this.partition = partition
    this.startedAt = next
    this.target = target
    this.next = next
    this.fetchPosition = next
    this.inFlightTo = next
    this.checkpointAt = apart?.checkpoint ?? next
    this.dataAt = apart?.data ?? next
    this.bounds = bounds
  }

  get apart(): Apart | undefined {
    const { dataAt: data, checkpointAt: checkpoint } = this
    return data === checkpoint ? undefined : { data, checkpoint }
  }

  get headFetch(): number | undefined {
    return this.items[0]?.fetch
  }

  enqueue(batch: PartitionBatch, fetch: number): LaneFault | undefined {
    const fault = continuityFault(batch, this.fetchPosition)
    if (fault !== undefined) return fault
    const last = batch.records.at(-1)
    if (last !== undefined) {
      this.items.push({ kind: 'records', fetch, records: batch.records })
      this.fetchPosition = nextOffset(last.offset)
      this.queuedRecords += batch.records.length
      this.queuedBytes += bytesOf(batch.records)
    }
    if (batch.endOffset !== undefined && batch.endOffset > this.fetchPosition) {
      this.items.push({ kind: 'end', fetch, endOffset: batch.endOffset })
      this.fetchPosition = batch.endOffset
    }
    return undefined
  }

  *provenItems(provenFetch: number): Iterable<LaneItem> {
    const border = this.dataAt > this.next ? this.dataAt : undefined
    for (const item of this.items) {
      if (item.fetch > provenFetch) return
      if (border === undefined) {
        yield item
        continue
      }
      const below = itemsBelow(item, border)
      yield* below.items
      if (below.isLast) return
    }
  }

  begin(to: Offset): void {
    this.inFlightTo = to
  }

  finish(): void {
    const next = this.inFlightTo
    this.next = next
    if (this.checkpointAt < next) this.checkpointAt = next
    if (this.dataAt < next) this.dataAt = next
    while (this.items.length > 0) {
      const dropped = dropBelow(this.items, next)
      this.queuedRecords -= dropped.records
      this.queuedBytes -= dropped.bytes
      if (!dropped.whole) break
    }
  }

  dataMoved(to: Offset): void {
    if (this.dataAt < to) this.dataAt = to
  }
}

/** The part of an item below a border, ending in the border itself once something lies at or beyond it. */
function itemsBelow(item: LaneItem, border: Offset): { readonly items: readonly LaneItem[]; readonly isLast: boolean } {
  const { fetch } = item
  const end: LaneItem = { kind: 'end', fetch, endOffset: border }
  if (item.kind === 'end')
    return item.endOffset < border ? { items: [item], isLast: false } : { items: [end], isLast: true }
  const records = item.records.filter(({ offset }) => offset < border)
  if (records.length === item.records.length) return { items: [item], isLast: false }
  const below: LaneItem = { kind: 'records', fetch, records }
  return { items: records.length === 0 ? [end] : [below, end], isLast: true }
}

function continuityFault(batch: PartitionBatch, fetchPosition: Offset): LaneFault | undefined {
  let expected: bigint = fetchPosition
  for (const record of batch.records) {
    // Gaps upwards are normal (control records, aborted data, compaction); anything downwards is another log or a stale batch.
    if (record.offset < expected)
      return { partition: batch.partition, expected: expected as Offset, found: record.offset }
    expected = record.offset + 1n
  }
  if (batch.endOffset !== undefined && batch.endOffset < expected) {
    return { partition: batch.partition, expected: expected as Offset, found: batch.endOffset }
  }
  return undefined
}

/** Drops what lies below `next` from the oldest item; says whether the whole item went. */
function dropBelow(items: LaneItem[], next: Offset): { whole: boolean; records: number; bytes: number } {
  const head = items[0]!
  if (head.kind === 'end') {
    const whole = head.endOffset <= next
    if (whole) items.shift()
    return { whole, records: 0, bytes: 0 }
  }
  const kept = head.records.findIndex((record) => record.offset >= next)
  const dropped = kept === -1 ? head.records : head.records.slice(0, kept)
  if (kept === -1) items.shift()
  else items[0] = { ...head, records: head.records.slice(kept) }
  return { whole: kept === -1, records: dropped.length, bytes: bytesOf(dropped) }
}

function bytesOf(records: readonly LogRecord[]): number {
  let bytes = 0
  for (const { key, value, headers } of records) {
    bytes += (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
    for (const header of headers) bytes += header.name.length + (header.value?.byteLength ?? 0)
  }
  return bytes
}
