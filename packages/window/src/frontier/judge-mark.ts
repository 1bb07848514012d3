import type { Mark, PartitionStatus } from './marks.ts'

/** Why a mark is not followed. */
export type MarkRejection =
  | 'MALFORMED'
  | 'UNKNOWN_PARTITION'
  | 'STALE_GENERATION'
  | 'UNKNOWN_GENERATION'
  | 'NOT_AT_NEXT_OFFSET'
  | 'AFTER_FINISHED'

/** What becomes of a mark. All three are audited; only an accepted one changes anything. */
export type MarkVerdict =
  | { readonly kind: 'accepted'; readonly mark: Mark }
  /** It says what is known already. */
  | { readonly kind: 'duplicate'; readonly mark: Mark }
  | { readonly kind: 'rejected'; readonly mark: Mark; readonly reason: MarkRejection; readonly message: string }

/** What the engine knows of the partition that a mark speaks of. */
export interface MarkedPartition {
  readonly generation: number
  readonly nextOffset: number
  readonly status: PartitionStatus
}

const statusAfter = { idle: 'IDLE', active: 'ACTIVE', finished: 'FINISHED' } as const

/**
 * Whether a mark is followed: its generation must be the partition's, and its offset the next one, for a mark that was overtaken
 * by a record or by a reassignment proves nothing.
 *
 * Order: shape, partition, generation, offset, status. `held` is `undefined` for a partition nobody reads. Promises: WIN-28.
 */
export function judgeMark(mark: Mark, held: MarkedPartition | undefined): MarkVerdict {
  const rejected = (reason: MarkRejection, message: string): MarkVerdict => ({
    kind: 'rejected',
    mark,
    reason,
    message: `${mark.kind} mark of partition ${mark.partition}: ${message}`,
  })
  if (!isCount(mark.partition) || !isCount(mark.generation) || !isCount(mark.atOffset)) {
    return rejected('MALFORMED', 'partition, generation and offset are whole numbers from 0')
  }
  if (!Object.hasOwn(statusAfter, mark.kind)) return rejected('MALFORMED', 'a mark is idle, active or finished')
  if (held === undefined) return rejected('UNKNOWN_PARTITION', 'no such partition is read')
  if (mark.generation < held.generation) {
    return rejected('STALE_GENERATION', `generation ${mark.generation} ended; ${held.generation} is read`)
  }
  if (mark.generation > held.generation) {
    return rejected('UNKNOWN_GENERATION', `generation ${mark.generation} is not read yet; ${held.generation} is`)
  }
  if (mark.atOffset !== held.nextOffset) {
    return rejected('NOT_AT_NEXT_OFFSET', `it speaks of offset ${mark.atOffset}, the next one is ${held.nextOffset}`)
  }
  if (held.status === statusAfter[mark.kind]) return { kind: 'duplicate', mark }
  if (held.status === 'FINISHED') return rejected('AFTER_FINISHED', `the partition ended at ${held.nextOffset}`)
  return { kind: 'accepted', mark }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
