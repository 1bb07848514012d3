import type { CommittedLog } from '@tidemark/log'
import type { LogPlace } from '../settings/place-settings.ts'
import type { BackendChoice, SessionBackend } from './session-backend.ts'

/**
 * Opens the adapters a choice names. Kafka and Redis are connected to when they are first asked something.
 *
 * @throws {TidemarkError} for an address, a namespace or an option that makes no sense, or a folder that is held.
 */
export async function openSessionBackend(choice: BackendChoice): Promise<SessionBackend> {
  const { log, store } = choice
  // Loaded when chosen: the embedded backend must run where the native Kafka client was never built.
  if (log.kind === 'kafka' && store.kind === 'redis') {
    return (await import('./real-backend.ts')).openRealBackend(choice, log, store)
  }
  if (log.kind === 'embedded' && store.kind === 'embedded') {
    return (await import('./embedded-backend.ts')).openEmbeddedBackend(choice, log)
  }
  throw new TypeError(`a ${log.kind} log with a ${store.kind} store is not offered`)
}

/** Opens the log alone, for reading it without any projection. */
export async function openDispatchLog(place: LogPlace): Promise<CommittedLog> {
  return place.kind === 'kafka'
    ? (await import('./real-backend.ts')).openKafkaLog(place)
    : (await import('./embedded-backend.ts')).openEmbeddedLog(place)
}
