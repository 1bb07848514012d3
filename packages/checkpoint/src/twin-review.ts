import { decodeOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { PartitionBounds } from '@tidemark/log'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import type { PartitionStart } from './start-planner.ts'
import type { StoredReview } from './stored-review.ts'

/** Decodes what the data says of its own position; a damaged twin is refused and never taken for a missing one. */
export function reviewTwins(
  twins: ReadonlyMap<number, string>,
  refusals: Refusal[],
): ReadonlyMap<number, Offset | 'damaged'> {
  const reviewed = new Map<number, Offset | 'damaged'>()
  for (const [partition, text] of [...twins].sort(([a], [b]) => a - b)) {
    const position = decodeOffset(text)
    reviewed.set(partition, position ?? 'damaged')
    if (position !== undefined) continue
    const excerpt = text.slice(0, 64)
    const message = `the position in the data of partition ${partition} cannot be used: "${excerpt}"`
    refusals.push(refuse('DATA_TWIN', message, { twin: excerpt }, partition))
  }
  return reviewed
}

/** The twins that could be read. */
export function readableTwins(twins: ReadonlyMap<number, Offset | 'damaged'>): ReadonlyMap<number, Offset> {
  const readable = new Map<number, Offset>()
  for (const [partition, twin] of twins) if (twin !== 'damaged') readable.set(partition, twin)
  return readable
}

/** Whether a position is known up to which records were applied: of the data where it lives apart, else the checkpoint. */
export function wasApplied(review: StoredReview, partition: number): boolean {
  const twin = review.twins?.get(partition)
  return review.twins === undefined ? review.checkpoints.has(partition) : twin !== undefined && twin !== 'damaged'
}

/**
 * The position of data that lives apart from its checkpoint, or `undefined` where there is none to go by.
 *
 * Without one beside a checkpoint nobody knows what the data holds, and behind a checkpoint the records in between must
 * still be there to be replayed; both are refused. Promises: CKP-19.
 */
export function judgeTwin(review: StoredReview, bounds: PartitionBounds, refusals: Refusal[]): Offset | undefined {
  const { partition, low, highWatermark } = bounds
  const twin = review.twins?.get(partition)
  if (review.twins === undefined || twin === 'damaged') return undefined
  const next = review.checkpoints.get(partition)?.nextOffset
  const reject = (reason: string, data: Offset | null): void => {
    const values = { next: next === undefined ? null : String(next), twin: data === null ? null : String(data) }
    refusals.push(refuse('DATA_TWIN', `the data of partition ${partition} ${reason}`, values, partition))
  }
  if (twin === undefined) {
    if (next !== undefined) reject(`carries no position, the checkpoint is at ${next}`, null)
    return undefined
  }
  const data = twin
  if (next !== undefined && data < next && data < low) {
    reject(`stands at ${data}, the checkpoint at ${next}, and the log starts at ${low}: it cannot be replayed`, data)
  }
  if (data > highWatermark) reject(`stands at ${data}, the log ends at ${highWatermark}`, data)
  return data
}

/** A start at the lower of checkpoint and data. H0 stays what it is. */
export function startFrom(start: PartitionStart, data: Offset | undefined): PartitionStart {
  const { nextOffset: checkpoint } = start
  if (data === undefined || data === checkpoint) return start
  return { ...start, nextOffset: data < checkpoint ? data : checkpoint, apart: { data, checkpoint } }
}
