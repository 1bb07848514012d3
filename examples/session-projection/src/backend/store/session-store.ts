import type { CommutingWriter, ProjectedDataReader, ProjectionStore } from '@tidemark/checkpoint'

/** Where sessions and their checkpoints are kept, opened for one namespace. */
export interface SessionStore {
  /** For people: which service, where; no credentials. */
  readonly name: string
  readonly store: ProjectionStore<CommutingWriter>
  readonly data: ProjectedDataReader
  /** Releases what the projection, which owns `store`, does not. */
  close(): Promise<void>
}

/** What decides how a store is opened, beside its place. */
export interface StoreChoice {
  readonly namespace: string
  readonly dataPrefix: string
  /** The longest one call may take. */
  readonly ioDeadlineMs: number
  /** Whether missing tables, or a missing PGlite database, are created; else they are an error. */
  readonly createTables: boolean
}
