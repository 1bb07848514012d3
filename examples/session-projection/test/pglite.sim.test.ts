import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { createTopic } from '../src/backend/topic-admin.ts'
import { startProjectorProcess } from '../src/proof/projector-process.ts'
import { exitCodes } from '../src/service/exit-codes.ts'
import type { ProjectorSettings } from '../src/settings/projector-settings.ts'
import { dispatchMessage } from './bad-records.ts'
import { compilePrograms } from './compiled-programs.ts'
import type { CompiledPrograms } from './compiled-programs.ts'
import { runProgram } from './run-program.ts'
import { argumentsOf, logArguments, storeArguments, testSettings } from './test-settings.ts'

let programs: CompiledPrograms
let dataDir: string
let settings: ProjectorSettings

beforeAll(async () => {
  programs = await compilePrograms()
  dataDir = mkdtempSync(join(tmpdir(), 'session-pglite-'))
  const log = { kind: 'embedded' as const, dataDir }
  const store = { kind: 'pglite' as const, directory: join(dataDir, 'pglite'), schema: 'tidemark' }
  settings = testSettings({ log, store, topic: 'dispatch', namespace: 'session_projection', dataPrefix: '' })
  await createTopic(log, 'dispatch', 1)
  const writer = await openDispatchWriter({ place: log, topic: 'dispatch', deadlineMs: 60_000 })
  await writer.write([dispatchMessage()], 'commit')
  await writer.close()
}, 120_000)
afterAll(() => {
  programs.remove()
  rmSync(dataDir, { recursive: true, force: true })
})

const deadlineMs = 120_000

/** The comparison of what a folder holds. */
function recompute(folder: string) {
  const places = Object.entries({
    ...logArguments(settings.log),
    ...storeArguments(settings.store),
    'data-dir': folder,
  })
  const names = ['--topic', 'dispatch', '--namespace', settings.namespace]
  return runProgram(programs.recompute, [...places.flatMap(([name, value]) => [`--${name}`, value]), ...names], {
    deadlineMs,
  })
}

describe('a PGlite', () => {
  it('is refused to a second opener while the first one runs and serves, and given to the next', async () => {
    const first = startProjectorProcess({ script: programs.projector, args: argumentsOf(settings) })
    await first.line('ready', ({ msg }) => msg.startsWith('ready:'), deadlineMs)
    const holder = new RegExp(
      `^\\S.*: \\S*pglite/lock is held by process ${first.pid} on \\S+: process ${first.pid} runs$`,
    )

    const second = await runProgram(programs.projector, argumentsOf(settings), { deadlineMs })
    const looking = await recompute(dataDir)
    for (const { code, stderr } of [second, looking]) {
      expect(stderr.trim()).toMatch(holder)
      expect(code).toBe(exitCodes.unavailable)
    }
    expect(second.stderr).toMatch(/^cannot be opened: /)

    const answer = await fetch(`${await first.url(deadlineMs)}/sessions/ada`)
    expect(await answer.json()).toMatchObject({ sessions: [{ conversationId: 'c' }] })
    first.signal('SIGTERM')
    expect(await first.exited).toEqual({ code: exitCodes.ok, signal: null })
    const free = await recompute(dataDir)
    expect([free.code, free.stderr]).toEqual([exitCodes.ok, ''])
    expect(free.stdout).toMatch(/, 0 lost, 0 unexplained\n$/)
  })

  it('is not made of a mistyped folder by a program that only looks', async () => {
    const elsewhere = join(dataDir, 'mistyped')
    const { code, stderr } = await recompute(elsewhere)
    expect(stderr).toBe(`cannot be compared: no PGlite database stands in ${join(elsewhere, 'pglite')}\n`)
    expect(code).toBe(exitCodes.unavailable)
    expect(readdirSync(dataDir)).not.toContain('mistyped')
  })

  it('is not opened in a folder that holds something else, which stays as it is', async () => {
    const foreign = join(dataDir, 'foreign')
    mkdirSync(join(foreign, 'pglite'), { recursive: true })
    writeFileSync(join(foreign, 'pglite', 'photos.zip'), 'mine')
    const args = [...argumentsOf(settings), '--data-dir', foreign]
    const { code, stderr } = await runProgram(programs.projector, args, { deadlineMs })
    expect(stderr).toMatch(
      /^cannot be opened: the directory \S+ cannot be used: it holds "photos\.zip", which is not ours\n$/,
    )
    expect(code).toBe(exitCodes.unavailable)
    expect(readdirSync(join(foreign, 'pglite'))).toEqual(['photos.zip'])
  })
})
