/**
 * One write of a projection. The vocabulary holds only writes that may be repeated: replaying a stretch of a partition
 * in order ends in the same data, which is what makes a crash between data and checkpoint harmless.
 *
 * Shape: `zadd` GT/LT, `sadd` and `setIfGreater` also commute, so that even a stalled older writer cannot undo a newer
 * one. The others need a store that fences every write.
 * Units: scores are safe integers, because Redis keeps them as doubles and silently merges larger ones.
 */
export type ProjectionWrite =
  | {
      readonly op: 'zadd'
      readonly key: string
      readonly mode: ZaddMode
      readonly score: number
      readonly member: string
    }
  | { readonly op: 'zrem'; readonly key: string; readonly member: string }
  | { readonly op: 'sadd'; readonly key: string; readonly member: string }
  | { readonly op: 'srem'; readonly key: string; readonly member: string }
  | { readonly op: 'hset'; readonly key: string; readonly field: string; readonly value: string }
  | { readonly op: 'hdel'; readonly key: string; readonly field: string }
  | { readonly op: 'set'; readonly key: string; readonly value: string }
  | { readonly op: 'setIfGreater'; readonly key: string; readonly value: bigint }
  | { readonly op: 'del'; readonly key: string }

/** `GT` and `LT` keep the larger or smaller score; `ANY` replaces it. */
export type ZaddMode = 'GT' | 'LT' | 'ANY'

/** Writes that commute: their order, across partitions and writers, does not matter. */
export interface CommutingWriter {
  /** Adds a member with a score, keeping the larger (GT) or smaller (LT) of the two. */
  zadd(key: string, mode: 'GT' | 'LT', score: number, member: string): void
  /** Adds a member to a set. */
  sadd(key: string, member: string): void
  /** Sets a whole number unless a greater or equal one stands there. Range: 0 to 2^63-1. */
  setIfGreater(key: string, value: bigint): void
}

/** Writes that may be repeated in order, for stores that fence every write. */
export interface IdempotentWriter extends CommutingWriter {
  zadd(key: string, mode: ZaddMode, score: number, member: string): void
  zrem(key: string, member: string): void
  srem(key: string, member: string): void
  hset(key: string, field: string, value: string): void
  hdel(key: string, field: string): void
  set(key: string, value: string): void
  del(key: string): void
}

/** Whether a write gives the same data in any order and from any writer. */
export function commutes(write: ProjectionWrite): boolean {
  return write.op === 'sadd' || write.op === 'setIfGreater' || (write.op === 'zadd' && write.mode !== 'ANY')
}
