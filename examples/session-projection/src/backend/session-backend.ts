import type { CommittedLog } from '@tidemark/log'
import type { LogPlace, StorePlace } from '../settings/place-settings.ts'
import type { SessionStore, StoreChoice } from './store/session-store.ts'

/** The adapters the projector runs on. */
export interface SessionBackend extends SessionStore {
  readonly log: CommittedLog
}

/** What decides which adapters are opened, and how. */
export interface BackendChoice extends StoreChoice {
  readonly log: LogPlace
  readonly store: StorePlace
}
