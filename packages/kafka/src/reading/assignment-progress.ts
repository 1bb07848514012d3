import type { Offset } from '@tidemark/core'
import type { LogRecord, PartitionBatch, PartitionPosition, ReadFailure } from '@tidemark/log'
import type { ConfluentMessage, ConfluentPosition } from './confluent-client.ts'
import { recordOf } from './record-conversion.ts'

/** What one pull brought, once it is proven to continue every partition. */
export type Accepted =
  | { readonly kind: 'batches'; readonly batches: readonly PartitionBatch[] }
  | { readonly kind: 'failed'; readonly failure: ReadFailure }

/** The next offset of every assigned partition, as the deliveries prove it. */
export interface AssignmentProgress {
  /** Takes one pull: records in delivery order, and the ends that were reached in it. */
  accept(messages: readonly ConfluentMessage[], ends: readonly ConfluentPosition[]): Accepted
  /** The next offset expected of a partition, or `undefined` when it is not assigned. */
  expected(partition: number): number | undefined
}

interface PartitionPull {
  readonly records: LogRecord[]
  /** What was expected before this pull. */
  readonly expectedBefore: number
  endOffset: number | undefined
}

/**
 * Tracks that deliveries only ever go forwards.
 *
 * Seeded with the assigned offsets, because the client knows no position of a partition until its first record. A record
 * below the expected one is a stale or foreign fetch: it fails the whole pull, because skipping it would hide that the
 * position was lost. Promises: KAF-4, KAF-5.
 */
export function newAssignmentProgress(topic: string, positions: readonly PartitionPosition[]): AssignmentProgress {
  const expected = new Map(positions.map(({ partition, nextOffset }) => [partition, Number(nextOffset)]))
  return {
    expected: (partition) => expected.get(partition),
    accept(messages, ends) {
      const pulls = new Map<number, PartitionPull>()
      const fault = takeRecords(topic, expected, pulls, messages) ?? takeEnds(topic, expected, pulls, ends)
      if (fault !== undefined) return { kind: 'failed', failure: fault }
      const batches: PartitionBatch[] = []
      for (const [partition, { records, endOffset }] of pulls) {
        // An end that was passed by later records of the same pull says nothing any more.
        if (endOffset !== undefined) batches.push({ partition, records, endOffset: BigInt(endOffset) as Offset })
        else if (records.length > 0) batches.push({ partition, records })
      }
      return { kind: 'batches', batches }
    },
  }
}

function takeRecords(
  topic: string,
  expected: Map<number, number>,
  pulls: Map<number, PartitionPull>,
  messages: readonly ConfluentMessage[],
): ReadFailure | undefined {
  let pull: PartitionPull | undefined
  let pullPartition = -1
  for (const message of messages) {
    const { partition, offset } = message
    const next = expected.get(partition)
    const fault = positionFault(topic, message, next, 'a record')
    if (fault !== undefined) return fault
    // Deliveries come in runs of one partition, so the map is asked once a run.
    if (pull === undefined || partition !== pullPartition) {
      pull = pullOf(pulls, partition, next!)
      pullPartition = partition
    }
    pull.records.push(recordOf(message))
    expected.set(partition, offset + 1)
  }
  return undefined
}

function takeEnds(
  topic: string,
  expected: Map<number, number>,
  pulls: Map<number, PartitionPull>,
  ends: readonly ConfluentPosition[],
): ReadFailure | undefined {
  for (const end of ends) {
    const next = expected.get(end.partition)
    const before = next === undefined ? undefined : (pulls.get(end.partition)?.expectedBefore ?? next)
    const fault = positionFault(topic, end, before, 'an end')
    if (fault !== undefined) return fault
    if (end.offset < next!) continue
    const pull = pullOf(pulls, end.partition, next!)
    pull.endOffset = end.offset
    expected.set(end.partition, end.offset)
  }
  return undefined
}

function pullOf(pulls: Map<number, PartitionPull>, partition: number, expectedBefore: number): PartitionPull {
  const known = pulls.get(partition)
  if (known !== undefined) return known
  const pull: PartitionPull = { records: [], expectedBefore, endOffset: undefined }
  pulls.set(partition, pull)
  return pull
}

function positionFault(
  topic: string,
  position: ConfluentPosition,
  expected: number | undefined,
  what: 'a record' | 'an end',
): ReadFailure | undefined {
  const { partition, offset } = position
  const fail = (message: string): ReadFailure => ({ reason: 'other', partition, message })
  if (position.topic !== topic || expected === undefined) {
    return fail(`${what} of ${position.topic}[${partition}] arrived, which is not assigned`)
  }
  // Beyond 2^53 the client's numbers are rounded, and a rounded offset is a wrong one.
  if (!Number.isSafeInteger(offset) || offset < 0) return fail(`${what} at ${offset} is not an exact offset`)
  if (offset < expected) {
    return fail(`offsets went backwards: ${what} at ${offset} arrived where ${expected} or later was expected`)
  }
  return undefined
}
