import type { Offset } from '@tidemark/core'
import type { StoredFields } from './checkpoint-format.ts'

/** Everything a store holds about one projection, undecoded: decisions about it belong to the planner. */
export interface StoredState {
  readonly meta: StoredFields | undefined
  /** By partition: every checkpoint found, also beyond the topic's partition count. */
  readonly checkpoints: ReadonlyMap<number, StoredFields>
  /** By partition: the stored text of the fence. */
  readonly fences: ReadonlyMap<number, string>
  /** By partition: the stored text of the tail witness. */
  readonly witnesses: ReadonlyMap<number, string>
  /**
   * By partition: the position that the data itself carries, where data and checkpoints live on different servers; any text
   * that is no offset says why it carries none. Absent from stores that keep both together. Witnesses are of the data then.
   */
  readonly twins?: ReadonlyMap<number, string>
  /** By partition: how many records are quarantined. */
  readonly quarantined: ReadonlyMap<number, number>
  /** Keys of ours whose content is not even of the right shape (another data type, a torn file). */
  readonly unreadable: readonly UnreadableKey[]
  readonly incarnation: Incarnation
  readonly facts: StoreFacts
}

/** Where one partition's data and its checkpoint stand, in a store that keeps the two on different servers. */
export interface Apart {
  readonly data: Offset
  readonly checkpoint: Offset
}

/** A key that could not be read as what it should be. */
export interface UnreadableKey {
  readonly key: string
  readonly problem: string
}

/** Which life of the store this is. */
export interface Incarnation {
  /** The stored random nonce; it survives restarts and goes away with the data. */
  readonly nonce: string | undefined
  /** The running server (Redis: run id and replication id); it changes at every restart and failover. */
  readonly process: string
}

/** What a store says of itself at start. */
export interface StoreFacts {
  /** What a confirmed write survives. */
  readonly durability: Durability
  readonly isPrimary: boolean
  /** False while the store is loading its data, when it would answer with a part of it. */
  readonly isLoaded: boolean
  readonly eviction: EvictionFact
  /** Keys of ours that carry an expiry. */
  readonly expiringKeys: readonly string[]
  /** The logical database asked for and the one the connection is really on. */
  readonly database: { readonly expected: string; readonly found: string }
}

/** `process`: lost with it. `server`: lost with the server's memory. `fsync`: on disk. `replicated`: on several servers. */
export type Durability = 'process' | 'server' | 'fsync' | 'replicated'

/** Whether the store may drop keys by itself, and its own word for that. */
export interface EvictionFact {
  readonly policy: string
  readonly kind: 'keeps-all' | 'expiring-only' | 'any-key' | 'unknown'
}
