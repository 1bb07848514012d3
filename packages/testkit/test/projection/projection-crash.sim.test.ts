import { exploreCrashes } from '@tidemark/testkit/sim'
import type { CrashSubject } from '@tidemark/testkit/sim'
import { describe, expect, it } from 'vitest'
import { checkComplete, checkNotAhead, createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

const isFull = process.env['TIDEMARK_SIZE'] === 'full'
const seed = Number(process.env['TIDEMARK_SEED'] ?? 1)

/** A log with transactions, an abort at the end of one partition, a gap, and a damaged record. */
function fill(world: ProjectionWorld): void {
  const topic = world.log.cluster.topic(topicName)
  topic.append(0, dispatch('ann', 5), dispatch('ben', 1), { value: 'damaged' })
  const committed = topic.begin()
  committed.append(0, dispatch('ann', 3))
  committed.append(1, dispatch('cy', 9), dispatch('cy', 4))
  committed.commit()
  topic.append(0, dispatch('ann', 6), dispatch('ben', 2))
  const aborted = topic.begin()
  aborted.append(1, dispatch('nobody', 1), dispatch('nobody', 2))
  aborted.abort()
}

const subject = (): CrashSubject<ProjectionWorld> => ({
  createWorld() {
    const world = createProjectionWorld({ seed })
    fill(world)
    return world
  },
  async live(world, process) {
    const projection = world.projection({}, process)
    try {
      const started = await projection.start()
      if (started.kind === 'refused') throw new Error(`refused: ${started.refusals.map((r) => r.code).join()}`)
      await projection.caughtUp({ deadlineMs: 120_000 })
    } catch (error) {
      // A lost reply during the start is an error there; the next life starts over.
      if (!String((error as { code?: string }).code).startsWith('TM_CHECKPOINT_START_FAILED')) throw error
    }
    await projection.stop()
  },
  checkAlways: checkNotAhead,
  checkEnd(world) {
    checkNotAhead(world)
    checkComplete(world)
    for (const partition of [0, 1]) {
      const { lastStableOffset } = world.log.cluster.topic(topicName).partition(partition).bounds()
      if (world.checkpoint(partition) !== lastStableOffset) {
        throw new Error(
          `checkpoint ${partition} is ${world.checkpoint(partition)}, the log ends at ${lastStableOffset}`,
        )
      }
    }
  },
})

describe('a projection that may die anywhere', () => {
  it(`[A13] loses nothing at any single await (seed ${seed})`, async () => {
    const report = await exploreCrashes(subject(), { depth: 'single', seed })
    expect(report.singleRuns).toBeGreaterThan(50)
    expect([...report.pointsByCall.keys()]).toEqual(
      expect.arrayContaining([
        'store.read',
        'store.claim',
        'store.bootstrap',
        'store.advance',
        'reader.poll',
        'inspector.surveyIdentity',
      ]),
    )
  })

  it(`[A13] loses nothing when the recovery dies too (seed ${seed})`, async () => {
    const report = await exploreCrashes(subject(), { depth: 'double', seed, pairsMax: isFull ? 20_000 : 400 })
    expect(report.doubleRuns).toBeGreaterThanOrEqual(isFull ? 5_000 : 400)
  })
})
