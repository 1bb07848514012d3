import type { SurveyVerdict } from './identity-survey.ts'

/**
 * Which fetched batches are proven to come from the held log.
 *
 * A check proves every fetch that returned before it started, and nothing later: a topic can be recreated between two
 * polls without any error, so a batch must wait for a check that started after it arrived.
 */
export interface IdentityLease {
  /** The number of the latest fetch that has returned. Fetches are numbered from 1. */
  readonly fetched: number
  /** The number of the latest fetch that a finished check covers. */
  readonly proven: number
  /** The fetch number that the check under way will cover, or `undefined` when none is under way. */
  readonly checking: number | undefined
  /** Monotonic milliseconds of the last moment at which the identity was proven. */
  readonly provenAtMs: number
  /** Monotonic milliseconds since when checks have had no answer, or `undefined`. */
  readonly unansweredSinceMs: number | undefined
  /** The first contradiction; it is final. */
  readonly broken: SurveyVerdict | undefined
}

/** The number of what a check need not cover: fetches are numbered from 1, and what is not above `proven` is proven. */
export const PROVEN_BY_ORIGIN = 0

/** A lease of an identity that was just proven, before any fetch. */
export function newIdentityLease(provenAtMs: number): IdentityLease {
  return { fetched: 0, proven: 0, checking: undefined, provenAtMs, unansweredSinceMs: undefined, broken: undefined }
}

/** The lease after a fetch returned; its number is `fetched` of the result. */
export function fetchReturned(lease: IdentityLease): IdentityLease {
  return { ...lease, fetched: lease.fetched + 1 }
}

/**
 * The lease after a check started. It will cover all that has been fetched so far.
 *
 * Of checks that overlap only the earliest start counts: an end does not say which of them it belongs to.
 */
export function checkStarted(lease: IdentityLease): IdentityLease {
  return { ...lease, checking: lease.checking ?? lease.fetched }
}

/** The lease after the check under way ended with a verdict. Promises: LOG-5, LOG-6. */
export function checkEnded(lease: IdentityLease, verdict: SurveyVerdict, nowMs: number): IdentityLease {
  const covered = lease.checking ?? lease.proven
  const base = { ...lease, checking: undefined }
  switch (verdict.kind) {
    case 'proven':
      return { ...base, proven: Math.max(lease.proven, covered), provenAtMs: nowMs, unansweredSinceMs: undefined }
    case 'mismatch':
      return { ...base, broken: lease.broken ?? verdict }
    case 'unproven':
      return { ...base, unansweredSinceMs: lease.unansweredSinceMs ?? nowMs }
  }
}

/** What to do about a fetch. */
export type LeaseDecision =
  | { readonly kind: 'apply' }
  | { readonly kind: 'hold'; readonly needsCheck: boolean }
  | { readonly kind: 'stalled'; readonly unansweredMs: number }
  | { readonly kind: 'broken'; readonly verdict: SurveyVerdict }

/**
 * Whether a fetch may be applied, must wait, or ends the projection.
 *
 * No answer is held, not guessed: it turns into `stalled` after `stallMsMax`, and the caller goes dirty.
 */
export function decideFetch(lease: IdentityLease, fetch: number, nowMs: number, stallMsMax: number): LeaseDecision {
  if (lease.broken !== undefined) return { kind: 'broken', verdict: lease.broken }
  if (fetch <= lease.proven) return { kind: 'apply' }
  const unansweredMs = lease.unansweredSinceMs === undefined ? 0 : nowMs - lease.unansweredSinceMs
  if (unansweredMs > stallMsMax) return { kind: 'stalled', unansweredMs }
  return { kind: 'hold', needsCheck: lease.checking === undefined }
}
