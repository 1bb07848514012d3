import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isTidemarkError } from '@tidemark/core'
import { connectPostgres } from '@tidemark/postgres/pg'
import type { PostgresDatabase, TransactionalWriter } from '@tidemark/postgres/checkpoint'
import { createCuttingProxy, startPostgres } from '@tidemark/testkit/service'
import type { ByteRule, CuttingProxy, PostgresServer } from '@tidemark/testkit/service'
import { adminOf, advance, claim, openStore, readRequest, request, startFresh } from './postgres-fixture.ts'
import type { Admin, Claimed } from './postgres-fixture.ts'

const isFull = process.env['TIDEMARK_SIZE'] === 'full'

let server: PostgresServer
let near: PostgresDatabase
let admin: Admin
const open: { close(): Promise<unknown> }[] = []
beforeAll(async () => {
  server = await startPostgres()
  near = connectPostgres(server.url)
  admin = adminOf(near)
})
afterAll(async () => {
  await near?.close()
  await server?.close()
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

interface Sums {
  readonly claimed: Claimed
  readonly schema: string
  /** Adds one to a sum, by a statement in a transaction or, without a statement, by the vocabulary in one round trip. */
  readonly write: (w: TransactionalWriter) => void
  readonly state: () => Promise<{ readonly next: string; readonly sum: string }>
}

async function startSums(form: 'statements' | 'vocabulary'): Promise<Sums> {
  const claimed = await startFresh(near)
  const { schema } = claimed
  await admin(`CREATE TABLE "${schema}".sums (amount int NOT NULL)`)
  await admin(`INSERT INTO "${schema}".sums VALUES (0)`)
  // The vocabulary has no sums; a trigger counts how often its row was written.
  if (form === 'vocabulary') {
    await admin(
      `CREATE FUNCTION "${schema}".counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "${schema}".sums SET amount = amount + 1; RETURN NEW; END $$`,
    )
    await admin(
      `CREATE TRIGGER counting AFTER INSERT OR UPDATE ON "${schema}".tidemark_data FOR EACH ROW EXECUTE FUNCTION "${schema}".counted()`,
    )
  }
  const write = (w: TransactionalWriter): void => {
    if (form === 'vocabulary') return w.hset('h', 'f', 'v')
    w.sadd('s', 'm')
    w.sql(`UPDATE "${schema}".sums SET amount = amount + $1`, [1])
  }
  const state = async () => {
    const [row] = await admin(
      `SELECT (SELECT next_offset FROM "${schema}".tidemark_checkpoint WHERE key = 'ns:checkpoint:dispatch:0') AS next, ` +
        `(SELECT amount::text FROM "${schema}".sums) AS sum`,
    )
    return { next: String(row?.['next']), sum: String(row?.['sum']) }
  }
  return { claimed, schema, write, state }
}

/** A store that reaches the server through a proxy of its own. */
async function farStore(schema: string, deadlineMs: number): Promise<{ far: Claimed['store']; proxy: CuttingProxy }> {
  const proxy = await createCuttingProxy({ target: server, framing: 'bytes' })
  const database = connectPostgres(`postgres://postgres@${proxy.host}:${proxy.port}/postgres`, { deadlineMs })
  open.push(proxy, database)
  return { far: openStore(database, schema), proxy }
}

/** How many bytes one whole step takes each way, on a connection of its own. */
async function bytesOfStep(sums: Sums): Promise<Readonly<Record<ByteRule['direction'], number>>> {
  const { far, proxy } = await farStore(sums.schema, 5_000)
  const words = { from: 0, to: 1, write: sums.write }
  expect(await advance({ ...sums.claimed, store: far }, words)).toMatchObject({ kind: 'advanced' })
  const [counts] = proxy.connections()
  return { 'to-server': counts!.bytesToServer, 'to-client': counts!.bytesToClient }
}

function spread(total: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => Math.floor((index * (total - 1)) / (count - 1)))
}

describe.each(['statements', 'vocabulary'] as const)('a connection that breaks anywhere in a step of %s', (form) => {
  it.each([
    ['cut', isFull ? 200 : 24, 5_000],
    ['silence', isFull ? 30 : 5, 400],
  ] as const)(
    '[PGS-2] [PGS-11] [CK-39] %s: settles in time, leaves all or nothing, and the repeated step adds once',
    async (action, positions, deadlineMs) => {
      const sums = await startSums(form)
      const totals = await bytesOfStep(sums)
      let next = 1
      const seen = new Set<string>()
      for (const direction of ['to-server', 'to-client'] as const) {
        for (const bytes of spread(totals[direction], positions)) {
          const { far, proxy } = await farStore(sums.schema, deadlineMs)
          proxy.program({ on: 'bytes', direction, bytes, action })
          const words = { from: next, to: next + 1, write: sums.write }
          const startedMs = performance.now()
          const outcome = await advance({ ...sums.claimed, store: far }, words).catch((error: unknown) => error)
          expect(performance.now() - startedMs).toBeLessThan(deadlineMs + 1_500)
          const code = isTidemarkError(outcome) ? outcome.code : 'advanced'
          seen.add(code)
          expect([
            'advanced',
            'TM_POSTGRES_CONNECT_FAILED',
            'TM_POSTGRES_CONNECTION_LOST',
            'TM_POSTGRES_TIMEOUT',
          ]).toContain(code)
          await far.close()
          // A silenced server session still holds its rows until it notices; the repeated step waits for it.
          for (const each of open.splice(0).reverse()) await each.close()
          const between = await sums.state()
          expect([`${next}/${next}`, `${next + 1}/${next + 1}`]).toContain(`${between.next}/${between.sum}`)
          expect(await advance(sums.claimed, words)).toMatchObject({ kind: 'advanced' })
          next += 1
          expect(await sums.state()).toEqual({ next: String(next), sum: String(next) })
        }
      }
      expect(seen.has(action === 'cut' ? 'TM_POSTGRES_CONNECTION_LOST' : 'TM_POSTGRES_TIMEOUT')).toBe(true)
    },
  )
})

describe('a server that does not answer as it should', () => {
  it('[PGS-2] paused: every call settles within its deadline, and the store goes on when it runs again', async () => {
    const { claimed, schema, write, state } = await startSums('statements')
    const database = connectPostgres(server.url, { deadlineMs: 500 })
    open.push(database)
    const store = openStore(database, schema)
    await store.read(readRequest)
    server.pause()
    try {
      const calls = [
        store.read(readRequest),
        store.claim(readRequest),
        advance({ ...claimed, store }, { from: 0, to: 1, write }),
      ]
      const startedMs = performance.now()
      for (const call of calls)
        await expect(call).rejects.toMatchObject({ code: 'TM_POSTGRES_TIMEOUT', retriable: true })
      expect(performance.now() - startedMs).toBeLessThan(2_000)
    } finally {
      server.resume()
    }
    // What was sent before the pause may have been carried out, whole or not at all.
    expect(['0/0', '1/1']).toContain(await state().then(({ next, sum }) => `${next}/${sum}`))
    await store.read(readRequest)
  })

  it('[PGS-2] a row locked by somebody else: the server gives up before the client, and nothing is left', async () => {
    const { claimed, schema, write, state } = await startSums('statements')
    const database = connectPostgres(server.url, { deadlineMs: 600 })
    open.push(database)
    const holder = await near.acquire()
    await holder.script(`BEGIN; UPDATE "${schema}".sums SET amount = amount`)
    await expect(
      advance({ ...claimed, store: openStore(database, schema) }, { from: 0, to: 1, write }),
    ).rejects.toMatchObject({
      code: 'TM_POSTGRES_LOCK_TIMEOUT',
      retriable: true,
    })
    await holder.script('ROLLBACK')
    holder.release()
    expect(await state()).toEqual({ next: '0', sum: '0' })
  })

  it('[PGS-12] two steps that lock the same rows crosswise: one is undone whole, made again, and both are kept', async () => {
    const claimed = await startFresh(near)
    const table = `"${claimed.schema}".pair`
    await admin(`CREATE TABLE ${table} (name text PRIMARY KEY, amount int NOT NULL)`)
    await admin(`INSERT INTO ${table} VALUES ('a', 0), ('b', 0)`)
    const crosswise = (names: readonly string[]) => (w: TransactionalWriter) => {
      for (const name of names) {
        w.sql(`UPDATE ${table} SET amount = amount + 1 WHERE name = $1`, [name])
        w.sql(`SELECT pg_sleep(0.2)`)
      }
    }
    const outcomes = await Promise.all([
      advance(claimed, { partition: 0, from: 0, to: 1, write: crosswise(['a', 'b']) }),
      advance(claimed, { partition: 1, from: 0, to: 1, write: crosswise(['b', 'a']) }),
    ])
    expect(outcomes).toEqual([1, 2].map(() => ({ kind: 'advanced', resent: false })))
    expect(await admin(`SELECT amount FROM ${table}`)).toEqual([{ amount: 2 }, { amount: 2 }])
    const [deadlocks] = await admin(`SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = 'postgres'`)
    expect(deadlocks?.['n']).toBeDefined()
  })

  it('[PGS-10] [CKP-24] [A9] killed and restarted: the old process name writes nothing, the new one goes on', async () => {
    const { claimed, schema, write, state } = await startSums('statements')
    await advance(claimed, { from: 0, to: 1, write })
    await server.kill()
    await server.restart()
    // Connections of before are gone; whichever call notices fails, none writes.
    const outcomes = await Promise.all(
      [1, 2, 3].map(() =>
        advance(claimed, { from: 1, to: 2, write }).then(
          ({ kind }) => kind,
          (error: unknown) => (isTidemarkError(error) ? error.code : String(error)),
        ),
      ),
    )
    for (const outcome of outcomes) {
      expect(['process-changed', 'TM_POSTGRES_CONNECTION_LOST', 'TM_POSTGRES_CONNECT_FAILED']).toContain(outcome)
    }
    expect(await state()).toEqual({ next: '1', sum: '1' })
    const again = await claim(openStore(near, schema))
    expect(again.process).not.toBe(claimed.process)
    expect(await advance(again, { from: 1, to: 2, write })).toEqual({ kind: 'advanced', resent: false })
    expect(await state()).toEqual({ next: '2', sum: '2' })
  })

  it('[PGS-2] closed: later calls are refused, and what is under way ends', async () => {
    const { claimed, schema } = await startSums('statements')
    const store = openStore(near, schema)
    const write = (w: TransactionalWriter): void => w.sql(`SELECT pg_sleep(20)`)
    const slow = store
      .advance(request({ ...claimed, store }, { from: 0, to: 1, write }))
      .catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await store.close()
    expect(isTidemarkError(await slow)).toBe(true)
    await expect(store.read(readRequest)).rejects.toMatchObject({ code: 'TM_POSTGRES_CLOSED' })
  })
})
