import {
  createPostgresDataReader,
  createPostgresProjectionStore,
  ensurePostgresTables,
} from '@tidemark/postgres/checkpoint'
import type { PostgresDatabase } from '@tidemark/postgres/checkpoint'
import type { SessionStore, StoreChoice } from './session-store.ts'

/** The store and its reader on the tables of a database, which is closed with them. */
export async function openTables(
  database: PostgresDatabase,
  name: string,
  schema: string,
  choice: StoreChoice,
): Promise<SessionStore> {
  const { dataPrefix, namespace } = choice
  try {
    if (choice.createTables) await ensurePostgresTables({ database, schema })
    // Sessions are written in the common vocabulary only, where the store looks by itself: no table of ours could hold more.
    const isEmpty = async (): Promise<boolean> => true
    const store = createPostgresProjectionStore({ database, schema, namespace, dataPrefix, isEmpty })
    const data = createPostgresDataReader({ database, schema, dataPrefix })
    return { name, store, data, close: () => data.close().finally(() => database.close()) }
  } catch (error) {
    await database.close()
    throw error
  }
}
