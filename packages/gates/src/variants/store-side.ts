import type { Projection, ProjectionOptions } from '@tidemark/checkpoint'
import type { StoreDamage } from '@tidemark/testkit/contract'

/** Which store holds data and checkpoints, and how a step is made in it. */
export type StoreName = 'redis atomic' | 'redis two-step' | 'postgres' | 'pglite'

/** One store under the gates. */
export interface StoreSide {
  readonly name: StoreName
  readonly writeModel: 'idempotent' | 'transactional'
  /** Whether everything stands under a key, which can hold something of another kind and can expire. */
  readonly keyed: boolean
  /** The places at which a line to it can be cut; none where there is no connection. */
  readonly cuts: readonly string[]
  open(place: StorePlace): Promise<StoreWorld>
  /** Ends what the worlds of a file share. */
  closeShared?(): Promise<void>
}

/** Where a projection's data live. */
export interface StorePlace {
  readonly namespace: string
  readonly topic: string
  /** Stands before the name of every user, so that worlds share a server without sharing users. */
  readonly users: string
  /** A server of the test's own; the run's shared one unless said. */
  readonly address?: string
}

/** Everything of a projection but its store and what it writes there. */
export interface ProjectionParts extends Omit<ProjectionOptions<never>, 'store' | 'project'> {
  /** Another way to the same store, through a line. */
  readonly storeAddress?: string
  readonly commandDeadlineMs?: number
}

/** One namespace of a real store: projections into it, and a test's eyes and hands. */
export interface StoreWorld {
  projection(parts: ProjectionParts): Projection
  /** Created times by conversation. */
  sessions(user: string): Promise<Readonly<Record<string, number>>>
  /** How many users of this world have sessions. */
  userCount(): Promise<number>
  /**
   * How often a dispatch was applied to a user; only where the store lets a projection count.
   *
   * A count is no idempotent write: a record applied twice shows in it, whatever the sessions say.
   */
  applied?(user: string): Promise<number>
  /** The stored fields of meta, or of a checkpoint. */
  metaFields(): Promise<Readonly<Record<string, string>>>
  checkpointFields(partition: number): Promise<Readonly<Record<string, string>>>
  checkpoint(partition: number): Promise<string | undefined>
  /** Everything under the namespace and the users' keys, as stored bytes. */
  storedBytes(): Promise<Readonly<Record<string, string>>>
  readonly damage: StoreDamage
  /** Takes the position out of the data, as a restore of other data does; only where the data carry one. */
  removeTwin?(partition: number): Promise<void>
  /** Makes the checkpoint expire; only where stored things can. */
  expireCheckpoint?(partition: number): Promise<void>
  /** Opens a way to the store that a test can break; only where there are cuts. */
  openLine(): Promise<StoreLine>
  close(): Promise<void>
}

/** A connection to a store through a proxy. */
export interface StoreLine {
  /** For `storeAddress` of a projection. */
  readonly address: string
  /** Said before a step that is like the one to be cut, so that the line knows how much such a step carries. */
  markStep(): void
  /** Cuts the connection at the projection's next step, at a place the side lists. */
  cutNextStep(cut: string): void
  /** Cuts it in the middle of a step that takes several exchanges. */
  cutMidStep(): void
  /** Half-open from here on: nothing passes and nothing is closed. */
  silence(): void
  close(): Promise<void>
}
