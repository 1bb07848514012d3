import { join } from 'node:path'
import {
  createEmbeddedDataReader,
  createEmbeddedLog,
  createEmbeddedProjectionStore,
  createEmbeddedStorage,
} from '@tidemark/embedded'
import type { CommittedLog } from '@tidemark/log'
import type { LogPlace } from '../settings/place-settings.ts'
import type { BackendChoice, SessionBackend } from './session-backend.ts'

type EmbeddedPlace = Extract<LogPlace, { kind: 'embedded' }>

/** Files: a log and a store beside each other, each with the one writer that opened it. */
export async function openEmbeddedBackend(choice: BackendChoice, place: EmbeddedPlace): Promise<SessionBackend> {
  const { namespace, dataPrefix } = choice
  const storage = await createEmbeddedStorage({ directory: join(place.dataDir, 'sessions'), durability: 'fsync' })
  return {
    name: `embedded log and store in ${place.dataDir}`,
    log: openEmbeddedLog(place),
    store: createEmbeddedProjectionStore({ storage, namespace, dataPrefix }),
    data: createEmbeddedDataReader({ storage, dataPrefix }),
    close: () => storage.close(),
  }
}

/** The committed log in files; its writer is a process of its own. */
export function openEmbeddedLog(place: EmbeddedPlace): CommittedLog {
  return createEmbeddedLog({ directory: embeddedLogDirectory(place) })
}

/** The folder of the log inside the data folder. */
export function embeddedLogDirectory(place: EmbeddedPlace): string {
  return join(place.dataDir, 'log')
}
