import { createPostgresDataReader, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type { PostgresDatabase } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import type { ProjectionStoreWorld } from '@tidemark/testkit/contract'
import type { PostgresServer } from '@tidemark/testkit/service'
import { adminOf, damageOf, fingerprint, freshSchema, openStore } from './postgres-fixture.ts'

/** A fresh schema on a server of the test's own; `wrap` is where planted bugs go. */
export async function createPostgresWorld(
  server: PostgresServer,
  wrap: (database: PostgresDatabase) => PostgresDatabase = (database) => database,
): Promise<ProjectionStoreWorld> {
  if (server.state() !== 'running') await server.restart()
  const schema = freshSchema()
  const dataPrefix = 'data:'
  const database = connectPostgres(server.url, { deadlineMs: 5_000 })
  const adminDatabase = connectPostgres(server.url, { connectionsMax: 1 })
  const admin = adminOf(adminDatabase)
  await ensurePostgresTables({ database, schema })
  const reader = createPostgresDataReader({ database, schema, dataPrefix })
  return {
    openStore: async () => openStore(wrap(database), schema, { dataPrefix }),
    readData: (keys) => reader.readValues(keys),
    damage: damageOf(admin, schema, dataPrefix),
    fingerprint: () => fingerprint(admin, schema),
    async restart({ empty }) {
      await server.restart({ wipeData: empty })
      if (empty) await ensurePostgresTables({ database, schema })
    },
    async readQuarantine(topic, partition) {
      const key = `ns:quarantine:${topic}:${partition}`
      const rows = await admin(`SELECT entry FROM "${schema}".tidemark_quarantine WHERE key = $1`, [key])
      return rows.map(({ entry }) => String(entry))
    },
    async close() {
      await reader.close()
      await database.close()
      await adminDatabase.close()
    },
  }
}
