import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { createPostgresDataReader, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import { openPglite } from '@tidemark/postgres/pglite'
import type { PgliteDatabase } from '@tidemark/postgres/pglite'
import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import type { ProjectionStoreWorld } from '@tidemark/testkit/contract'
import { adminOf, damageOf, fingerprint, freshSchema, openStore } from '../postgres-fixture.ts'

const directory = mkdtempSync(join(tmpdir(), 'tidemark-pglite-'))
let database: PgliteDatabase
beforeAll(async () => {
  database = await openPglite({ directory })
})
afterAll(async () => {
  await database?.close()
  rmSync(directory, { recursive: true, force: true })
})

/** One engine for all cases, since opening one takes seconds; every case has a schema of its own. */
async function makeWorld(): Promise<ProjectionStoreWorld> {
  const schema = freshSchema()
  const dataPrefix = 'data:'
  await ensurePostgresTables({ database, schema })
  const admin = adminOf(database)
  const reader = createPostgresDataReader({ database, schema, dataPrefix })
  return {
    openStore: async () => openStore(database, schema, { dataPrefix }),
    readData: (keys) => reader.readValues(keys),
    damage: damageOf(admin, schema, dataPrefix),
    fingerprint: () => fingerprint(admin, schema),
    async readQuarantine(topic, partition) {
      const rows = await admin(`SELECT entry FROM "${schema}".tidemark_quarantine WHERE key = $1`, [
        `ns:quarantine:${topic}:${partition}`,
      ])
      return rows.map(({ entry }) => String(entry))
    },
    async close() {
      await reader.close()
      await admin(`DROP SCHEMA "${schema}" CASCADE`)
    },
  }
}

registerCases(projectionStoreCases, makeWorld, {
  describe,
  it,
  subject: 'postgres on PGlite',
  capabilities: {
    damage: true,
    fingerprint: true,
    // Another opening of the directory is another process; the tests of the lock and of killed writers do that.
    restart: false,
    'empty-restart': false,
    'full-vocabulary': true,
    'fenced-writes': true,
    rollback: true,
    expiry: false,
    'quarantine-reading': true,
    'whole-bootstrap': true,
    'fenced-meta': true,
    'shared-keys': true,
    'one-process': true,
    'data-apart': false,
  },
})
