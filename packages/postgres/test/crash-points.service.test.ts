import { afterAll, beforeAll, expect, describe, it } from 'vitest'
import { ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type { PostgresConnection, PostgresDatabase, TransactionalWriter } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import { sharedPostgresUrl } from '@tidemark/testkit/service'
import { adminOf, advance, claim, freshSchema, openStore, readRequest, start } from './postgres-fixture.ts'
import type { Admin } from './postgres-fixture.ts'

let database: PostgresDatabase
let admin: Admin
beforeAll(async () => {
  database = connectPostgres(await sharedPostgresUrl())
  admin = adminOf(database)
})
afterAll(async () => {
  await database?.close()
})

type Moment = 'before' | 'after'

/** A process that ends at its n-th awaited call of the database, just before it or just after the server has done it. */
function dyingAt(call: number, moment: Moment): { readonly database: PostgresDatabase; readonly calls: () => number } {
  let calls = 0
  let dead = false
  const dying = async <T>(end: () => void, work: () => Promise<T>): Promise<T> => {
    calls += 1
    const dies = !dead && calls === call
    if (dead || (dies && moment === 'before')) {
      dead = true
      end()
      throw new Error('the process has ended')
    }
    const result = await work()
    if (!dies) return result
    dead = true
    end()
    throw new Error('the process has ended')
  }
  return {
    calls: () => calls,
    database: {
      ...database,
      acquire: () => {
        let acquired: PostgresConnection | undefined
        // Whatever a process held ends with it, also a connection that it never got to use.
        const end = (): void => acquired?.destroy()
        return dying(end, async (): Promise<PostgresConnection> => {
          const connection = await database.acquire()
          acquired = connection
          return {
            query: (statement) => dying(end, () => connection.query(statement)),
            script: (text) => dying(end, () => connection.script(text)),
            release: () => connection.release(),
            destroy: end,
          }
        })
      },
    },
  }
}

const stepsInAll = 3

/** One life: claim, create what is missing, go on from where the checkpoint stands, adding one per step. */
async function live(schema: string, of: PostgresDatabase): Promise<void> {
  const store = openStore(of, schema)
  const { meta } = await store.read(readRequest)
  const claimed = meta === undefined ? await start(store) : await claim(store)
  const { checkpoints } = await store.read(readRequest)
  for (let next = Number(checkpoints.get(0)?.['next_offset']); next < stepsInAll; next += 1) {
    // Steps of statements and steps of the vocabulary alone take different ways through the store.
    const write = (w: TransactionalWriter): void => {
      w.hset('h', `record ${next}`, 'applied')
      if (next !== 1) w.sql(`UPDATE "${schema}".sums SET amount = amount + 1`)
    }
    expect(await advance(claimed, { from: next, to: next + 1, write })).toMatchObject({ kind: 'advanced' })
  }
}

const tables = ['meta', 'checkpoint', 'fence', 'incarnation', 'quarantine', 'data', 'twin']

/** Empties everything; tables are made once, since that takes longer than a life. */
async function emptyWorld(schema: string): Promise<void> {
  const connection = await database.acquire()
  const all = tables.map((name) => `DELETE FROM "${schema}".tidemark_${name}`)
  await connection.script([...all, `UPDATE "${schema}".sums SET amount = 0`].join('; '))
  connection.release()
}

/** Position, sum of the host and fields of the vocabulary, which must agree at every moment. */
async function stored(schema: string): Promise<readonly [number, number, number]> {
  const [row] = await admin(
    `SELECT coalesce((SELECT next_offset FROM "${schema}".tidemark_checkpoint WHERE key = 'ns:checkpoint:dispatch:0'), '0') AS next, ` +
      `(SELECT amount::text FROM "${schema}".sums) AS sum, (SELECT count(*)::text FROM "${schema}".tidemark_data) AS fields`,
  )
  return [Number(row?.['next']), Number(row?.['sum']), Number(row?.['fields'])]
}

describe('a process that ends anywhere', () => {
  it('[PGS-9] [PGS-11] [A13] a crash at every awaited call: what is stored agrees, and the next life applies each record once', async () => {
    const schema = freshSchema()
    await ensurePostgresTables({ database, schema })
    await admin(`CREATE TABLE "${schema}".sums (amount int NOT NULL)`)
    await admin(`INSERT INTO "${schema}".sums VALUES (0)`)
    const clean = dyingAt(Infinity, 'before')
    await live(schema, clean.database)
    const calls = clean.calls()
    expect(calls).toBeGreaterThan(20)
    for (let call = 1; call <= calls; call += 1) {
      for (const moment of ['before', 'after'] as const) {
        await emptyWorld(schema)
        const died = await live(schema, dyingAt(call, moment).database).then(
          () => false,
          () => true,
        )
        expect(died, `call ${call} ${moment}`).toBe(true)
        const [next, sum, fields] = await stored(schema)
        expect([sum, fields], `call ${call} ${moment}`).toEqual([next > 1 ? next - 1 : next, next])
        await live(schema, database)
        expect(await stored(schema), `call ${call} ${moment}`).toEqual([stepsInAll, stepsInAll - 1, stepsInAll])
      }
    }
  })
})
