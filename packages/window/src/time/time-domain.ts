import { EVENT_TIME_MAX_MS } from '@tidemark/core'
import { DAY_MS } from '../civil/civil-date.ts'
import { readZoneTransitions, ZONE_DATA_UNTIL_MS } from '../civil/zone-transitions.ts'
import type { StreamTimePolicy, WindowShape } from '../policy/stream-time-policy.ts'

/** The event times for which nothing that a policy computes leaves the range of exact times. Both ends included, epoch milliseconds. */
export interface TimeDomain {
  readonly minMs: number
  readonly maxMs: number
}

/**
 * How far a policy may make the engine reckon from an event time: from every instant of the calendar the result is an exact
 * number. More than eleven thousand years. Milliseconds.
 */
export const TIME_REACH_MAX_MS: number = Number.MAX_SAFE_INTEGER - EVENT_TIME_MAX_MS

/** A field of a policy and how far it makes the engine reckon from an event time. Milliseconds. */
export interface TimeReach {
  readonly path: readonly string[]
  readonly ms: number
}

/** The fields that say how far from an event time is reckoned; those that could not be read are left out. */
export type ReachingFields = Partial<
  Pick<
    StreamTimePolicy,
    | 'window'
    | 'watermark'
    | 'allowedLatenessMs'
    | 'stateRetentionMs'
    | 'maxFutureSkewMs'
    | 'deduplication'
    | 'corrections'
  >
>

const nominalDays = { day: 1, week: 7, month: 31 } as const

/**
 * How long after an event its last window ends at most. Milliseconds.
 *
 * Of a session, its own stretch before any merge. Of a civil window no more than the pinned data allow: two beginnings are at
 * most as much further apart than on the calendar as the zone's offsets are from each other.
 *
 * @throws {TidemarkError} TM_WINDOW_ZONE_UNKNOWN for a civil window.
 */
export function windowSpanMaxMs(window: WindowShape): number {
  switch (window.kind) {
    case 'tumbling':
    case 'sliding':
      return window.sizeMs
    case 'session':
      return window.gapMs
    case 'civil': {
      const { offsetMs } = readZoneTransitions(window.zone)
      return nominalDays[window.unit] * DAY_MS + Math.max(...offsetMs) - Math.min(...offsetMs)
    }
  }
}

/** What is added to an event time at most: a sum of reaches, and the reaches that stand for themselves. */
export function reachesAhead(fields: ReachingFields): { readonly summed: TimeReach[]; readonly alone: TimeReach[] } {
  const { window, deduplication, corrections } = fields
  const kept = longest([
    { path: ['allowedLatenessMs'], ms: fields.allowedLatenessMs ?? 0 },
    { path: ['stateRetentionMs'], ms: fields.stateRetentionMs ?? 0 },
  ])
  const summed = [kept]
  // The interval of a final session is kept for another gap after its end.
  if (window !== undefined) {
    summed.push({ path: ['window'], ms: windowSpanMaxMs(window) * (window.kind === 'session' ? 2 : 1) })
  }
  const alone: TimeReach[] = []
  if (deduplication?.kind === 'event-id')
    alone.push({ path: ['deduplication', 'retainMs'], ms: deduplication.retainMs })
  if (corrections?.kind === 'interval') alone.push({ path: ['corrections', 'intervalMs'], ms: corrections.intervalMs })
  return { summed, alone }
}

/** What is taken from an event time at most; each stands for itself. */
export function reachesBehind(fields: ReachingFields): readonly TimeReach[] {
  const { window, watermark, maxFutureSkewMs } = fields
  return [
    { path: ['watermark', 'boundMs'], ms: watermark?.boundMs ?? 0 },
    { path: ['maxFutureSkewMs'], ms: maxFutureSkewMs ?? 0 },
    // Going back over the windows of an event ends at the first that no longer holds it: a step before the earliest start.
    { path: ['window'], ms: window === undefined ? 0 : windowSpanMaxMs(window) * 2 },
  ]
}

/**
 * The event times a policy takes: every end, lateness, gap and retention reckoned from one of them is exact.
 *
 * Promises: WIN-8.
 *
 * @throws {TidemarkError} TM_WINDOW_ZONE_UNKNOWN for a civil window.
 */
export function timeDomainOf(policy: ReachingFields): TimeDomain {
  const { summed, alone } = reachesAhead(policy)
  const aheadMs = Math.max(sum(summed), longest(alone).ms)
  const maxMs = EVENT_TIME_MAX_MS - aheadMs
  return {
    minMs: longest(reachesBehind(policy)).ms - EVENT_TIME_MAX_MS,
    maxMs: Math.min(maxMs, civilMaxMs(policy.window)),
  }
}

/** A civil window must end inside the zone data: beyond them its end would be a guess. */
function civilMaxMs(window: WindowShape | undefined): number {
  return window?.kind === 'civil' ? ZONE_DATA_UNTIL_MS - windowSpanMaxMs(window) : Number.POSITIVE_INFINITY
}

/** The reach that reaches furthest. */
export function longest(reaches: readonly TimeReach[]): TimeReach {
  return reaches.reduce((most, reach) => (reach.ms > most.ms ? reach : most), { path: [], ms: 0 })
}

function sum(reaches: readonly TimeReach[]): number {
  return reaches.reduce((total, { ms }) => total + ms, 0)
}
