import { connectPostgres } from '@tidemark/postgres/pg'
import type { PostgresPlace } from '../../settings/place-settings.ts'
import type { SessionStore, StoreChoice } from './session-store.ts'
import { openTables } from './session-tables.ts'

/** A Postgres server; without leave to create its tables, nothing is connected before the first question. */
export async function openPostgresStore(place: PostgresPlace, choice: StoreChoice): Promise<SessionStore> {
  const options = { deadlineMs: choice.ioDeadlineMs, applicationName: 'session-projection' }
  const database = connectPostgres(place.url, options)
  return openTables(database, `Postgres ${database.address}, schema ${place.schema}`, place.schema, choice)
}
