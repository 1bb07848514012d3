import type { ProjectedValue } from '../projected-data.ts'
import type { StoreFacts } from '../stored-state.ts'
import { copyMemoryValue, createMemoryData } from './memory-data.ts'
import type { MemoryData } from './memory-data.ts'

/**
 * The memory behind memory stores, as a server is behind its clients: several stores share one, and dropping a store
 * (a crashed writer) leaves it as it is.
 */
export interface MemoryServer {
  /** The keyspace itself; writing to it is what damage from outside looks like. */
  readonly data: MemoryData
  /** Changes at every restart. */
  readonly process: string
  readonly facts: StoreFacts
  /** Another process from then on; `empty` loses everything, as a server without persistence does. */
  restart(options: { readonly empty: boolean }): void
  /** Overrides what the server says of itself. */
  declare(facts: Partial<StoreFacts>): void
  /** Sets or (with `undefined`) removes one field of a hash, creating the hash where it is absent. */
  setField(key: string, field: string, value: string | undefined): void
  /** Puts any value under a key; `absent` removes the key. */
  put(key: string, value: ProjectedValue): void
  /** A copy of everything, in key order: equal snapshots mean equal stored bytes. */
  snapshot(): ReadonlyMap<string, ProjectedValue>
}

/** What a memory server needs from outside. */
export interface MemoryServerOptions {
  /** Random 32 lower-case hexadecimal digits, new at every call. */
  readonly nonce: () => string
}

const defaultFacts: StoreFacts = {
  durability: 'process',
  isPrimary: true,
  isLoaded: true,
  eviction: { policy: 'none', kind: 'keeps-all' },
  expiringKeys: [],
  database: { expected: 'memory', found: 'memory' },
}

/** A server with an empty keyspace. */
export function createMemoryServer(options: MemoryServerOptions): MemoryServer {
  const data = createMemoryData()
  let process = options.nonce()
  let facts = defaultFacts
  return {
    data,
    get process() {
      return process
    },
    get facts() {
      return facts
    },
    restart({ empty }) {
      process = options.nonce()
      if (empty) data.values.clear()
    },
    declare(changed) {
      facts = { ...facts, ...changed }
    },
    setField: (key, field, value) => setField(data, key, field, value),
    put(key, value) {
      if (value.kind === 'absent') data.values.delete(key)
      else data.values.set(key, mutableCopy(value))
    },
    snapshot() {
      const entries = [...data.values].map(([key, value]) => [key, copyMemoryValue(value)] as const)
      return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

function setField(data: MemoryData, key: string, field: string, value: string | undefined): void {
  const held = data.values.get(key)
  const fields = held?.kind === 'hash' ? held.fields : new Map<string, string>()
  if (value === undefined) fields.delete(field)
  else fields.set(field, value)
  if (fields.size === 0) data.values.delete(key)
  else data.values.set(key, { kind: 'hash', fields })
}

function mutableCopy(value: Exclude<ProjectedValue, { kind: 'absent' }>): Parameters<typeof copyMemoryValue>[0] {
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
