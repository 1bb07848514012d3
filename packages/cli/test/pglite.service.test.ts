import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import { openPglite } from '@tidemark/postgres/pglite'
import { afterAll, describe, expect, it } from 'vitest'
import { tidemark } from './recorded-host.ts'

const directory = mkdtempSync(join(tmpdir(), 'tidemark-cli-pglite-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('a store in PGlite whose data has a schema of its own', () => {
  it('[CLI-10] without --data-schema it is said what is missing, how to name it, and that nothing was created', async () => {
    const database = await openPglite({ directory })
    await ensurePostgresTables({ database, schema: 'positions', dataSchema: 'app' })
    await database.close()
    const inspect = ['inspect', '--pglite', directory, '-n', 'sessions', '--deadline-ms', '60000']
    const { exitCode, stderr } = await tidemark([...inspect, '--schema', 'positions'])
    expect(exitCode).toBe(5)
    expect(stderr).toMatch(/relation "positions\.tidemark_(?:data|twin)/)
    expect(stderr).toMatch(/ {2}remedy {2}Name the schemas .* --schema .*--data-schema .*Nothing was created/)
    const named = await tidemark([...inspect, '--schema', 'positions', '--data-schema', 'app'])
    expect(named).toMatchObject({ exitCode: 7, stderr: '' })
  }, 180_000)
})
