import type { Offset } from '@tidemark/core'
import type { PartitionBounds } from '@tidemark/log'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import type { StoredReview } from './stored-review.ts'

/** Up to where records were applied, if that is known: of the data where it lives apart, else the checkpoint. */
export function appliedPosition(review: StoredReview, partition: number): Offset | undefined {
  if (review.twins === undefined) return review.checkpoints.get(partition)?.nextOffset
  const twin = review.twins.get(partition)
  return twin === 'damaged' ? undefined : twin
}

/** A checkpoint beside data that tells no position, where it should tell one: nobody knows what the data holds. */
export function missingTwin(review: StoredReview, partition: number): Refusal | undefined {
  const next = review.checkpoints.get(partition)?.nextOffset
  if (review.twins === undefined || review.twins.has(partition) || next === undefined) return undefined
  return twinRefusal(partition, `carries no position, the checkpoint is at ${next}`, next, undefined)
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
  const reject = (reason: string, data: Offset): void => {
    refusals.push(twinRefusal(partition, reason, next, data))
  }
  if (twin === undefined) {
    const missing = missingTwin(review, partition)
    if (missing !== undefined) refusals.push(missing)
    return undefined
  }
  const data = twin
  if (next !== undefined && data < next && data < low) {
    reject(`stands at ${data}, the checkpoint at ${next}, and the log starts at ${low}: it cannot be replayed`, data)
  }
  if (data > highWatermark) reject(`stands at ${data}, the log ends at ${highWatermark}`, data)
  return data
}

function twinRefusal(partition: number, reason: string, next: Offset | undefined, data: Offset | undefined): Refusal {
  const values = { next: next === undefined ? null : String(next), twin: data === undefined ? null : String(data) }
  return refuse('DATA_TWIN', `the data of partition ${partition} ${reason}`, values, partition)
}
