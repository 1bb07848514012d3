import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openPglite } from '@tidemark/postgres/pglite'

const folder = mkdtempSync(join(tmpdir(), 'tidemark-marks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a directory that holds data', () => {
  it.each([
    ['alone', []],
    ['beside files that are no mark of a creation', ['takeovers.log', 'created.stale']],
  ])('[PGS-24] %s, without a mark of ours, is refused and its bytes stay', async (title, beside) => {
    const directory = join(folder, title)
    const data = join(directory, 'data')
    mkdirSync(join(data, 'base'), { recursive: true })
    writeFileSync(join(data, 'PG_VERSION'), '17\n')
    writeFileSync(join(data, 'base', '1'), 'rows of somebody')
    for (const name of beside) writeFileSync(join(directory, name), '')
    await expect(openPglite({ directory })).rejects.toMatchObject({
      code: 'TM_POSTGRES_DIRECTORY_UNUSABLE',
      details: { directory, reason: expect.stringContaining('without the mark "created"') as string },
    })
    expect(readFileSync(join(data, 'PG_VERSION'), 'utf8')).toBe('17\n')
    expect(readFileSync(join(data, 'base', '1'), 'utf8')).toBe('rows of somebody')
    expect(readdirSync(directory).sort()).toEqual(['data', ...beside].sort())
  })
})
