import { describe, expect, it } from 'vitest'
import { checkComplete, createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

async function runToReady(world: ProjectionWorld): Promise<void> {
  const projection = world.projection()
  const started = await projection.start()
  expect(started.kind).toBe('started')
  expect(await projection.caughtUp({ deadlineMs: 60_000 })).toEqual({ kind: 'ready' })
  await projection.stop()
}

async function refusalCodes(world: ProjectionWorld): Promise<readonly string[]> {
  const before = world.server.snapshot()
  const projection = world.projection()
  const started = await projection.start()
  expect(world.server.snapshot()).toEqual(before)
  expect(projection.status().state).toBe('stopped')
  return started.kind === 'refused' ? started.refusals.map((refusal) => refusal.code) : []
}

describe('starting a projection', () => {
  it('[A3] [CKP-6] starts at 0 without a checkpoint when the history is complete, and writes the format byte for byte', async () => {
    const world = createProjectionWorld()
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1), dispatch('ben', 2))
    await runToReady(world)
    expect(world.fields(0)).toEqual({
      format_version: '1',
      dispatch_topic: topicName,
      partition_count: '2',
      cluster_id: world.log.cluster.clusterId,
      topic_id: topic.topicId,
      partition: '0',
      next_offset: '2',
    })
    expect(world.checkpoint(1)).toBe(0n)
    checkComplete(world)
  })

  it('[A2] [CKP-5] resumes at the checkpoint, and is ready at once when it stands at the end', async () => {
    const world = createProjectionWorld()
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1))
    await runToReady(world)
    topic.append(0, dispatch('ann', 2))
    const projection = world.projection()
    const started = await projection.start()
    expect(started.kind === 'started' && started.plan.partitions.map((p) => p.nextOffset)).toEqual([1n, 0n])
    expect((await projection.caughtUp()).kind).toBe('ready')
    await projection.stop()
    expect(world.checkpoint(0)).toBe(2n)

    const again = world.projection()
    await again.start()
    expect((await again.caughtUp({ deadlineMs: 50 })).kind).toBe('ready')
    await again.stop()
  })

  it('[A3] [CK-06] refuses without a checkpoint when the log no longer starts at 0, without waiting', async () => {
    const world = createProjectionWorld()
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 6; n += 1) topic.append(1, dispatch('ann', n))
    topic.deleteRecordsBefore(1, 5)
    expect(await refusalCodes(world)).toEqual(['LOW_NOT_ZERO'])
  })

  it('[A4] [A5] [CK-03] refuses a recreated topic whose range holds the old position, twice alike, and changes nothing', async () => {
    const world = createProjectionWorld()
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1), dispatch('ann', 2))
    await runToReady(world)
    const recreated = world.log.cluster.recreateTopic(topicName)
    for (let n = 0; n < 8; n += 1) recreated.append(0, dispatch('zoe', n))
    expect(await refusalCodes(world)).toEqual(['TOPIC_ID'])
    expect(await refusalCodes(world)).toEqual(['TOPIC_ID'])
  })

  it('[A12] [CKP-10] refuses a log that holds another record where the last one was applied', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1), dispatch('ann', 2), dispatch('ann', 3))
    await runToReady(world)
    topic.truncate(0, 2)
    topic.append(0, dispatch('eve', 7), dispatch('eve', 8))
    expect(await refusalCodes(world)).toEqual(['LOG_DIVERGED'])
  })

  it('[CKP-14] explains without writing, and a refused start leaves not even a fence', async () => {
    const world = createProjectionWorld()
    const projection = world.projection()
    expect((await projection.explain()).kind).toBe('start')
    expect(world.server.snapshot().size).toBe(0)
    await projection.stop()
  })

  it('[CKP-13] refuses when a topic is recreated between the dry verdict and the last identity check, writing only fences', async () => {
    const world = createProjectionWorld()
    world.log.gate.before('surveyIdentity', 3, () => void world.log.cluster.recreateTopic(topicName))
    const started = await world.projection().start()
    expect(started.kind === 'refused' && started.refusals.map((refusal) => refusal.code)).toEqual(['IDENTITY_CHANGED'])
    expect([...world.server.snapshot().keys()].every((key) => key.startsWith('p:fence:'))).toBe(true)
    expect(world.server.snapshot().size).toBe(2)
  })

  it('[CK-51] refuses while the broker claims a valid position is gone, and starts once it does not', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1), dispatch('ann', 2))
    await runToReady(world)
    world.log.inspecting.boundsRewrite = (bounds) =>
      bounds.map((b) => ({ ...b, lastStableOffset: 1n, highWatermark: 1n }) as typeof b)
    expect(await refusalCodes(world)).toContain('NEXT_ABOVE_HIGH')
    world.log.inspecting.boundsRewrite = undefined
    await runToReady(world)
    checkComplete(world)
  })

  it('[CK-05] a shrunk partition count is a refusal, not a throw from inside', async () => {
    const world = createProjectionWorld({ partitions: 4 })
    await runToReady(world)
    world.log.cluster.recreateTopic(topicName, { partitions: 2 })
    expect(await refusalCodes(world)).toEqual(['TOPIC_ID', 'PARTITION_COUNT', 'EXTRA_CHECKPOINT', 'EXTRA_CHECKPOINT'])
  })

  it('[CKP-30] a projection starts once', async () => {
    const world = createProjectionWorld()
    const projection = world.projection()
    await projection.start()
    await expect(projection.start()).rejects.toMatchObject({ code: 'TM_CHECKPOINT_ALREADY_STARTED' })
    await projection.stop()
  })

  it('[CKP-14] an unreachable store is an error within the deadline, and the projection is dirty', async () => {
    const world = createProjectionWorld()
    const log = world.log.openLog()
    world.log.gate.failOnce('surveyIdentity', 1, new Error('no route'))
    const projection = world.projection({ log })
    await expect(projection.start()).rejects.toMatchObject({ code: 'TM_CHECKPOINT_START_FAILED' })
    expect(projection.status().dirty?.code).toBe('START_FAILED')
    expect(world.server.snapshot().size).toBe(0)
  })
})
