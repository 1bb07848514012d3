import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type { PostgresDatabase } from '@tidemark/postgres/checkpoint'
import { connectPostgres, fromPgPool } from '@tidemark/postgres/pg'
import { startPostgres } from '@tidemark/testkit/service'
import type { PostgresServer } from '@tidemark/testkit/service'
import {
  adminOf,
  advance,
  claim,
  fingerprint,
  freshSchema,
  openStore,
  readRequest,
  startFresh,
} from './postgres-fixture.ts'
import type { Admin, Claimed } from './postgres-fixture.ts'

let server: PostgresServer
let database: PostgresDatabase
let admin: Admin
beforeAll(async () => {
  server = await startPostgres({ password: 'right' })
  database = connectPostgres(urlOf('postgres', 'right'))
  admin = adminOf(database)
})
afterAll(async () => {
  await database?.close()
  await server?.close()
})

function urlOf(user: string, password: string, name: string = 'postgres'): string {
  return `postgres://${user}:${password}@${server.host}:${server.port}/${name}`
}

/** Every call of a store, each expected to fail with the same code. */
async function allFail(claimed: Claimed, code: string): Promise<void> {
  const { store } = claimed
  const write = (w: { sadd(key: string, member: string): void }): void => w.sadd('s', 'm')
  await expect(store.read(readRequest)).rejects.toMatchObject({ code })
  await expect(store.claim(readRequest)).rejects.toMatchObject({ code })
  await expect(advance(claimed, { from: 0, to: 1, write })).rejects.toMatchObject({ code })
}

describe('tables that are not as they should be', () => {
  it('[PGS-17] missing: each call says so, with the remedy', async () => {
    const schema = freshSchema()
    const claimed = { ...(await startFresh(database)), store: openStore(database, schema) }
    await allFail(claimed, 'TM_POSTGRES_TABLES_MISSING')
    await expect(claimed.store.read(readRequest)).rejects.toMatchObject({
      remedy: expect.stringContaining('ensurePostgresTables'),
    })
  })

  it.each([
    ['a column is gone', 'ALTER TABLE fence DROP COLUMN fence'],
    ['a column was renamed', 'ALTER TABLE checkpoint RENAME COLUMN next_offset TO next'],
    [
      'a column has another type',
      'ALTER TABLE checkpoint ALTER COLUMN next_offset TYPE bigint USING next_offset::bigint',
    ],
    ['a primary key is gone', 'ALTER TABLE data DROP CONSTRAINT tidemark_data_pkey'],
  ])('[PGS-17] %s: no step is made and no byte changes', async (_, change) => {
    const claimed = await startFresh(database)
    await admin(change.replace(/ (fence|checkpoint|data) /, ` "${claimed.schema}".tidemark_$1 `))
    const before = await fingerprint(admin, claimed.schema)
    const outcome = await advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }).then(
      ({ kind }) => kind,
      (error: unknown) => (error as { code: string }).code,
    )
    expect(['conflict', 'TM_POSTGRES_TABLES_WRONG']).toContain(outcome)
    expect(await fingerprint(admin, claimed.schema)).toBe(before)
  })

  it('[PGS-5] NULLs, other types and unknown columns are read as what they are: missing, unreadable, unknown', async () => {
    const { schema, store } = await startFresh(database)
    const checkpoint = `"${schema}".tidemark_checkpoint`
    await admin(`UPDATE ${checkpoint} SET cluster_id = NULL WHERE key = 'ns:checkpoint:dispatch:0'`)
    await admin(`ALTER TABLE ${checkpoint} ADD COLUMN epoch text, ALTER COLUMN partition TYPE int USING partition::int`)
    await admin(`UPDATE ${checkpoint} SET epoch = '4', partition = NULL WHERE key = 'ns:checkpoint:dispatch:1'`)
    const state = await store.read(readRequest)
    expect(state.checkpoints.get(1)).toMatchObject({ epoch: '4', next_offset: '0' })
    expect(Object.keys(state.checkpoints.get(1)!)).not.toContain('partition')
    expect(state.unreadable.map(({ key }) => key).sort()).toEqual([
      'ns:checkpoint:dispatch:0',
      'ns:checkpoint:dispatch:2',
    ])
  })

  it('[PGS-5] a checkpoint of another topic in the namespace, and strays however far, are found', async () => {
    const { schema, store } = await startFresh(database)
    await admin(`INSERT INTO "${schema}".tidemark_checkpoint (key, next_offset) VALUES ('ns:checkpoint:other:0', '1')`)
    await admin(
      `INSERT INTO "${schema}".tidemark_checkpoint (key, next_offset) VALUES ('ns:checkpoint:dispatch:99999', '1')`,
    )
    await admin(
      `INSERT INTO "${schema}".tidemark_checkpoint (key, next_offset) VALUES ('ns:checkpoint:x:checkpoint:dispatch:0', '1')`,
    )
    const state = await store.read(readRequest)
    expect([...state.checkpoints.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 99_999])
    expect(state.unreadable).toMatchObject([{ key: 'ns:checkpoint:other:0' }])
  })

  it('[PGS-16] a table that is not logged is one whose rows the server may drop', async () => {
    const { schema, store } = await startFresh(database)
    await admin(`ALTER TABLE "${schema}".tidemark_data SET UNLOGGED`)
    expect((await store.read(readRequest)).facts.eviction).toEqual({
      policy: 'not logged: tidemark_data',
      kind: 'any-key',
    })
  })

  it('[PGS-13] a key of another kind, a number that is none: the step fails and leaves nothing', async () => {
    const claimed = await startFresh(database)
    await advance(claimed, { from: 0, to: 1, write: (w) => w.set('k', '1e3') })
    const before = await fingerprint(admin, claimed.schema)
    await expect(advance(claimed, { from: 1, to: 2, write: (w) => w.setIfGreater('k', 5n) })).rejects.toMatchObject({
      code: 'TM_POSTGRES_VALUE_NOT_A_NUMBER',
      details: { key: 'k', found: '1e3' },
    })
    await expect(
      advance(claimed, {
        from: 1,
        to: 2,
        write(w) {
          w.sadd('new', 'm')
          w.hset('k', 'f', 'v')
        },
      }),
    ).rejects.toMatchObject({ code: 'TM_POSTGRES_WRONG_KIND', details: { key: 'k', due: 'hash', found: 'string' } })
    expect(await fingerprint(admin, claimed.schema)).toBe(before)
  })
})

