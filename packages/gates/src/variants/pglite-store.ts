import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPglite } from '@tidemark/postgres/pglite'
import type { PgliteDatabase } from '@tidemark/postgres/pglite'
import { ensureSqlTables, openSqlWorld } from './sql-world.ts'
import type { RunSql } from './run-sql.ts'
import type { StoreSide } from './store-side.ts'

/** The embedded Postgres. It takes hundreds of megabytes, so the worlds of a file share one. */
export const pgliteStore: StoreSide = {
  name: 'pglite',
  writeModel: 'transactional',
  keyed: false,
  cuts: [],
  async open(place) {
    const { database, run } = await (shared ??= openShared())
    return openSqlWorld(place, {
      run,
      forProjection: () => database,
      openLine: () => Promise.reject(new Error('an embedded database has no connection')),
      close: async () => {},
    })
  },
  async closeShared() {
    const opened = await shared
    shared = undefined
    if (opened === undefined) return
    await opened.database.close()
    rmSync(opened.directory, { recursive: true, force: true })
  },
}

interface Shared {
  readonly directory: string
  readonly database: PgliteDatabase
  readonly run: RunSql
}

let shared: Promise<Shared> | undefined

async function openShared(): Promise<Shared> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-gates-'))
  const database = await openPglite({ directory })
  const run: RunSql = async (text, values = []) =>
    (await database.client.query<Record<string, unknown>>(text, [...values])).rows
  await ensureSqlTables(database, run)
  return { directory, database, run }
}
