import { randomBytes } from 'node:crypto'
import { embeddedErrors } from '../errors.ts'
import type { EmbeddedStorage } from './embedded-storage.ts'
import { readKeyspaceFiles } from './keyspace-files.ts'
import { durabilityOf } from './synced-mark.ts'

/** Which storage directory to look into. */
export interface EmbeddedStorageViewOptions {
  readonly directory: string
}

/**
 * A storage directory as it stood when it was opened, read beside its writer or without one.
 *
 * Takes no lock, writes nothing, creates nothing, and does not follow later steps: stores and readers on it see one moment,
 * and whatever would write is refused. Durability is that of the writer whose steps are shown, as the directory tells it.
 * Cost: reads snapshot and journal; the data lives in memory while open. Promises: EMB-19.
 * @throws {TidemarkError} TM_EMBEDDED_STORAGE_MISSING, TM_EMBEDDED_DAMAGED, TM_EMBEDDED_FORMAT_UNKNOWN,
 *   TM_EMBEDDED_DIRECTORY_FOREIGN, TM_EMBEDDED_IO_FAILED
 */
export async function createEmbeddedStorageView(options: EmbeddedStorageViewOptions): Promise<EmbeddedStorage> {
  const { directory } = options
  const { data } = await readKeyspaceFiles(directory)
  const durability = durabilityOf(directory)
  let closed = false
  const requireOpen = (): void => {
    if (closed) throw embeddedErrors.create('TM_EMBEDDED_CLOSED', { what: 'the view of the embedded storage' })
  }
  return {
    directory,
    durability,
    process: randomBytes(16).toString('hex'),
    get data() {
      requireOpen()
      return data
    },
    step() {
      return Promise.reject(embeddedErrors.create('TM_EMBEDDED_READ_ONLY', { directory }))
    },
    async settle() {
      requireOpen()
    },
    async close() {
      closed = true
    },
  }
}
