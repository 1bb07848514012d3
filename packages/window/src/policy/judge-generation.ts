import type { JsonValue } from '@tidemark/core'
import { checkFrozenPolicy } from './frozen-policy.ts'
import type { FrozenPolicy } from './frozen-policy.ts'
import { pathText } from './policy-problem.ts'
import type { PolicyPath } from './policy-problem.ts'
import { policyFieldNames } from './policy-schema.ts'
import type { PolicySource } from './stream-time-policy.ts'

/** A field in which two policies differ; what one of them does not have is left out. */
export interface PolicyChange {
  /** A source is named: `$.sources.orders`. Zone data that changed are told at `$.window.zone`, by digest. */
  readonly path: string
  readonly held?: JsonValue
  readonly offered?: JsonValue
}

/** Whether state that one policy made may be taken on under another. */
export type GenerationVerdict =
  /** The same policy: state goes on. */
  | { readonly kind: 'same' }
  /** The same generation number for another policy: refused, and these fields say why. */
  | { readonly kind: 'needs-new-generation'; readonly changes: readonly PolicyChange[] }
  /** A later generation: it starts by handover or replay, never on the state of the one before. */
  | { readonly kind: 'new-generation'; readonly changes: readonly PolicyChange[] }
  /** An earlier generation: refused. */
  | { readonly kind: 'behind'; readonly heldGeneration: number }
  /** Another business stream: nothing of it is comparable. */
  | { readonly kind: 'other-stream'; readonly heldStream: string }

/**
 * What the policy offered at a start is to the one that is held.
 *
 * Every field decides, and so do the partitions and the used zone's clocks: there is no change that keeps its generation.
 *
 * Promises: WIN-11.
 *
 * @throws {TidemarkError} TM_WINDOW_POLICY_DAMAGED where a policy and its digests do not fit.
 */
export function judgeGeneration(held: FrozenPolicy, offered: FrozenPolicy): GenerationVerdict {
  checkFrozenPolicy(held, 'the policy held')
  checkFrozenPolicy(offered, 'the policy offered')
  const { businessStream, generation } = held.policy
  if (offered.policy.businessStream !== businessStream) return { kind: 'other-stream', heldStream: businessStream }
  if (offered.policy.generation < generation) return { kind: 'behind', heldGeneration: generation }
  if (offered.policy.generation > generation) return { kind: 'new-generation', changes: policyChanges(held, offered) }
  if (offered.digest === held.digest) return { kind: 'same' }
  return { kind: 'needs-new-generation', changes: policyChanges(held, offered) }
}

/** Every field in which two policies differ, their generation apart, in the order of the fields. */
export function policyChanges(held: FrozenPolicy, offered: FrozenPolicy): readonly PolicyChange[] {
  const changes = policyFieldNames.flatMap((field) => {
    if (field === 'generation') return []
    if (field === 'sources') return sourceChanges(held.policy.sources, offered.policy.sources)
    // A policy is made of texts, numbers, lists and plain objects.
    return changesAt([field], held.policy[field] as JsonValue, offered.policy[field] as JsonValue)
  })
  const zone = pathText(['window', 'zone'])
  const sameZone = held.policy.window.kind === 'civil' && !changes.some(({ path }) => path === zone)
  if (!sameZone || held.zoneDigest === offered.zoneDigest || offered.zoneDigest === null) return changes
  return [...changes, { path: zone, held: `clocks ${held.zoneDigest}`, offered: `clocks ${offered.zoneDigest}` }]
}

function sourceChanges(held: readonly PolicySource[], offered: readonly PolicySource[]): readonly PolicyChange[] {
  const names = [...new Set([...held, ...offered].map(({ source }) => source))].toSorted()
  const of = (sources: readonly PolicySource[], name: string): JsonValue | undefined =>
    sources.find(({ source }) => source === name)?.partitions.toSorted((left, right) => left - right)
  return names.flatMap((name) => changesAt(['sources', name], of(held, name), of(offered, name)))
}

function changesAt(
  path: PolicyPath,
  held: JsonValue | undefined,
  offered: JsonValue | undefined,
): readonly PolicyChange[] {
  if (isRecord(held) && isRecord(offered) && held['kind'] === offered['kind']) {
    const names = [...new Set([...Object.keys(held), ...Object.keys(offered)])]
    return names.flatMap((name) => changesAt([...path, name], held[name], offered[name]))
  }
  if (JSON.stringify(held) === JSON.stringify(offered)) return []
  const change = { path: pathText(path) }
  return [{ ...change, ...(held === undefined ? {} : { held }), ...(offered === undefined ? {} : { offered }) }]
}

function isRecord(value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
