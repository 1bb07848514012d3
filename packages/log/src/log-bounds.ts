import type { Offset } from '@tidemark/core'

/**
 * What a partition holds at one moment.
 *
 * Units: offsets. `low` is the first retained record, `lastStableOffset` the read-committed end (nothing at or above it
 * is delivered while a transaction below is open), `highWatermark` the replicated end.
 */
export interface PartitionBounds {
  readonly partition: number
  readonly low: Offset
  readonly lastStableOffset: Offset
  readonly highWatermark: Offset
}

/** The bounds of all partitions, or why they could not be read. One missing partition makes the whole reading unproven. */
export type BoundsReading =
  | { readonly kind: 'bounds'; readonly partitions: readonly PartitionBounds[] }
  | {
      readonly kind: 'unreadable'
      readonly partition: number | undefined
      readonly message: string
      /** Set where the log itself is damaged, so that asking again will not help. */
      readonly reason?: 'damaged'
    }

/** Why a set of bounds cannot be true of one log, or `undefined` when it can. */
export function boundsFault(reading: readonly PartitionBounds[], partitionCount: number): string | undefined {
  const fault = isEachOnce(reading, partitionCount) ? undefined : countFault(reading, partitionCount)
  if (fault !== undefined) return fault
  for (const { partition, low, lastStableOffset, highWatermark } of reading) {
    // Three separate requests can straddle appended records, so the end may only have grown between them; the inspector
    // reads low first and the high watermark last. Anything else is not one log.
    if (low > lastStableOffset || lastStableOffset > highWatermark) {
      return `partition ${partition} reports low ${low}, last stable ${lastStableOffset}, high watermark ${highWatermark}`
    }
  }
  return undefined
}

/** The usual reading: every partition in its place, which needs no set to be seen. */
function isEachOnce(reading: readonly PartitionBounds[], partitionCount: number): boolean {
  return reading.length === partitionCount && reading.every(({ partition }, index) => partition === index)
}

function countFault(reading: readonly PartitionBounds[], partitionCount: number): string | undefined {
  const seen = new Set(reading.map((bounds) => bounds.partition))
  if (seen.size !== reading.length) return 'a partition was reported twice'
  for (let partition = 0; partition < partitionCount; partition += 1) {
    if (!seen.has(partition)) return `partition ${partition} was not reported`
  }
  return reading.length === partitionCount ? undefined : `a partition beyond ${partitionCount - 1} was reported`
}
