import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openStorePlace } from '../src/places/open-store.ts'
import { LOOKING } from '../src/places/store-access.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidemark-open-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('opening a PGlite directory to look', () => {
  it.each([
    ['nobody marked', undefined],
    ['whose creation was cut off', 'created.begun'],
  ])('[CLI-1] data %s is refused, and no byte changes', async (title, mark) => {
    const directory = join(folder, title)
    mkdirSync(join(directory, 'data'), { recursive: true })
    writeFileSync(join(directory, 'data', 'PG_VERSION'), '17\n')
    if (mark !== undefined) writeFileSync(join(directory, mark), '')
    const before = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()
    const place = { kind: 'pglite', directory, schemas: {} } as const
    await expect(openStorePlace(place, LOOKING, 1_000)).rejects.toMatchObject({
      code: 'TM_CLI_FILE_UNREADABLE',
      details: { file: directory },
    })
    expect(readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()).toEqual(before)
    expect(readFileSync(join(directory, 'data', 'PG_VERSION'), 'utf8')).toBe('17\n')
  })
})
