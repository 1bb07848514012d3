import type { Offset } from '@tidemark/core'
import type { Fence, LogIdentity, TailWitness } from '@tidemark/log'
import type { Namespace } from './namespace.ts'
import type { QuarantineEntry } from './quarantine-entry.ts'
import type { Apart, StoredState } from './stored-state.ts'
import type { WriteBuffer } from './write-buffer.ts'

/**
 * PORT: where projected data and its checkpoints live, together.
 *
 * Every call settles within the store's own deadline. A rejection means I/O failed and the outcome is unknown; the
 * projection goes dirty and a restart finds out. Lost races are values.
 */
export interface ProjectionStore<Writer> {
  /** For messages and metrics, for example `redis atomic`. */
  readonly name: string
  /** Where this projection's checkpoints live. */
  readonly namespace: Namespace
  /** Stands before every data key; two stores with the same one share their data. */
  readonly dataPrefix: string
  /** True when its writer offers commuting writes only, so that an older and a newer projection may share data keys. */
  readonly writesCommute: boolean
  /**
   * `idempotent`: a failed step may leave some writes behind, so only repeatable writes exist.
   * `transactional`: a failed step leaves nothing, so any write may be made.
   */
  readonly writeModel: 'idempotent' | 'transactional'
  /** How much one atomic step may hold; a batch is cut at record boundaries to fit. */
  readonly stepLimits: StepLimits
  newWrites(): WriteBuffer<Writer>
  /** Reads everything stored, changing nothing. */
  read(request: ReadStateRequest): Promise<StoredState>
  /** Takes every partition's fence. Changes nothing else. */
  claim(request: ClaimRequest): Promise<Claim>
  /**
   * Creates meta (if asked) and the named checkpoints at offset 0, all or none, only where absent and only under the fences;
   * drops a witness that outlived its checkpoint, and gives the store an incarnation nonce if it has none.
   */
  bootstrap(request: BootstrapRequest): Promise<BootstrapOutcome>
  /**
   * One step of one partition: the data writes, the quarantine entries, then checkpoint and witness.
   *
   * Compare-and-set on fence, identity fields and previous `next_offset`. A step that finds its own target already
   * reached by the same fence is a resend and succeeds. Promises: CKP-20 to CKP-24.
   */
  advance(request: AdvanceRequest<Writer>): Promise<AdvanceOutcome>
  close(): Promise<void>
}

/** The largest atomic step. */
export interface StepLimits {
  readonly writesMax: number
  readonly bytesMax: number
}

/** What to read. */
export interface ReadStateRequest {
  readonly topic: string
  /** The topic's partition count where known; checkpoints are searched up to 1,024 beyond it and beyond the stored count. */
  readonly partitionCount: number | undefined
}

/** How far beyond the highest known partition a read looks for strays. */
export const STRAY_PARTITIONS_SEARCHED = 1_024

/** Which partitions to claim. */
export interface ClaimRequest {
  readonly topic: string
  readonly partitionCount: number
  /**
   * By partition: the nonces to take instead of fresh ones, so that a fence of another store is one here too. Asked only of
   * the store that keeps checkpoints for data kept elsewhere.
   */
  readonly nonces?: ReadonlyMap<number, string>
}

/** The fences taken, by partition. */
export interface Claim {
  readonly fences: ReadonlyMap<number, Fence>
}

/** What to create. */
export interface BootstrapRequest {
  readonly identity: LogIdentity
  readonly createMeta: boolean
  readonly partitions: readonly number[]
  readonly fences: ReadonlyMap<number, Fence>
}

/** What came of a bootstrap. */
export type BootstrapOutcome =
  | { readonly kind: 'created' }
  /** A transactional store's host found data where a first start needs none. */
  | { readonly kind: 'not-empty'; readonly key: string; readonly explanation: string }
  /** Somebody else created meta or a checkpoint first. */
  | { readonly kind: 'conflict'; readonly key: string; readonly explanation: string }
  | { readonly kind: 'fenced'; readonly partition: number; readonly found: string | undefined }

/** One step of one partition. */
export interface AdvanceRequest<Writer> {
  readonly identity: LogIdentity
  readonly partition: number
  readonly fence: Fence
  /** The server process the caller last verified; a store that has reconnected to another one writes nothing. */
  readonly process: string
  readonly from: Offset
  readonly to: Offset
  /**
   * Where data and checkpoint stand, only while one is ahead of the other; the one behind is at `from`. What is ahead is
   * not written again before the step passes it. Only stores that report twins are ever given it.
   */
  readonly apart?: Apart
  readonly writes: WriteBuffer<Writer>
  /** The last applied record; absent when the step only passes over a gap, then the stored one stays. */
  readonly witness: TailWitness | undefined
  readonly quarantine: readonly QuarantineEntry[]
}

/** What came of a step. Nothing of the step is checkpointed unless it is `advanced`. */
export type AdvanceOutcome =
  | { readonly kind: 'advanced'; readonly resent: boolean }
  | { readonly kind: 'fenced'; readonly found: string | undefined }
  | {
      readonly kind: 'conflict'
      readonly key: string
      readonly field: string
      readonly expected: string
      readonly found: string | undefined
    }
  /**
   * The connection now reaches another server process; re-read everything before writing. `dataAt` is set where the data
   * lives apart and was written before the checkpoint's server turned out to be another: the data stands there.
   */
  | { readonly kind: 'process-changed'; readonly process: string; readonly dataAt?: Offset }