describe('servers and roles that are not right', () => {
  it('[PGS-17] [PGS-3] wrong credentials and a database that is not there, without a word of the password', async () => {
    for (const [url, code] of [
      [urlOf('postgres', 'wrong-secret'), 'TM_POSTGRES_AUTH_FAILED'],
      [urlOf('postgres', 'right', 'nowhere'), 'TM_POSTGRES_DATABASE_WRONG'],
      ['postgres://postgres:wrong-secret@127.0.0.1:1/postgres', 'TM_POSTGRES_CONNECT_FAILED'],
    ] as const) {
      const wrong = connectPostgres(url)
      const error: unknown = await openStore(wrong, 'any')
        .read(readRequest)
        .catch((caught: unknown) => caught)
      expect(error).toMatchObject({ code })
      expect(JSON.stringify(error) + String(error)).not.toContain('wrong-secret')
      await wrong.close()
    }
  })

  it('[PGS-16] another database than the one named: told at the start, never written to', async () => {
    const pool = new pg.Pool({ connectionString: urlOf('postgres', 'right'), max: 2 })
    const elsewhere = fromPgPool(pool, { database: 'production' })
    const claimed = await startFresh(database)
    const store = openStore(elsewhere, claimed.schema)
    const before = await fingerprint(admin, claimed.schema)
    expect((await store.read(readRequest)).facts.database).toEqual({ expected: 'production', found: 'postgres' })
    const code = 'TM_POSTGRES_DATABASE_WRONG'
    await expect(store.claim(readRequest)).rejects.toMatchObject({ code })
    await expect(advance({ ...claimed, store }, { from: 0, to: 1 })).rejects.toMatchObject({ code })
    await expect(ensurePostgresTables({ database: elsewhere, schema: freshSchema() })).rejects.toMatchObject({ code })
    expect(await fingerprint(admin, claimed.schema)).toBe(before)
    await elsewhere.close()
    await pool.end()
  })

  it('[PGS-15] [PGS-17] a database that cannot hold every text is refused before anything is created', async () => {
    await admin(`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
    const latin = connectPostgres(urlOf('postgres', 'right', 'latin'))
    await expect(ensurePostgresTables({ database: latin })).rejects.toMatchObject({
      code: 'TM_POSTGRES_ENCODING_UNSUPPORTED',
      details: { encoding: 'LATIN1' },
    })
    await latin.close()
  })

  it("[PGS-2] the host's own pool is used as it is and left as it was", async () => {
    const pool = new pg.Pool({ connectionString: urlOf('postgres', 'right'), max: 2 })
    const shared = fromPgPool(pool, { database: 'postgres', deadlineMs: 3_000 })
    const claimed = await startFresh(shared)
    for (const next of [0, 1]) {
      const write = (w: { sadd(key: string, member: string): void }): void => w.sadd('s', `m${next}`)
      expect(await advance(claimed, { from: next, to: next + 1, write })).toEqual({ kind: 'advanced', resent: false })
    }
    const { rows } = await pool.query<{ s: string; l: string }>(
      `SELECT current_setting('statement_timeout') AS s, current_setting('lock_timeout') AS l`,
    )
    expect(rows).toEqual([{ s: '0', l: '0' }])
    await claimed.store.close()
    await shared.close()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })

  it('[PGS-17] a role without rights: each call says so, and nothing is half-written', async () => {
    const claimed = await startFresh(database)
    await admin(`CREATE ROLE reader LOGIN PASSWORD 'reads'`)
    await admin(`GRANT USAGE ON SCHEMA "${claimed.schema}" TO reader`)
    await admin(`GRANT SELECT ON ALL TABLES IN SCHEMA "${claimed.schema}" TO reader`)
    const weak = connectPostgres(urlOf('reader', 'reads'))
    const store = openStore(weak, claimed.schema)
    const before = await fingerprint(admin, claimed.schema)
    expect((await store.read(readRequest)).meta).toBeDefined()
    const code = 'TM_POSTGRES_PERMISSION_DENIED'
    await expect(store.claim(readRequest)).rejects.toMatchObject({ code })
    await expect(advance({ ...claimed, store }, { from: 0, to: 1 })).rejects.toMatchObject({ code })
    await expect(ensurePostgresTables({ database: weak, schema: freshSchema() })).rejects.toMatchObject({ code })
    expect(await fingerprint(admin, claimed.schema)).toBe(before)
    // The rights that the README lists suffice.
    await admin(`GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${claimed.schema}" TO reader`)
    const allowed = await claim(store)
    expect(await advance(allowed, { from: 0, to: 1, write: (w) => w.set('k', 'v') })).toMatchObject({
      kind: 'advanced',
    })
    await weak.close()
  })

  it('[PGS-16] settings that weaken a commit are reported, and a role that may not write is no primary', async () => {
    const { store, schema } = await startFresh(database)
    const durability = async (): Promise<string> => (await store.read(readRequest)).facts.durability
    // The test server forces nothing to disk.
    expect(await durability()).toBe('server')
    await admin(`CREATE ROLE lazy LOGIN PASSWORD 'lazy' SUPERUSER`)
    await admin(`ALTER ROLE lazy SET default_transaction_read_only = on`)
    const lazy = connectPostgres(urlOf('lazy', 'lazy'))
    const state = await openStore(lazy, schema).read(readRequest)
    expect(state.facts.isPrimary).toBe(false)
    await expect(openStore(lazy, schema).claim(readRequest)).rejects.toMatchObject({ code: 'TM_POSTGRES_READ_ONLY' })
    await lazy.close()
  })

  it('[PGS-16] [PGS-17] a standby: reported at the start, and every write refused', async () => {
    const claimed = await startFresh(database)
    const before = await claimed.store.read(readRequest)
    await server.restart({ standby: true, config: { hot_standby: 'on' } })
    try {
      const state = await claimed.store.read(readRequest)
      expect(state.facts.isPrimary).toBe(false)
      expect(state.incarnation.process).not.toBe(before.incarnation.process)
      const code = 'TM_POSTGRES_READ_ONLY'
      await expect(claimed.store.claim(readRequest)).rejects.toMatchObject({ code })
      await expect(advance(claimed, { from: 0, to: 1 })).rejects.toMatchObject({ code })
    } finally {
      await server.restart({ standby: false })
    }
  })
})
