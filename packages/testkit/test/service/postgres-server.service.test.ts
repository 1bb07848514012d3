import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres } from '@tidemark/testkit/service'
import type { PostgresServer } from '@tidemark/testkit/service'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(async () => {
  await server?.close()
})

async function ask(text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: server.url, connectionTimeoutMillis: 1_000, query_timeout: 1_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<{ value: unknown }>(text)).rows[0]?.value
  } finally {
    await client.end().catch(() => undefined)
  }
}

describe('a Postgres server of one’s own', () => {
  it('keeps its data over a kill, and comes back empty when it is told to', async () => {
    await ask('CREATE TABLE kept (n int)')
    const pid = server.pid()
    await server.kill()
    expect(server.state()).toBe('dead')
    await server.restart()
    expect(server.pid()).not.toBe(pid)
    expect(await ask(`SELECT to_regclass('kept')::text AS value`)).toBe('kept')
    await server.restart({ wipeData: true })
    expect(await ask(`SELECT to_regclass('kept')::text AS value`)).toBeNull()
  })

  it('answers nothing while it is paused, and goes on', async () => {
    server.pause()
    await expect(ask('SELECT 1 AS value')).rejects.toThrow(/timeout/i)
    expect(server.state()).toBe('paused')
    server.resume()
    expect(await ask('SELECT 1 AS value')).toBe(1)
  })

  it('restarts as a standby that takes no writes, and back', async () => {
    await server.restart({ standby: true })
    expect(await ask('SELECT pg_is_in_recovery() AS value')).toBe(true)
    await server.restart({ standby: false })
    expect(await ask('SELECT pg_is_in_recovery() AS value')).toBe(false)
  })

  it('says why it died: the log is in the error', async () => {
    await expect(startPostgres({ config: { shared_buffers: 'nonsense' } })).rejects.toMatchObject({
      code: 'TM_SERVICE_DIED',
      message: expect.stringContaining('shared_buffers'),
    })
  })
})
