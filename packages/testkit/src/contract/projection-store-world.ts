import type { CommutingWriter, ProjectedValue, ProjectionStore } from '@tidemark/checkpoint'
import type { ContractWorld } from './contract-case.ts'

/** What a store under test may or may not let its test do. */
export type StoreCapability =
  /** The test can change stored bytes behind the store's back. */
  | 'damage'
  /** The test can see all stored bytes at once. */
  | 'fingerprint'
  /** The test can restart the server under the store, keeping its data. */
  | 'restart'
  /** The test can restart the server empty. */
  | 'empty-restart'
  /** The writer offers the whole vocabulary, not only commuting writes. */
  | 'full-vocabulary'
  /** A step that loses its compare-and-set has written no data either. */
  | 'fenced-writes'
  /** A step that fails midway leaves nothing behind. */
  | 'rollback'
  /** Keys can be made to expire. */
  | 'expiry'
  /** Quarantine entries can be read back as text. */
  | 'quarantine-reading'
  /** A bootstrap that is refused has created nothing, not even what nothing stood in the way of. */
  | 'whole-bootstrap'
  /** A step compares meta too, in the instant in which it writes. */
  | 'fenced-meta'
  /** Steps of different partitions may write the same data key. */
  | 'shared-keys'
  /** A step that meets another server process can name it wholly. */
  | 'one-process'
  /** The data has a position and a fence of its own, on another server than the checkpoints. */
  | 'data-apart'

/** A fresh, empty namespace of a store, and the test's hands on what lies beneath. One per case. */
export interface ProjectionStoreWorld extends ContractWorld {
  /** A new client over the same data, as another process would open it. */
  openStore(): Promise<ProjectionStore<CommutingWriter>>
  /** The values under data keys as the projection function names them. */
  readData(keys: readonly string[]): Promise<readonly ProjectedValue[]>
  readonly damage?: StoreDamage
  /** The two servers of a store that claims `data-apart`, one by one. */
  readonly sides?: StoreSides
  /** Equal texts mean that nothing stored differs, of the namespace or of its data. */
  fingerprint?(): Promise<string>
  restart?(options: { readonly empty: boolean }): Promise<void>
  /** Makes the checkpoint key of a partition expire in an hour; returns the key. */
  expireCheckpoint?(topic: string, partition: number): Promise<string>
  /** The stored texts of a partition's quarantine entries, in any order. */
  readQuarantine?(topic: string, partition: number): Promise<readonly string[]>
}

/** Changes to stored bytes that no store would make. `undefined` removes. */
export interface StoreDamage {
  setMetaField(field: string, text: string | undefined): Promise<void>
  removeMeta(): Promise<void>
  setCheckpointField(topic: string, partition: number, field: string, text: string | undefined): Promise<void>
  removeCheckpoint(topic: string, partition: number): Promise<void>
  setFence(topic: string, partition: number, text: string | undefined): Promise<void>
  setWitness(topic: string, partition: number, text: string | undefined): Promise<void>
  /** Puts a value of another kind where meta or a checkpoint is due; returns the key, or each where there are two. */
  putWrongKind(
    target: 'meta' | { readonly topic: string; readonly partition: number },
  ): Promise<string | readonly string[]>
  /** Puts a plain string under a data key. */
  putString(key: string, text: string): Promise<void>
}

/** Hands on one server of two, leaving the other as it is. `undefined` removes. */
export interface StoreSides {
  /** The position that the data says it is at. */
  setDataPosition(topic: string, partition: number, text: string | undefined): Promise<void>
  /** The fence beside the data. */
  setDataFence(topic: string, partition: number, text: string | undefined): Promise<void>
  restart(side: 'data' | 'checkpoints', options: { readonly empty: boolean }): Promise<void>
}
