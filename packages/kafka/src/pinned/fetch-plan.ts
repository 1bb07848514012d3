import type { PartitionCursor } from './partition-cursor.ts'

/** How much is fetched and held. */
export interface FetchLimits {
  /** How long a leader may hold a fetch back while nothing is there. */
  readonly fetchWaitMs: number
  readonly fetchBytesMax: number
  readonly partitionBytesMax: number
  readonly bufferedBytesMax: number
}

/** The next thing to do towards one leader. */
export type FetchPlan =
  | {
      readonly kind: 'fetch'
      readonly cursors: readonly PartitionCursor[]
      readonly maxWaitMs: number
      readonly bytesMax: number
    }
  /** Nothing may be asked before so many milliseconds, or before something changes. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  /** Partitions could be asked for, but the buffer is full; room may be made by giving up what paused ones hold. */
  | { readonly kind: 'full' }

/** How long nothing to do is waited out; every change wakes earlier. */
const LOOK_AGAIN_MS = 1_000

/** A fetch that leaves partitions out must not keep them waiting long once they may be fetched again. */
const PARTIAL_WAIT_MS = 50

/** Less than this is not asked for: it would cost a round trip for next to nothing. */
const FETCH_BYTES_MIN = 65_536

/**
 * Which partitions of one leader the next fetch names: those that are not paused, not in trouble, and short of records.
 *
 * Order: as given. A leader fills its answer in the order of the request, so the caller puts last what was served last.
 */
export function planFetch(
  cursors: readonly PartitionCursor[],
  limits: FetchLimits,
  freeBytes: number,
  nowMs: number,
): FetchPlan {
  const chosen: PartitionCursor[] = []
  let untilMs = nowMs + LOOK_AGAIN_MS
  for (const cursor of cursors) {
    // Half a fetch left is enough time for the next one to arrive.
    if (cursor.paused || cursor.bufferedBytes * 2 > limits.partitionBytesMax) continue
    if (cursor.notBeforeMs <= nowMs) chosen.push(cursor)
    else untilMs = Math.min(untilMs, cursor.notBeforeMs)
  }
  if (chosen.length === 0) return { kind: 'wait', waitMs: untilMs - nowMs }
  if (freeBytes < FETCH_BYTES_MIN) return { kind: 'full' }
  const { fetchWaitMs, fetchBytesMax } = limits
  return {
    kind: 'fetch',
    cursors: chosen,
    maxWaitMs: chosen.length === cursors.length ? fetchWaitMs : Math.min(fetchWaitMs, PARTIAL_WAIT_MS),
    bytesMax: Math.min(fetchBytesMax, freeBytes),
  }
}
