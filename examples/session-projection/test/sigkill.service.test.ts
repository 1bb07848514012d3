import { afterAll, beforeAll, describe, it } from 'vitest'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { openSessionBackend } from '../src/backend/open-session-backend.ts'
import { compilePrograms } from './compiled-programs.ts'
import type { CompiledPrograms } from './compiled-programs.ts'
import { runKillLoop } from './kill-loop.ts'
import { expectNothingLost, killsOf, seedOfRun } from './kill-plan.ts'
import { createServiceWorld } from './service-world.ts'

let programs: CompiledPrograms
beforeAll(async () => {
  programs = await compilePrograms()
})
afterAll(() => programs.remove())

const batchRecordsMax = 10

describe('SIGKILL of the projector at random points, on a real Kafka and Redis', () => {
  it.each([
    ['atomic', { ci: 5, full: 300 }],
    ['two-step', { ci: 3, full: 100 }],
  ] as const)(
    '[A13] loses nothing and replays at most one batch per partition, %s form',
    async (form, size) => {
      const [kills, seed] = [killsOf(size), seedOfRun()]
      const world = await createServiceWorld({ form, partitions: 4, batchRecordsMax, undecodable: 'quarantine' })
      const { settings, args, place } = world
      const writer = await openDispatchWriter({ place, topic: settings.topic, deadlineMs: 60_000 })
      try {
        const report = await runKillLoop({
          ...{ kills, seed, args, batchRecordsMax, writer },
          script: programs.projector,
          topic: settings.topic,
          openBackend: () => openSessionBackend(settings),
        })
        expectNothingLost(`SIGKILL, ${form} form`, kills, seed, batchRecordsMax, report)
      } finally {
        await writer.close()
        await world.close()
      }
    },
    60 * 60_000,
  )
})
