import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openDispatchLog, openSessionStore } from '../src/backend/open-session-backend.ts'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { createTopic } from '../src/backend/topic-admin.ts'
import type { StorePlace } from '../src/settings/place-settings.ts'
import { compilePrograms } from './compiled-programs.ts'
import type { CompiledPrograms } from './compiled-programs.ts'
import { runKillLoop } from './kill-loop.ts'
import { expectNothingLost, killsOf, seedOfRun } from './kill-plan.ts'
import { argumentsOf, testSettings } from './test-settings.ts'

let programs: CompiledPrograms
let root: string
beforeAll(async () => {
  programs = await compilePrograms()
  root = mkdtempSync(join(tmpdir(), 'session-sigkill-'))
}, 120_000)
afterAll(() => {
  programs.remove()
  rmSync(root, { recursive: true, force: true })
})

const batchRecordsMax = 10

function placeOf(store: 'embedded' | 'pglite', dataDir: string): StorePlace {
  if (store === 'embedded') return { kind: 'embedded', dataDir }
  return { kind: 'pglite', directory: join(dataDir, 'pglite'), schema: 'tidemark' }
}

describe('SIGKILL of the projector at random points, on the log in files', () => {
  it.each([
    ['embedded', { ci: 3, full: 60 }],
    ['pglite', { ci: 2, full: 30 }],
  ] as const)(
    '[A13] loses nothing and replays at most one batch per partition, %s store',
    async (store, size) => {
      const [kills, seed] = [killsOf(size), seedOfRun()]
      const dataDir = join(root, store)
      const log = { kind: 'embedded' as const, dataDir }
      const names = { topic: 'dispatch', namespace: 'session_projection', dataPrefix: '' }
      const settings = testSettings({ log, store: placeOf(store, dataDir), ...names, batchRecordsMax })
      await createTopic(log, names.topic, 4)
      const writer = await openDispatchWriter({ place: log, topic: names.topic, deadlineMs: 60_000 })
      const reading = await openDispatchLog(log)
      try {
        const report = await runKillLoop({
          ...{ kills, seed, batchRecordsMax, writer, log: reading },
          args: argumentsOf(settings),
          script: programs.projector,
          topic: names.topic,
          openStore: () => openSessionStore(settings.store, settings),
        })
        expectNothingLost(`log in files, ${store}`, seed, batchRecordsMax, report)
      } finally {
        await reading.close()
        await writer.close()
      }
    },
    30 * 60_000,
  )
})
