import type { ProjectedValue } from '../projected-data.ts'

/** What stands under one key of a {@link MemoryData}. A collection is never empty: its key goes with its last member. */
export type MemoryValue =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'hash'; readonly fields: Map<string, string> }
  | { readonly kind: 'set'; readonly members: Set<string> }
  | { readonly kind: 'sorted-set'; readonly scores: Map<string, number> }

/**
 * A keyspace held in memory: the model of what the write vocabulary means.
 *
 * Shape: one typed value per key, as Redis has it. Verification recomputes into one, and the memory and embedded stores
 * keep their data, checkpoints and side keys in one.
 */
export interface MemoryData {
  readonly values: Map<string, MemoryValue>
}

/** An empty keyspace. */
export function createMemoryData(): MemoryData {
  return { values: new Map() }
}

/** A copy of what stands under a key; later writes do not change it. */
export function readMemoryValue(data: MemoryData, key: string): ProjectedValue {
  const value = data.values.get(key)
  return value === undefined ? { kind: 'absent' } : copyMemoryValue(value)
}

/** A copy that shares nothing with its original. */
export function copyMemoryValue(value: MemoryValue): MemoryValue {
  switch (value.kind) {
    case 'string':
      return value
    case 'hash':
      return { kind: 'hash', fields: new Map(value.fields) }
    case 'set':
      return { kind: 'set', members: new Set(value.members) }
    case 'sorted-set':
      return { kind: 'sorted-set', scores: new Map(value.scores) }
  }
}

/** The fields of a hash, `undefined` where the key is absent, or the kind that stands there instead. */
export function readHash(
  data: MemoryData,
  key: string,
): ReadonlyMap<string, string> | undefined | { readonly wrongKind: MemoryValue['kind'] } {
  const value = data.values.get(key)
  if (value === undefined) return undefined
  return value.kind === 'hash' ? value.fields : { wrongKind: value.kind }
}
