import type { JsonValue } from '@tidemark/core'
import { windowSpanMaxMs } from '../time/time-domain.ts'
import { isKnownZone } from './known-zone.ts'
import type { PolicyFields } from './policy-schema.ts'
import type { StreamTimePolicy } from './stream-time-policy.ts'

/** The profiles there are. One is applied only where it is named. */
export const policyProfileNames = ['seed-v1'] as const

/** The name of a set of choices for what a policy leaves unsaid. */
export type PolicyProfileName = (typeof policyProfileNames)[number]

/** A field that a profile said because the policy did not. */
export interface PolicyFilling {
  readonly field: keyof StreamTimePolicy
  readonly value: JsonValue
  readonly profile: PolicyProfileName
}

/** What a profile does about one field: a value, or nothing because a field it follows from could not be read. */
type Choice<K extends keyof StreamTimePolicy> = (fields: PolicyFields) => StreamTimePolicy[K] | undefined

type Choices = { readonly [K in keyof StreamTimePolicy]?: Choice<K> }

/**
 * The careful choice everywhere: the frontier waits, state and event ids are kept as long as they can matter and no longer,
 * and every late event is published at once. Facts (stream, generation, sources, manifest) are for nobody to choose.
 */
const seedV1: Choices = {
  trigger: () => 'ON_FRONTIER',
  lateClassification: () => 'PER_WINDOW',
  maxFutureSkewMs: () => 300_000,
  stateRetentionMs: ({ allowedLatenessMs }) => allowedLatenessMs,
  correctionMode: () => 'UPSERT_REVISION',
  corrections: () => ({ kind: 'per-event' }),
  deduplication: ({ window, allowedLatenessMs }) => {
    if (window === undefined || allowedLatenessMs === undefined) return undefined
    if (window.kind === 'civil' && !isKnownZone(window.zone)) return undefined
    return { kind: 'event-id', retainMs: windowSpanMaxMs(window) + allowedLatenessMs }
  },
  allIdle: () => 'HOLD',
  resumeBehind: () => 'HOLD',
  input: () => 'append',
}

const profiles: Readonly<Record<PolicyProfileName, Choices>> = { 'seed-v1': seedV1 }

/** The fields a profile has a choice for. */
export function fieldsOfProfile(profile: PolicyProfileName): readonly (keyof StreamTimePolicy)[] {
  return Object.keys(profiles[profile]) as (keyof StreamTimePolicy)[]
}

/**
 * What a profile says about fields that are not said, from those that are.
 *
 * A choice that follows from a field that could not be read is not made; that field's own problem is told.
 *
 * Promises: WIN-5.
 */
export function fillingsOf(
  profile: PolicyProfileName,
  fields: PolicyFields,
  unsaid: ReadonlySet<keyof StreamTimePolicy>,
): readonly PolicyFilling[] {
  return fieldsOfProfile(profile).flatMap((field) => {
    const value = unsaid.has(field) ? profiles[profile][field]?.(fields) : undefined
    // Every choice is made of texts, numbers and plain objects of them.
    return value === undefined ? [] : [{ field, value: value as JsonValue, profile }]
  })
}

/** The profile of a name, if there is one. */
export function policyProfileNamed(name: string): PolicyProfileName | undefined {
  return policyProfileNames.find((each) => each === name)
}
