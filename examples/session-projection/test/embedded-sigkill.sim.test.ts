import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { openSessionBackend } from '../src/backend/open-session-backend.ts'
import { createTopic } from '../src/backend/topic-admin.ts'
import { compilePrograms } from './compiled-programs.ts'
import type { CompiledPrograms } from './compiled-programs.ts'
import { runKillLoop } from './kill-loop.ts'
import { expectNothingLost, killsOf, seedOfRun } from './kill-plan.ts'

let programs: CompiledPrograms
let dataDir: string
beforeAll(async () => {
  programs = await compilePrograms()
  dataDir = mkdtempSync(join(tmpdir(), 'session-sigkill-'))
})
afterAll(() => {
  programs.remove()
  rmSync(dataDir, { recursive: true, force: true })
})

const batchRecordsMax = 10

describe('SIGKILL of the projector at random points, on the log and the store in files', () => {
  it(
    'loses nothing and replays at most one batch per partition',
    async () => {
      const [kills, seed] = [killsOf({ ci: 3, full: 60 }), seedOfRun()]
      const place = { kind: 'embedded' as const, dataDir }
      const names = { topic: 'dispatch', namespace: 'session_projection', dataPrefix: '' }
      await createTopic(place, names.topic, 4)
      const writer = await openDispatchWriter({ place, topic: names.topic, deadlineMs: 60_000 })
      const args = [
        ...['--backend', 'embedded', '--data-dir', dataDir, '--topic', names.topic, '--namespace', names.namespace],
        ...['--ready-target', 'hw', '--undecodable', 'quarantine', '--lease-ms', '500', '--port', '0'],
        ...['--batch-records-max', String(batchRecordsMax), '--io-deadline-ms', '30000', '--log-level', 'debug'],
      ]
      try {
        const report = await runKillLoop({
          ...{ kills, seed, args, batchRecordsMax, writer },
          script: programs.projector,
          topic: names.topic,
          openBackend: () => openSessionBackend({ ...names, log: place, store: place, ioDeadlineMs: 30_000 }),
        })
        expectNothingLost('SIGKILL, embedded', kills, seed, batchRecordsMax, report)
      } finally {
        await writer.close()
      }
    },
    30 * 60_000,
  )
})
