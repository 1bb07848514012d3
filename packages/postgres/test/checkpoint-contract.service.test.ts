import { afterAll, beforeAll, describe, it } from 'vitest'
import { connectPostgres } from '@tidemark/postgres/pg'
import { createPostgresDataReader, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import type { ProjectionStoreWorld } from '@tidemark/testkit/contract'
import { startPostgres } from '@tidemark/testkit/service'
import type { PostgresServer } from '@tidemark/testkit/service'
import { adminOf, damageOf, fingerprint, freshSchema, openStore } from './postgres-fixture.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(async () => {
  await server?.close()
})

async function makeWorld(): Promise<ProjectionStoreWorld> {
  if (server.state() !== 'running') await server.restart()
  const schema = freshSchema()
  const dataPrefix = 'data:'
  const database = connectPostgres(server.url, { deadlineMs: 5_000 })
  const adminDatabase = connectPostgres(server.url, { connectionsMax: 1 })
  const admin = adminOf(adminDatabase)
  await ensurePostgresTables({ database, schema })
  const reader = createPostgresDataReader({ database, schema, dataPrefix })
  return {
    openStore: async () => openStore(database, schema, { dataPrefix }),
    readData: (keys) => reader.readValues(keys),
    damage: damageOf(admin, schema, dataPrefix),
    fingerprint: () => fingerprint(admin, schema),
    async restart({ empty }) {
      await server.restart({ wipeData: empty })
      if (empty) await ensurePostgresTables({ database, schema })
    },
    async readQuarantine(topic, partition) {
      const rows = await admin(`SELECT entry FROM "${schema}".tidemark_quarantine WHERE key = $1`, [
        `ns:quarantine:${topic}:${partition}`,
      ])
      return rows.map(({ entry }) => String(entry))
    },
    async close() {
      await reader.close()
      await database.close()
      await adminDatabase.close()
    },
  }
}

registerCases(projectionStoreCases, makeWorld, {
  describe,
  it,
  subject: 'postgres',
  capabilities: {
    damage: true,
    fingerprint: true,
    restart: true,
    'empty-restart': true,
    'full-vocabulary': true,
    'fenced-writes': true,
    rollback: true,
    expiry: false,
    'quarantine-reading': true,
  },
})
