import { randomUUID } from 'node:crypto'
import type { ErrorReport, ExplainReport, InspectReport, VerifyReport } from '@tidemark/cli'
import { createProjection } from '@tidemark/checkpoint'
import { createEmbeddedLog } from '@tidemark/embedded'
import { createPostgresProjectionStore, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type { PostgresDatabase } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import { sharedPostgresUrl } from '@tidemark/testkit/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { project } from './dispatch-project.ts'
import { createEmbeddedWorld, topic } from './embedded-world.ts'
import { projectFile, tidemark, tidemarkJson } from './recorded-host.ts'

const schema = `cli_${randomUUID().replaceAll('-', '')}`
let database: PostgresDatabase
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  const url = await sharedPostgresUrl()
  env = { POSTGRES_URL: url }
  database = connectPostgres(url, { deadlineMs: 10_000 })
  await ensurePostgresTables({ database, schema })
})

afterAll(async () => {
  await sql(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  await database?.close()
})

async function sql(text: string, values: readonly string[] = []): Promise<void> {
  const connection = await database.acquire()
  try {
    await connection.query({ text, values })
  } finally {
    connection.release()
  }
}

/** A projection of an embedded log into the schema, run up to its end; the options that name both places. */
async function projected(namespace: string): Promise<readonly string[]> {
  const world = await createEmbeddedWorld()
  const projection = createProjection({
    topic,
    log: createEmbeddedLog({ directory: world.logDirectory }),
    store: createPostgresProjectionStore({ database, schema, namespace, isEmpty: async () => true }),
    project,
    readyTarget: 'hw',
    undecodable: 'quarantine',
    leaseMs: 1_000,
    limits: { batchRecordsMax: 100, stallMsMax: 20_000 },
  })
  const started = await projection.start()
  if (started.kind === 'refused') throw new Error(JSON.stringify(started.refusals))
  expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
  await projection.stop()
  return ['--embedded-log', world.logDirectory, '--schema', schema, '-n', namespace, '-t', topic]
}

describe('the command on Postgres', () => {
  it('[CLI-2] [CLI-3] [CLI-4] [CLI-9] [PGS-30] explains, inspects and verifies, and finds what is wrong', async () => {
    const at = await projected('sessions')
    const store = ['--schema', schema, '-n', 'sessions']
    const explain = ['explain', ...at, '--ready-target', 'hw', '--deep']
    const report = await tidemarkJson<ExplainReport>(explain, { env })
    expect(report).toMatchObject({ verdict: 'would-start', toRead: '0', deep: { strays: { total: 0 } } })
    expect(report.deep!.keysSeen).toBeGreaterThanOrEqual(6)
    const verify = ['verify', ...at, '--project', projectFile]
    expect(await tidemarkJson<VerifyReport>(verify, { env })).toMatchObject({ verdict: 'equal', keysCompared: 3 })

    const entries = Array.from({ length: 1_200 }, (_, n) => `('sessions:quarantine:${topic}:1', '${n}', 'entry ${n}')`)
    await sql(`INSERT INTO "${schema}".tidemark_quarantine (key, record_offset, entry) VALUES ${entries.join(', ')}`)
    const strays = Array.from({ length: 1_500 }, (_, n) => `('sessions:x:${n}')`)
    await sql(`INSERT INTO "${schema}".tidemark_fence (key) VALUES ${strays.join(', ')}`)
    const inspected = await tidemarkJson<InspectReport>(['inspect', ...store, '--quarantine', '2'], { env })
    expect(inspected).toMatchObject({ verdict: 'sound', topic, quarantined: 1_200 })
    expect(inspected.quarantine.items.map(({ offset }) => offset)).toEqual(['1199', '1198'])
    const deep = await tidemarkJson<ExplainReport>([...explain, '--limit', '3'], { env })
    expect(deep.deep!.strays).toMatchObject({ total: 1_500, items: expect.objectContaining({ length: 3 }) })

    await sql(`UPDATE "${schema}".tidemark_checkpoint SET next_offset = '007' WHERE partition = '0'`)
    const damaged = await tidemarkJson<InspectReport>(['inspect', ...store], { env })
    expect(damaged).toMatchObject({ verdict: 'damaged', exitCode: 4 })
    expect((await tidemark(explain, { env })).exitCode).toBe(3)
    expect((await tidemark(['inspect', '--schema', schema, '-n', 'elsewhere'], { env })).exitCode).toBe(7)
  })

  it('[CLI-8] [CLI-10] a wrong password, a wrong schema and a wrong port are said, the password kept', async () => {
    const inspect = ['inspect', '-n', 'sessions', '--deadline-ms', '3000']
    const wrong = new URL(env['POSTGRES_URL']!)
    wrong.username ||= 'nobody'
    wrong.password = ''
    wrong.port = '1'
    const unreachable = await tidemark([...inspect, '--postgres', wrong.href], {
      env: { POSTGRES_PASSWORD: 'hunter2' },
    })
    expect(unreachable.exitCode).toBe(5)
    expect(unreachable.stdout + unreachable.stderr).not.toContain('hunter2')
    const missing = await tidemarkJson<ErrorReport>([...inspect, '--schema', 'nowhere'], { env })
    expect(missing).toMatchObject({ exitCode: 5, error: { code: 'TM_POSTGRES_TABLES_MISSING' } })
    const misspelt = await tidemarkJson<ErrorReport>([...inspect, '--schema', 'No Schema'], { env })
    expect(misspelt).toMatchObject({ exitCode: 2, error: { code: 'TM_POSTGRES_OPTION_INVALID' } })
  })
})
