import { explainStart } from '@tidemark/checkpoint'
import type { IdempotentWriter, ProjectionLimits, ProjectionOptions } from '@tidemark/checkpoint'
import { createMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import type { CommittedLog, ReadBack, ReadBackRequest } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { checkComplete, createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

/**
 * The log of a world whose broker takes its time over a read-back, and moves: only the limit of the whole ends it.
 * `silent` is a broker that never says a word to it.
 */
function slowLog(
  world: ProjectionWorld,
  takesMs: number | 'silent',
): CommittedLog & { readonly asked: ReadBackRequest[] } {
  const log = world.log.openLog()
  const asked: ReadBackRequest[] = []
  return {
    ...log,
    asked,
    async readBack(request) {
      asked.push(request)
      const { deadlineMs, totalMsMax = deadlineMs, signal } = request
      const [endMs, why] =
        takesMs === 'silent' ? [Math.min(deadlineMs, totalMsMax), 'nothing came'] : [totalMsMax, 'not within the total']
      const needsMs = takesMs === 'silent' ? Infinity : takesMs
      await world.log.clock.sleep(Math.min(needsMs, endMs), signal)
      if (needsMs <= endMs && signal?.aborted !== true) return log.readBack(request)
      return request.records.map((stretch): ReadBack => ({ kind: 'unreadable', ...stretch, message: why }))
    },
  }
}

const open = (world: ProjectionWorld) =>
  createMemoryProjectionStore({ namespace: 'p', server: world.server, nonce: () => world.chooser.hex(32) })

/** A projection that stands behind an aborted transaction, as the last thing in its log. */
async function behindAborted(): Promise<ProjectionWorld> {
  const world = createProjectionWorld({ partitions: 1 })
  const topic = world.log.cluster.topic(topicName)
  for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
  const transaction = topic.begin()
  for (let n = 5; n < 9; n += 1) transaction.append(0, dispatch('ann', n))
  transaction.abort()
  const projection = world.projection()
  await projection.start()
  expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
  await projection.stop()
  expect(world.checkpoint(0)).toBe(10n)
  return world
}

const limits = (more: Partial<ProjectionLimits> = {}): Partial<ProjectionOptions<IdempotentWriter>> => ({
  limits: { batchRecordsMax: 4, stallMsMax: 5_000, inspectMsMax: 1_000, ...more },
})

describe('a start behind a stretch that takes long to be read through', () => {
  it('[CKP-61] goes through while the broker moves, though every look takes many deadlines', async () => {
    const world = await behindAborted()
    const log = slowLog(world, 300_000)
    const projection = world.projection({ log, ...limits() })
    expect((await projection.start()).kind).toBe('started')
    expect(log.asked.map(({ deadlineMs, totalMsMax }) => [deadlineMs, totalMsMax])).toEqual([
      [1_000, 600_000],
      [1_000, 600_000],
    ])
    expect(log.asked[0]!.records).toContainEqual({ partition: 0, offset: 5n, before: 10n })
    expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
    await projection.stop()
    checkComplete(world)
  })

  it('[CKP-61] is refused after the limit of the whole, which the remedy names, and goes through once it is raised', async () => {
    const world = await behindAborted()
    const before = world.server.snapshot()
    const startedMs = world.log.clock.monotonicMs()
    const short = world.projection({ log: slowLog(world, 900_000), ...limits() })
    expect(await short.start()).toMatchObject({
      kind: 'refused',
      refusals: [{ code: 'WITNESS_UNPROVEN', partition: 0, remedy: expect.stringContaining('readBackMsMax') }],
    })
    expect(world.log.clock.monotonicMs() - startedMs).toBeLessThan(601_000)
    expect(world.server.snapshot()).toEqual(before)
    const projection = world.projection({ log: slowLog(world, 900_000), ...limits({ readBackMsMax: 1_000_000 }) })
    expect((await projection.start()).kind).toBe('started')
    await projection.stop()
  })

  it('[CKP-61] is refused within the deadline of one question when the broker keeps silent', async () => {
    const world = await behindAborted()
    const startedMs = world.log.clock.monotonicMs()
    const projection = world.projection({ log: slowLog(world, 'silent'), ...limits({ readBackMsMax: 1_000_000 }) })
    const started = await projection.start()
    expect(started).toMatchObject({ kind: 'refused', refusals: [{ code: 'WITNESS_UNPROVEN' }] })
    expect(world.log.clock.monotonicMs() - startedMs).toBeLessThan(2_000)
  })

  it('[CKP-61] ends when it is stopped meanwhile', async () => {
    const world = await behindAborted()
    const before = world.server.snapshot()
    const projection = world.projection({ log: slowLog(world, 300_000), ...limits() })
    const starting = projection.start().then(
      ({ kind }) => kind,
      (error: { readonly code?: string }) => error.code,
    )
    await world.log.clock.sleep(2_000)
    const startedMs = world.log.clock.monotonicMs()
    await projection.stop()
    expect(['refused', 'TM_CHECKPOINT_START_FAILED', 'TM_CORE_CANCELLED']).toContain(await starting)
    expect(world.log.clock.monotonicMs() - startedMs).toBeLessThan(60_000)
    expect(world.server.snapshot()).toEqual(before)
  })

  it('[CKP-48] [CKP-61] an explanation waits as a start does, with the same default and the same option', async () => {
    const world = await behindAborted()
    const explained = async (readBackMsMax?: number) => {
      const log = slowLog(world, 300_000)
      const asked = { topic: topicName, log, store: open(world), readyTarget: 'hw', inspectMsMax: 1_000 } as const
      const more = readBackMsMax === undefined ? {} : { readBackMsMax }
      return (await explainStart({ ...asked, ...more })).verdict.kind
    }
    expect(await explained()).toBe('start')
    expect(await explained(200_000)).toBe('refused')
    for (const wrong of [0, Number.NaN, 1e9]) {
      await expect(explained(wrong)).rejects.toMatchObject({ code: 'TM_CORE_LIMIT_INVALID' })
    }
  })
})

describe('a new leader behind a stretch that takes long to be read through', () => {
  const lives = { leaseMs: 600_000 }

  it('[CKP-60] [CKP-61] is read through while the broker moves, within the time without an advance', async () => {
    const world = await behindAborted()
    const log = slowLog(world, 4_000)
    const projection = world.projection({ log, ...lives, ...limits({ stallMsMax: 30_000 }) })
    expect((await projection.start()).kind).toBe('started')
    const topic = world.log.cluster.topic(topicName)
    topic.partition(0).electLeader()
    topic.append(0, dispatch('ann', 9))
    const untilMs = world.log.clock.monotonicMs() + 60_000
    while (world.checkpoint(0) !== 11n) {
      if (world.log.clock.monotonicMs() > untilMs) throw new Error(JSON.stringify(projection.status()))
      await world.log.clock.sleep(10)
    }
    checkComplete(world)
    await projection.stop()
  })

  it('[CKP-60] [CKP-61] and no longer than that', async () => {
    const world = await behindAborted()
    const log = slowLog(world, 40_000)
    const projection = world.projection({ log, ...lives, ...limits({ stallMsMax: 30_000 }) })
    expect((await projection.start()).kind).toBe('started')
    const topic = world.log.cluster.topic(topicName)
    topic.partition(0).electLeader()
    topic.append(0, dispatch('ann', 9))
    const startedMs = world.log.clock.monotonicMs()
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { partition: 0 } })
    expect(ended.kind === 'dirty' && ['READ_FAILED', 'PARTITION_STALLED']).toContain(
      ended.kind === 'dirty' && ended.reason.code,
    )
    expect(world.log.clock.monotonicMs() - startedMs).toBeLessThan(40_000)
    expect(world.checkpoint(0)).toBe(10n)
    await projection.stop()
  })
})
