import { join } from 'node:path'
import { createEmbeddedLog } from '@tidemark/embedded'
import type { CommittedLog } from '@tidemark/log'
import type { EmbeddedLogPlace } from '../../settings/place-settings.ts'

/** The committed log in files; its writer is a process of its own. */
export function openEmbeddedLog(place: EmbeddedLogPlace): CommittedLog {
  return createEmbeddedLog({ directory: embeddedLogDirectory(place) })
}

/** The folder of the log inside the data folder. */
export function embeddedLogDirectory(place: EmbeddedLogPlace): string {
  return join(place.dataDir, 'log')
}
