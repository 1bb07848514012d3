import type { CommutingWriter, ProjectedDataReader, ProjectionStore } from '@tidemark/checkpoint'
import type { CommittedLog } from '@tidemark/log'
import type { LogPlace, StorePlace } from '../settings/place-settings.ts'

/** The adapters the projector runs on. */
export interface SessionBackend {
  /** For people: which services, where. */
  readonly name: string
  readonly log: CommittedLog
  readonly store: ProjectionStore<CommutingWriter>
  readonly data: ProjectedDataReader
  /** Releases what the projection does not own. */
  close(): Promise<void>
}

/** What decides which adapters are opened, and how. */
export interface BackendChoice {
  readonly log: LogPlace
  readonly store: StorePlace
  readonly namespace: string
  readonly dataPrefix: string
  /** The longest one call may take. */
  readonly ioDeadlineMs: number
}
