import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openPglite } from '@tidemark/postgres/pglite'
import type { PglitePlace } from '../../settings/place-settings.ts'
import type { SessionStore, StoreChoice } from './session-store.ts'
import { openTables } from './session-tables.ts'

/** An embedded Postgres in a directory that this process alone has open. */
export async function openPgliteStore(place: PglitePlace, choice: StoreChoice): Promise<SessionStore> {
  const { directory, schema } = place
  // Opening creates what is missing; whoever only looks must not turn a mistyped path into a database.
  if (!choice.createTables && !existsSync(join(directory, 'created'))) {
    throw new Error(`no PGlite database stands in ${directory}`)
  }
  const database = await openPglite({ directory, deadlineMs: choice.ioDeadlineMs })
  return openTables(database, `PGlite in ${directory}`, schema, choice)
}
