import { afterAll, beforeAll, describe, it } from 'vitest'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { compilePrograms } from './compiled-programs.ts'
import type { CompiledPrograms } from './compiled-programs.ts'
import { createPairWorld } from './kafka-pair.ts'
import type { KafkaPair } from './kafka-pair.ts'
import { runKillLoop } from './kill-loop.ts'
import type { KillLoopReport } from './kill-loop.ts'
import { expectNothingLost, killsOf, seedOfRun } from './kill-plan.ts'
import { argumentsOf } from './test-settings.ts'
import { createTurns } from './turns.ts'

let programs: CompiledPrograms
beforeAll(async () => {
  programs = await compilePrograms()
})
afterAll(() => programs.remove())

const batchRecordsMax = 10

// Starting a process keeps one core busy, what follows waits for the services: two at a time use two cores well.
const inTurn = createTurns(2)

describe('SIGKILL of the projector at random points, on a real Kafka', () => {
  // A thousand in the full size; a PGlite takes seconds to open, twice for every kill.
  it.concurrent.each([
    [
      { client: 'official', store: 'pglite' },
      { ci: 2, full: 40 },
    ],
    [
      { client: 'official', store: 'redis atomic' },
      { ci: 2, full: 220 },
    ],
    [
      { client: 'official', store: 'redis two-step' },
      { ci: 2, full: 120 },
    ],
    [
      { client: 'official', store: 'postgres' },
      { ci: 2, full: 200 },
    ],
    [
      { client: 'pinned', store: 'pglite' },
      { ci: 2, full: 40 },
    ],
    [
      { client: 'pinned', store: 'redis atomic' },
      { ci: 2, full: 160 },
    ],
    [
      { client: 'pinned', store: 'redis two-step' },
      { ci: 2, full: 80 },
    ],
    [
      { client: 'pinned', store: 'postgres' },
      { ci: 2, full: 140 },
    ],
  ] as const)(
    '[A13] loses nothing and replays at most one batch per partition, %o',
    async (pair, size) => {
      const seed = seedOfRun()
      const report = await inTurn(() => killAgainAndAgain(pair, killsOf(size), seed))
      expectNothingLost(`${pair.client} Kafka client, ${pair.store}`, seed, batchRecordsMax, report)
    },
    60 * 60_000,
  )
})

async function killAgainAndAgain(pair: KafkaPair, kills: number, seed: number): Promise<KillLoopReport> {
  const world = await createPairWorld(pair, { partitions: 4, batchRecordsMax, undecodable: 'quarantine' })
  const { settings, place, log, openStore } = world
  try {
    const writer = await openDispatchWriter({ place, topic: settings.topic, deadlineMs: 60_000 })
    try {
      return await runKillLoop({
        ...{ kills, seed, batchRecordsMax, writer, log, openStore },
        args: argumentsOf(settings),
        script: programs.projector,
        topic: settings.topic,
      })
    } finally {
      await writer.close()
    }
  } finally {
    await world.close()
  }
}
