import { join } from 'node:path'
import { createEmbeddedDataReader, createEmbeddedProjectionStore, createEmbeddedStorage } from '@tidemark/embedded'
import type { EmbeddedStorePlace } from '../../settings/place-settings.ts'
import type { SessionStore, StoreChoice } from './session-store.ts'

/** Files with the one writer that opened them. */
export async function openEmbeddedStore(place: EmbeddedStorePlace, choice: StoreChoice): Promise<SessionStore> {
  const { namespace, dataPrefix } = choice
  const storage = await createEmbeddedStorage({ directory: join(place.dataDir, 'sessions'), durability: 'fsync' })
  return {
    name: `a store in files in ${place.dataDir}`,
    store: createEmbeddedProjectionStore({ storage, namespace, dataPrefix }),
    data: createEmbeddedDataReader({ storage, dataPrefix }),
    close: () => storage.close(),
  }
}
