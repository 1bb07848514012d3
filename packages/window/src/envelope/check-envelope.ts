import { EVENT_TIME_MAX_MS } from '@tidemark/core'
import type { TimeDomain } from '../time/time-domain.ts'
import type { Envelope } from './envelope.ts'

/** Why a record is quarantined on sight. Its time never becomes another time and never moves the frontier. */
export type EnvelopeFault =
  | 'MISSING_EVENT_TIME'
  | 'NOT_AN_INTEGER'
  | 'OUT_OF_RANGE'
  | 'TOO_FAR_AHEAD'
  | 'INGEST_TIME_INVALID'
  | 'EVENT_ID_INVALID'
  | 'KEY_INVALID'
  | 'SCHEMA_GENERATION_INVALID'

/** What an event time is held against. */
export interface EnvelopeLimits {
  /** The first and the last event time whose windows can be computed; both are inside. */
  readonly domain: TimeDomain
  /** How far ahead of its ingest time an event may be; at equality it is taken. */
  readonly maxFutureSkewMs: number
}

/**
 * Why a record cannot be taken, or `undefined` for one that can.
 *
 * Cost: a few comparisons; nothing is allocated. Promises: WIN-20.
 */
export function checkEnvelope(envelope: Envelope<unknown>, limits: EnvelopeLimits): EnvelopeFault | undefined {
  if (
    Number.isSafeInteger(envelope.eventTime) &&
    envelope.eventTime >= limits.domain.minMs &&
    envelope.eventTime <= limits.domain.maxMs &&
    isInstant(envelope.ingestTime) &&
    envelope.eventTime <= envelope.ingestTime + limits.maxFutureSkewMs &&
    isName(envelope.eventId) &&
    typeof envelope.key === 'string' &&
    isGeneration(envelope.schemaGeneration)
  ) {
    return undefined
  }
  return faultOf(envelope, limits)
}

/** The first fault in the order of the list; the time comes first, because it is what a stream of events stands on. */
function faultOf(envelope: Envelope<unknown>, limits: EnvelopeLimits): EnvelopeFault {
  const { eventTime, ingestTime, eventId, key } = envelope as { readonly [K in keyof Envelope<unknown>]: unknown }
  if (eventTime === undefined || eventTime === null) return 'MISSING_EVENT_TIME'
  if (typeof eventTime !== 'number' || !Number.isInteger(eventTime)) return 'NOT_AN_INTEGER'
  const { minMs, maxMs } = limits.domain
  if (!Number.isSafeInteger(eventTime) || eventTime < minMs || eventTime > maxMs) return 'OUT_OF_RANGE'
  if (!isInstant(ingestTime)) return 'INGEST_TIME_INVALID'
  if (eventTime > ingestTime + limits.maxFutureSkewMs) return 'TOO_FAR_AHEAD'
  if (!isName(eventId)) return 'EVENT_ID_INVALID'
  if (typeof key !== 'string') return 'KEY_INVALID'
  return 'SCHEMA_GENERATION_INVALID'
}

/** An instant of the calendar: with any other ingest time the skew would be judged against nothing. */
function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= EVENT_TIME_MAX_MS
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0
}

function isGeneration(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
