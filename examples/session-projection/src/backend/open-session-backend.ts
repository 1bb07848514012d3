import type { CommittedLog } from '@tidemark/log'
import type { LogPlace, StorePlace } from '../settings/place-settings.ts'
import type { BackendChoice, SessionBackend } from './session-backend.ts'
import type { SessionStore, StoreChoice } from './store/session-store.ts'

/**
 * Opens the adapters a choice names. Servers are connected to when they are first asked something.
 *
 * @throws {TidemarkError} for an address, a namespace or an option that makes no sense, or a folder that is held.
 */
export async function openSessionBackend(choice: BackendChoice): Promise<SessionBackend> {
  const log = await openDispatchLog(choice.log)
  try {
    const opened = await openSessionStore(choice.store, choice)
    return { ...opened, name: `${logName(choice.log)} + ${opened.name}`, log }
  } catch (error) {
    await log.close()
    throw error
  }
}

/**
 * Opens the log alone, for reading it without any projection.
 *
 * Clients are loaded when chosen, here and below: a native Kafka client that was never built, or an embedded Postgres that
 * takes a second to load, must not stand in the way of whoever does not use it.
 */
export async function openDispatchLog(place: LogPlace): Promise<CommittedLog> {
  if (place.kind === 'embedded') return (await import('./log/embedded-log.ts')).openEmbeddedLog(place)
  switch (place.client) {
    case 'official':
      return (await import('./log/kafka-log.ts')).openKafkaLog(place)
    case 'pinned':
      return (await import('./log/pinned-kafka-log.ts')).openPinnedKafkaLog(place)
  }
}

/** Opens the store alone. */
export async function openSessionStore(place: StorePlace, choice: StoreChoice): Promise<SessionStore> {
  switch (place.kind) {
    case 'redis':
      return (await import('./store/redis-store.ts')).openRedisStore(place, choice)
    case 'postgres':
      return (await import('./store/postgres-store.ts')).openPostgresStore(place, choice)
    case 'pglite':
      return (await import('./store/pglite-store.ts')).openPgliteStore(place, choice)
    case 'embedded':
      return (await import('./store/embedded-store.ts')).openEmbeddedStore(place, choice)
  }
}

function logName(place: LogPlace): string {
  if (place.kind === 'embedded') return `a log in files in ${place.dataDir}`
  return `Kafka ${place.brokers.join(',')} (${place.client} client)`
}
