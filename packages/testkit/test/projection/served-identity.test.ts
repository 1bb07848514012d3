import type { Projection } from '@tidemark/checkpoint'
import { topicIdOf } from '@tidemark/core'
import type { CommittedLog, PartitionBatch } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { checkComplete, createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

const otherId = topicIdOf('0d9c2a51-5a4f-4d1e-9b7f-64a3a1f0c2de')
const limits = { batchRecordsMax: 4, stallMsMax: 5_000, inspectMsMax: 500 }

async function startReady(projection: Projection): Promise<Projection> {
  expect((await projection.start()).kind).toBe('started')
  expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
  return projection
}

async function untilNext(world: ProjectionWorld, projection: Projection, next: string): Promise<void> {
  const untilMs = world.log.clock.monotonicMs() + 60_000
  while (projection.status().partitions[0]?.next !== next) {
    if (world.log.clock.monotonicMs() > untilMs) throw new Error(JSON.stringify(projection.status()))
    await world.log.clock.sleep(10)
  }
}

/** A log whose reader says of its batches what a test plants, whatever it really reads. */
function saying(log: CommittedLog, say: (batch: PartitionBatch) => PartitionBatch): CommittedLog {
  return {
    ...log,
    async openReader(request) {
      const reader = await log.openReader(request)
      return {
        ...reader,
        async poll(poll) {
          const result = await reader.poll(poll)
          return result.kind === 'failed' ? result : { kind: 'fetched', batches: result.batches.map(say) }
        },
      }
    },
  }
}

describe('a batch that says under which topic id it was served', () => {
  it('[CKP-31] [LOG-12] is applied without a check when it is the held id, while a broker is silent', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2, recreation: 'fails' })
    const projection = await startReady(world.projection({ limits }))
    world.log.cluster.broker(2).behave({ kind: 'silent' })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    const appendedAtMs = world.log.clock.monotonicMs()
    await untilNext(world, projection, '1')
    expect(world.log.clock.monotonicMs() - appendedAtMs).toBeLessThan(500)
    // The periodic check stays: silence that lasts still ends the projection.
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_UNPROVEN' } })
    await projection.stop()
    checkComplete(world)
  })

  it('[CKP-31] asks for no check of its own', async () => {
    const checks = async (recreation: 'silent' | 'fails'): Promise<number> => {
      const world = createProjectionWorld({ partitions: 1, recreation })
      const projection = await startReady(world.projection({ leaseMs: 600_000 }))
      const before = projection.status().counters.identityChecks
      for (let n = 0; n < 20; n += 1) {
        world.log.cluster.topic(topicName).append(0, dispatch('ann', n))
        await untilNext(world, projection, String(n + 1))
      }
      const after = projection.status().counters.identityChecks
      await projection.stop()
      checkComplete(world)
      return after - before
    }
    expect(await checks('silent')).toBeGreaterThanOrEqual(20)
    expect(await checks('fails')).toBe(0)
  })

  it('[CKP-31] ends the projection when it is another id, and nothing that came with it is applied', async () => {
    const world = createProjectionWorld({ partitions: 2 })
    const topic = world.log.cluster.topic(topicName)
    for (const partition of [0, 1]) for (let n = 0; n < 8; n += 1) topic.append(partition, dispatch('ann', n))
    let answers = 0
    const log = saying(world.log.openLog(), (batch) => {
      answers += 1
      return { ...batch, servedTopicId: batch.partition === 1 ? otherId : topic.topicId }
    })
    const projection = world.projection({ log, leaseMs: 600_000 })
    await projection.start()
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH', partition: 1 } })
    expect(JSON.stringify(ended)).toContain(otherId)
    expect(answers).toBeGreaterThan(0)
    expect(world.checkpoint(1)).toBe(0n)
    await projection.stop()
  })

  it('[A5] [CKP-31] is not believed beyond its word: a reader that goes on in a recreated topic and says so is stopped', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const { cluster } = world.log
    for (let n = 0; n < 5; n += 1) cluster.topic(topicName).append(0, dispatch('ann', n))
    const log = saying(world.log.openLog(), (batch) => ({
      ...batch,
      servedTopicId: cluster.topic(topicName).topicId,
    }))
    const projection = await startReady(world.projection({ log, leaseMs: 600_000 }))
    world.log.reading.frozen = true
    const recreated = cluster.recreateTopic(topicName)
    for (let n = 0; n < 40; n += 1) recreated.append(0, dispatch('new', n))
    // No survey answers any more: what stops it is the id alone.
    cluster.broker(1).behave({ kind: 'silent' })
    world.log.reading.frozen = false
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH' } })
    expect(world.checkpoint(0)).toBe(5n)
    expect(world.sessions('new')).toEqual({})
    await projection.stop()
  })

  it('[CKP-31] [LOG-5] needs a check as ever when it says nothing, also between others that do', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2 })
    const topic = world.log.cluster.topic(topicName)
    let silent = false
    const log = saying(world.log.openLog(), (batch) => (silent ? batch : { ...batch, servedTopicId: topic.topicId }))
    const projection = await startReady(world.projection({ log, limits }))
    world.log.cluster.broker(2).behave({ kind: 'silent' })
    topic.append(0, dispatch('ann', 1))
    await untilNext(world, projection, '1')
    silent = true
    topic.append(0, dispatch('ann', 2))
    await world.log.clock.sleep(200)
    silent = false
    topic.append(0, dispatch('ann', 3))
    await world.log.clock.sleep(1_000)
    // The third is proven, but stands behind the second: order comes first.
    expect(world.checkpoint(0)).toBe(1n)
    world.log.cluster.broker(2).behave({ kind: 'normal' })
    await untilNext(world, projection, '3')
    await projection.stop()
    checkComplete(world)
  })

  it('[CKP-40] is applied by a stop without waiting for an answer of brokers', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2, recreation: 'fails' })
    const projection = await startReady(world.projection({ limits }))
    world.log.cluster.broker(2).behave({ kind: 'silent' })
    for (let n = 0; n < 50; n += 1) world.log.cluster.topic(topicName).append(0, dispatch('ann', n))
    while (projection.status().partitions[0]!.queued === 0 && projection.status().partitions[0]!.next === '0') {
      await world.log.clock.sleep(1)
    }
    const stoppedAtMs = world.log.clock.monotonicMs()
    await projection.stop()
    expect(world.log.clock.monotonicMs() - stoppedAtMs).toBeLessThan(2_500)
    expect(world.checkpoint(0)).toBeGreaterThan(0n)
  })

  it('[A5] the start hands the reader the identity it proved: a topic recreated just before the opening is not read', async () => {
    const world = createProjectionWorld({ partitions: 1, recreation: 'fails' })
    const { cluster, gate } = world.log
    gate.before('openReader', 1, () => {
      const recreated = cluster.recreateTopic(topicName)
      for (let n = 0; n < 9; n += 1) recreated.append(0, dispatch('new', n))
    })
    const projection = world.projection({ leaseMs: 600_000 })
    await projection.start()
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'READ_FAILED' } })
    expect(world.sessions('new')).toEqual({})
    await projection.stop()
  })
})
