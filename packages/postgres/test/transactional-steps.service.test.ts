import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namespaceOf, planStart } from '@tidemark/checkpoint'
import type { StoredState } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { createPostgresDataReader, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type { EmptyQuestion, PostgresDatabase, TransactionalWriter } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import { openPglite } from '@tidemark/postgres/pglite'
import { sharedPostgresUrl } from '@tidemark/testkit/service'
import {
  adminOf,
  advance,
  claim,
  fingerprint,
  freshSchema,
  identity,
  openStore,
  readRequest,
  request,
  start,
  startFresh,
} from './postgres-fixture.ts'
import type { Admin, Claimed } from './postgres-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidemark-pglite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const subjects: readonly (readonly [string, () => Promise<PostgresDatabase>])[] = [
  ['Postgres', async () => connectPostgres(await sharedPostgresUrl(), { deadlineMs: 10_000 })],
  ['PGlite', () => openPglite({ directory: folder })],
]

describe.each(subjects)('a transactional projection on %s', (subject, open) => {
  let database: PostgresDatabase
  let admin: Admin
  beforeAll(async () => {
    database = await open()
    admin = adminOf(database)
  })
  afterAll(async () => {
    await database?.close()
  })

  /** A started projection with a table of the host's own beside it, in which amounts are added up. */
  async function startSums(): Promise<
    Claimed & { readonly schema: string; readonly sum: () => Promise<string | undefined> }
  > {
    const started = await startFresh(database)
    await admin(
      `CREATE TABLE "${started.schema}".sums (name text PRIMARY KEY, amount bigint NOT NULL CHECK (amount < 1000))`,
    )
    const sum = async () => {
      const rows = await admin(`SELECT amount::text AS amount FROM "${started.schema}".sums WHERE name = 'all'`)
      return rows[0]?.['amount'] as string | undefined
    }
    return { ...started, sum }
  }

  const add =
    (schema: string, amount: number) =>
    (w: TransactionalWriter): void =>
      w.sql(
        `INSERT INTO "${schema}".sums AS s VALUES ('all', $1) ON CONFLICT (name) DO UPDATE SET amount = s.amount + excluded.amount`,
        [amount],
      )

  it('[PGS-14] [CKP-21] a sum is added once, however often its step is sent', async () => {
    const { schema, sum, ...claimed } = await startSums()
    const first = request(claimed, { from: 0, to: 2, write: add(schema, 40) })
    expect(await claimed.store.advance(first)).toEqual({ kind: 'advanced', resent: false })
    for (let again = 0; again < 3; again += 1) {
      expect(await claimed.store.advance(first)).toEqual({ kind: 'advanced', resent: true })
    }
    expect(await advance(claimed, { from: 2, to: 3, write: add(schema, 2) })).toEqual({
      kind: 'advanced',
      resent: false,
    })
    expect(await sum()).toBe('42')
  })

  it('[PGS-14] statements see the vocabulary written before them, and later writes see them', async () => {
    const { schema, sum: _, ...claimed } = await startSums()
    const data = `"${schema}".tidemark_data`
    await advance(claimed, {
      from: 0,
      to: 1,
      write(w) {
        w.zadd('z', 'GT', 5, 'm')
        w.sql(`UPDATE ${data} SET score = score + $1 WHERE key = $2`, [10, 'z'])
        w.zadd('z', 'GT', 12, 'm')
        w.sql(`INSERT INTO "${schema}".sums SELECT 'seen', score FROM ${data} WHERE key = 'z'`)
      },
    })
    expect(await admin(`SELECT amount::text AS amount FROM "${schema}".sums`)).toEqual([{ amount: '15' }])
  })

  it('[PGS-13] [CKP-23] [A1] a statement that fails undoes the whole step, and the step can be made again', async () => {
    const { schema, sum, ...claimed } = await startSums()
    await advance(claimed, { from: 0, to: 1, write: add(schema, 990) })
    const before = await fingerprint(admin, schema)
    const both = (w: TransactionalWriter): void => {
      w.sadd('s', 'written before')
      add(schema, 20)(w)
      w.sadd('s', 'written after')
    }
    await expect(advance(claimed, { from: 1, to: 2, write: both })).rejects.toMatchObject({
      code: 'TM_POSTGRES_STATEMENT_FAILED',
      details: { operation: 'advance', sqlState: '23514' },
    })
    expect(await fingerprint(admin, schema)).toBe(before)
    expect(await sum()).toBe('990')
    await admin(`UPDATE "${schema}".sums SET amount = 0`)
    expect(await advance(claimed, { from: 1, to: 2, write: both })).toEqual({ kind: 'advanced', resent: false })
    expect(await sum()).toBe('20')
  })

  it('[PGS-9] [PGS-14] a step with statements that is lost, fenced or of another process has run none of them', async () => {
    const { schema, sum, ...older } = await startSums()
    await advance(older, { from: 0, to: 1, write: add(schema, 1) })
    expect((await advance(older, { from: 0, to: 5, write: add(schema, 100) })).kind).toBe('conflict')
    expect((await advance(older, { from: 1, to: 2, process: 'another', write: add(schema, 100) })).kind).toBe(
      'process-changed',
    )
    await claim(openStore(database, schema))
    expect((await advance(older, { from: 1, to: 2, write: add(schema, 100) })).kind).toBe('fenced')
    expect(await sum()).toBe('1')
  })

  it('[PGS-11] a step that ends where it began cannot be told from one that was made, so its writes are refused', async () => {
    const { schema, sum, ...claimed } = await startSums()
    await expect(advance(claimed, { from: 0, to: 0, write: add(schema, 1) })).rejects.toMatchObject({
      code: 'TM_CORE_INVARIANT_VIOLATED',
    })
    expect(await sum()).toBeUndefined()
  })

  describe('the first start', () => {
    const boot = async (
      schema: string,
      more: { isEmpty?: (tx: EmptyQuestion) => Promise<boolean>; dataPrefix?: string },
    ) => {
      const { store, fences } = await claim(openStore(database, schema, more))
      return store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
    }
    const nothingCreated = async (schema: string): Promise<void> => {
      const state = await openStore(database, schema).read(readRequest)
      expect([state.meta, state.checkpoints.size, state.incarnation.nonce]).toEqual([undefined, 0, undefined])
    }

    it('[A3] [PGS-8] is refused while the host or the store finds data, and creates nothing', async () => {
      const schema = freshSchema()
      await ensurePostgresTables({ database, schema })
      await admin(`CREATE TABLE "${schema}".sums (amount bigint)`)
      await admin(`INSERT INTO "${schema}".sums VALUES (7)`)
      const isEmpty = async (tx: EmptyQuestion): Promise<boolean> =>
        (await tx.query(`SELECT EXISTS (SELECT FROM "${schema}".sums WHERE amount > $1) AS found`, [0]))[0]?.[
          'found'
        ] === false
      expect((await boot(schema, { isEmpty })).kind).toBe('not-empty')
      await nothingCreated(schema)
      await admin(`DELETE FROM "${schema}".sums`)
      await admin(`INSERT INTO "${schema}".tidemark_data VALUES ('p:left', 's', 'm')`)
      expect(await boot(schema, { isEmpty, dataPrefix: 'p:' })).toMatchObject({ kind: 'not-empty', key: 'p:left' })
      expect(await boot(schema, { isEmpty })).toMatchObject({ kind: 'not-empty', key: 'p:left' })
      await nothingCreated(schema)
      // Data of another prefix is another projection's.
      expect(await boot(schema, { isEmpty, dataPrefix: 'q:' })).toEqual({ kind: 'created' })
    })

    it('[A3] a lost checkpoint of a transactional projection is not replayed: MISSING_CHECKPOINT', async () => {
      const { schema, store } = await startFresh(database)
      await admin(`DELETE FROM "${schema}".tidemark_checkpoint WHERE key = 'ns:checkpoint:dispatch:1'`)
      expect(reasons(await store.read(readRequest))).toEqual(['MISSING_CHECKPOINT@1'])
    })

    it('[PGS-8] needs a clear answer: a question that fails, is swallowed or is no answer creates nothing', async () => {
      const schema = freshSchema()
      await ensurePostgresTables({ database, schema })
      const questions: readonly (readonly [(tx: EmptyQuestion) => Promise<boolean>, string])[] = [
        [() => Promise.reject(new Error('no idea')), 'TM_POSTGRES_IS_EMPTY_FAILED'],
        [(tx) => tx.query('SELECT FROM nowhere').then(() => true), 'TM_POSTGRES_STATEMENT_FAILED'],
        [
          (tx) =>
            tx.query('SELECT 1/0').then(
              () => true,
              () => true,
            ),
          'TM_POSTGRES_STATEMENT_FAILED',
        ],
        [async () => 'yes' as unknown as boolean, 'TM_POSTGRES_REPLY_MALFORMED'],
      ]
      for (const [isEmpty, code] of questions) {
        await expect(boot(schema, { isEmpty })).rejects.toMatchObject({ code })
        await nothingCreated(schema)
      }
    })
  })

  describe('data and checkpoints that were parted', () => {
    it('[CK-46] [PGS-19] data emptied or set back beside its checkpoint: DATA_TWIN, and a live writer stops', async () => {
      const [schema, dataSchema] = [freshSchema(), freshSchema()]
      const claimed = await startFresh(database, { schema, dataSchema })
      expect(await advance(claimed, { from: 0, to: 5, write: (w) => w.sadd('s', 'm') })).toMatchObject({
        kind: 'advanced',
      })
      expect(reasons(await claimed.store.read(readRequest))).toEqual([])
      // A restore of the data's schema from before the step.
      await admin(`UPDATE "${dataSchema}".tidemark_twin SET next_offset = '3' WHERE key = 'ns:twin:dispatch:0'`)
      await admin(`DELETE FROM "${dataSchema}".tidemark_data`)
      expect(reasons(await claimed.store.read(readRequest))).toEqual(['DATA_TWIN@0'])
      await admin(`DELETE FROM "${dataSchema}".tidemark_twin`)
      expect(reasons(await claimed.store.read(readRequest))).toEqual(['DATA_TWIN@0', 'DATA_TWIN@1', 'DATA_TWIN@2'])
      const outcome = await advance(claimed, { from: 5, to: 6, write: (w) => w.sadd('s', 'late') })
      expect(outcome).toMatchObject({ kind: 'conflict', key: 'ns:twin:dispatch:0' })
      expect(await admin(`SELECT key FROM "${dataSchema}".tidemark_data`)).toEqual([])
    })
  })

  it('[PGS-20] a step inside a transaction of the caller is kept or undone with it', async () => {
    const { schema, sum, ...claimed } = await startSums()
    const within = async (keep: boolean) => {
      const connection = await database.acquire()
      await connection.script('BEGIN')
      const write = (w: TransactionalWriter): void => w.sadd('s', 'm')
      const outcome = await claimed.store.advanceIn(connection, request(claimed, { from: 0, to: 4, write }))
      await connection.query({ text: `INSERT INTO "${schema}".sums VALUES ('all', 1)`, values: [] })
      await connection.script(keep ? 'COMMIT' : 'ROLLBACK')
      connection.release()
      return outcome
    }
    const before = await fingerprint(admin, schema)
    expect(await within(false)).toEqual({ kind: 'advanced', resent: false })
    expect(await fingerprint(admin, schema)).toBe(before)
    expect(await within(true)).toEqual({ kind: 'advanced', resent: false })
    expect(await sum()).toBe('1')
    const { checkpoints } = await claimed.store.read(readRequest)
    expect(checkpoints.get(0)?.['next_offset']).toBe('4')
  })

  it('[PGS-7] a claim takes every fence at once, one epoch above the stored one, and replaces what is damaged', async () => {
    const { schema, fences, store } = await startFresh(database)
    const fence = `"${schema}".tidemark_fence`
    await admin(`UPDATE ${fence} SET fence = 'damaged' WHERE key = 'ns:fence:dispatch:1'`)
    await admin(`UPDATE ${fence} SET fence = '41:' || split_part(fence, ':', 2) WHERE key = 'ns:fence:dispatch:2'`)
    const claimed = await store.claim(readRequest)
    expect([0, 1, 2].map((partition) => claimed.fences.get(partition)!.epoch)).toEqual([2n, 1n, 42n])
    const nonces = [...fences.values(), ...claimed.fences.values()].map(({ nonce }) => nonce)
    expect(new Set(nonces).size).toBe(6)
  })

  it('[PGS-18] data is read in the order asked; a key that holds two kinds is an error that names it', async () => {
    const claimed = await startFresh(database)
    await advance(claimed, {
      from: 0,
      to: 1,
      write(w) {
        w.zadd('z', 'GT', -7, 'm')
        w.set('t', 'text')
        w.hset('h', 'f', '')
      },
    })
    const reader = createPostgresDataReader({ database, schema: claimed.schema })
    expect(await reader.readValues(['t', 'none', 'z', 't'])).toEqual([
      { kind: 'string', value: 'text' },
      { kind: 'absent' },
      { kind: 'sorted-set', scores: new Map([['m', -7]]) },
      { kind: 'string', value: 'text' },
    ])
    expect(await reader.readValues([])).toEqual([])
    await admin(`INSERT INTO "${claimed.schema}".tidemark_data (key, kind, name) VALUES ('h', 's', 'm')`)
    await expect(reader.readValues(['t', 'h'])).rejects.toMatchObject({
      code: 'TM_POSTGRES_WRONG_KIND',
      details: { key: 'h' },
    })
    // The next write of that key is refused, too, whichever of the two kinds it is.
    for (const write of [
      (w: TransactionalWriter) => w.sadd('h', 'x'),
      (w: TransactionalWriter) => w.hset('h', 'f', 'x'),
    ]) {
      await expect(advance(claimed, { from: 1, to: 2, write })).rejects.toMatchObject({
        code: 'TM_POSTGRES_WRONG_KIND',
      })
    }
    await reader.close()
  })

  it('[PGS-12] steps of many partitions at once add up, and each moves only its own checkpoint', async () => {
    const { schema, sum, ...claimed } = await startSums()
    const lane = async (partition: number): Promise<void> => {
      for (let next = 0; next < 10; next += 1) {
        const write = (w: TransactionalWriter): void => {
          add(schema, 1)(w)
          w.zadd('shared', 'GT', next, `p${partition}`)
        }
        expect(await advance(claimed, { partition, from: next, to: next + 1, write })).toMatchObject({
          kind: 'advanced',
        })
      }
    }
    await Promise.all([0, 1, 2].map(lane))
    expect(await sum()).toBe('30')
  })

  it(`[PGS-16] says of itself what it is: ${subject}`, async () => {
    const { store } = await startFresh(database)
    const { facts, incarnation } = await store.read(readRequest)
    expect(facts).toMatchObject({
      durability: subject === 'PGlite' ? 'process' : 'fsync',
      isPrimary: true,
      isLoaded: true,
      eviction: { policy: 'none', kind: 'keeps-all' },
      database: { expected: 'postgres', found: 'postgres' },
    })
    expect(incarnation.process).toMatch(/^[0-9]+:[0-9.]+:[0-9A-F]{8}/)
    expect([store.writeModel, store.writesCommute]).toEqual(['transactional', false])
  })

  it('[PGS-4] tables are ensured once, by any number of callers at once', async () => {
    const schema = freshSchema()
    const all = await Promise.all([1, 2, 3, 4].map(() => ensurePostgresTables({ database, schema })))
    expect(all.filter(({ created }) => created)).toHaveLength(1)
    const claimed = await start(openStore(database, schema))
    const before = await fingerprint(admin, schema)
    expect(await ensurePostgresTables({ database, schema })).toEqual({ created: false })
    expect(await fingerprint(admin, schema)).toBe(before)
    await admin(`UPDATE "${schema}".tidemark_version SET layout = '2'`)
    await expect(ensurePostgresTables({ database, schema })).rejects.toMatchObject({ code: 'TM_POSTGRES_TABLES_NEWER' })
    await expect(claimed.store.read(readRequest)).rejects.toMatchObject({ code: 'TM_POSTGRES_TABLES_NEWER' })
  })
})

/** The refusals of a start from stored state over a log of 0 to 10, as `CODE@partition`. */
function reasons(stored: StoredState): readonly string[] {
  const verdict = planStart({
    namespace: namespaceOf('ns'),
    topic: identity.topic,
    readyTarget: 'hw',
    writeModel: 'transactional',
    declarations: { dataKeysCarryNoExpiry: false, latestRecordPerKeySuffices: false },
    stored: { ...stored, witnesses: new Map() },
    identity: { kind: 'proven', identity },
    bounds: {
      kind: 'bounds',
      partitions: [0, 1, 2].map((partition) => ({
        partition,
        low: offsetOf(0),
        lastStableOffset: offsetOf(10),
        highWatermark: offsetOf(10),
      })),
    },
    settings: { kind: 'settings', settings: { retentionMs: 1n, compacted: false, cleanupPolicy: 'delete' } },
    readBacks: [],
  })
  return verdict.kind === 'start' ? [] : verdict.refusals.map(({ code, partition }) => `${code}@${partition}`)
}
