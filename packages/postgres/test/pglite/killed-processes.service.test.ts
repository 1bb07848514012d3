import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { openPglite } from '@tidemark/postgres/pglite'
import { adminOf, openStore, readRequest } from '../postgres-fixture.ts'

const isFull = process.env['TIDEMARK_SIZE'] === 'full'
/** Opening takes seconds on an idle machine and minutes on one that others keep busy. */
const patienceMs = 300_000
const rounds = isFull ? 20 : 1
const folder = mkdtempSync(join(tmpdir(), 'tidemark-killed-'))
const children = new Set<ChildProcess>()
afterEach(async () => {
  // A directory is free only when its owner is gone, also after a test that failed.
  const ending = [...children].map((child) => new Promise((resolve) => child.once('close', resolve)))
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(ending)
  children.clear()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Child {
  readonly lines: () => readonly string[]
  /** The first line with that beginning. */
  readonly line: (beginning: string) => Promise<string>
  readonly kill: () => Promise<void>
}

function startChild(directory: string, mode: 'write' | 'open' | 'try'): Child {
  const file = join(import.meta.dirname, 'pglite-child.ts')
  const args = ['--import', 'tsx', '--conditions=@tidemark/source', file, directory, mode]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  let output = ''
  child.stdout.on('data', (data) => (output += String(data)))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lines = (): readonly string[] => output.split('\n').slice(0, -1)
  return {
    lines,
    async line(beginning) {
      const deadline = performance.now() + patienceMs
      for (;;) {
        const found = lines().find((line) => line.startsWith(beginning))
        if (found !== undefined) return found
        if (child.exitCode !== null || performance.now() > deadline) {
          throw new Error(`no line "${beginning}": ${output.slice(-500)}`)
        }
        await sleep(20)
      }
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
      children.delete(child)
    },
  }
}

describe('an embedded database and the processes that open it', () => {
  it(
    '[PGS-23] [A13] a writer killed at any moment: no confirmed step is lost, none is applied twice',
    { timeout: 2 * patienceMs },
    async () => {
      const directory = join(folder, 'written')
      for (let round = 0; round < rounds; round += 1) {
        const child = startChild(directory, 'write')
        await child.line('at ')
        await sleep(50 + round * 77)
        await child.kill()
        const confirmed = Number(
          child
            .lines()
            .findLast((line) => line.startsWith('at '))!
            .slice(3),
        )
        const database = await openPglite({ directory })
        const { checkpoints } = await openStore(database, 'killed').read(readRequest)
        const next = Number(checkpoints.get(0)?.['next_offset'])
        const [row] = await adminOf(database)('SELECT amount::text AS amount FROM killed.sums')
        await database.close()
        expect([confirmed, confirmed + 1]).toContain(next)
        expect(row?.['amount']).toBe(String(next))
      }
      const takeovers = readFileSync(join(directory, 'takeovers.log'), 'utf8').trim().split('\n')
      expect(takeovers.length).toBe(rounds)
      expect(JSON.parse(takeovers[0]!)).toMatchObject({ event: 'taken-over', by: { pid: process.pid } })
    },
  )

  it(
    '[PGS-21] a second process is refused while the first one runs, and named the owner',
    { timeout: patienceMs },
    async () => {
      const directory = join(folder, 'written')
      const database = await openPglite({ directory })
      const refused = startChild(directory, 'try')
      expect(await refused.line('TM_')).toMatch(
        new RegExp(
          `^TM_POSTGRES_DIRECTORY_LOCKED .* is held by process ${process.pid} on .*: process ${process.pid} runs$`,
        ),
      )
      await refused.kill()
      // The same process, too: two engines on one directory are two, wherever they run.
      await expect(openPglite({ directory })).rejects.toMatchObject({ code: 'TM_POSTGRES_DIRECTORY_LOCKED' })
      await database.close()
      expect(existsSync(join(directory, 'lock'))).toBe(false)
    },
  )

  it(
    '[PGS-24] killed while the database is being created: the next opening creates it anew',
    { timeout: 2 * patienceMs },
    async () => {
      const directory = join(folder, 'cut-off')
      for (const delayMs of isFull ? [0, 100, 300, 600, 1_000, 1_500, 2_500] : [400]) {
        const child = startChild(directory, 'write')
        await child.line('opening')
        await sleep(delayMs)
        await child.kill()
      }
      // As a kill in the middle leaves it, wherever those above came.
      rmSync(join(directory, 'created'), { force: true })
      rmSync(join(directory, 'data'), { recursive: true, force: true })
      mkdirSync(join(directory, 'data'))
      writeFileSync(join(directory, 'data', 'half'), 'made')
      writeFileSync(join(directory, 'created.begun'), '')
      const database = await openPglite({ directory })
      expect(await adminOf(database)('SELECT 1::text AS one')).toEqual([{ one: '1' }])
      await database.close()
      expect(readdirSync(directory).filter((name) => name.startsWith('created'))).toEqual(['created'])
      expect(existsSync(join(directory, 'data', 'half'))).toBe(false)
    },
  )

  it('[PGS-21] a lock that was taken away stops the writer before its next step', async () => {
    const directory = join(folder, 'written')
    const database = await openPglite({ directory })
    const store = openStore(database, 'killed')
    writeFileSync(join(directory, 'lock'), 'somebody else')
    await expect(store.read(readRequest)).rejects.toMatchObject({ code: 'TM_POSTGRES_DIRECTORY_LOST' })
    await database.close()
    expect(readFileSync(join(directory, 'lock'), 'utf8')).toBe('somebody else')
    await expect(openPglite({ directory })).rejects.toMatchObject({ code: 'TM_POSTGRES_DIRECTORY_LOCKED' })
  })

  it('[PGS-24] a path that is no directory of its own, or whose database is gone, is refused', async () => {
    const gone = join(folder, 'gone')
    mkdirSync(gone)
    writeFileSync(join(gone, 'created'), '')
    for (const directory of ['', 'memory://x', folder, gone]) {
      writeFileSync(join(folder, 'strange'), '')
      await expect(openPglite({ directory })).rejects.toMatchObject({ code: 'TM_POSTGRES_DIRECTORY_UNUSABLE' })
    }
  })
})
