import type { IdempotentWriter, Projection, ProjectionStatus } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'
import { turns } from '@tidemark/testkit/sim'
import type { ManualClock } from '@tidemark/testkit/sim'
import { describe, expect, it } from 'vitest'
import {
  checkComplete,
  checkNotAhead,
  createProjectionWorld,
  dispatch,
  projectDispatch,
  topicName,
} from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

async function startReady(world: ProjectionWorld, projection: Projection = world.projection()): Promise<Projection> {
  expect((await projection.start()).kind).toBe('started')
  expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
  return projection
}

async function dirtyCode(projection: Projection): Promise<string> {
  const ended = await projection.ended()
  expect(projection.status()).toMatchObject({ state: 'dirty', ready: false })
  return ended.kind === 'dirty' ? ended.reason.code : ended.kind
}

/** Lets a projection run until a condition on its status holds, within a simulated minute. */
async function until(
  world: ProjectionWorld,
  projection: Projection,
  holds: (status: ProjectionStatus) => boolean,
): Promise<void> {
  const untilMs = world.log.clock.monotonicMs() + 60_000
  while (!holds(projection.status())) {
    if (world.log.clock.monotonicMs() > untilMs) throw new Error(`not reached: ${JSON.stringify(projection.status())}`)
    await world.log.clock.sleep(10)
  }
}

const next = (status: ProjectionStatus, partition: number): string | undefined => status.partitions[partition]?.next

describe('identity while running', () => {
  it('[A5] [CK-01] [CKP-31] applies nothing of a topic recreated while fetching was held', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
    const projection = await startReady(world, world.projection({ leaseMs: 600_000 }))
    world.log.reading.frozen = true
    const recreated = world.log.cluster.recreateTopic(topicName)
    for (let n = 0; n < 40; n += 1) recreated.append(0, dispatch('new', n))
    world.log.reading.frozen = false
    expect(await dirtyCode(projection)).toBe('IDENTITY_MISMATCH')
    expect(world.checkpoint(0)).toBe(5n)
    expect(world.sessions('new')).toEqual({})
    await projection.stop()
  })

  it('[A5] [CK-02] goes dirty within the lease when a topic is recreated and nothing is produced', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    world.log.cluster.recreateTopic(topicName)
    const recreatedAtMs = world.log.clock.monotonicMs()
    expect(await dirtyCode(projection)).toBe('IDENTITY_MISMATCH')
    expect(world.log.clock.monotonicMs() - recreatedAtMs).toBeLessThanOrEqual(1_200)
    await projection.stop()
  })

  it('[A5] one stale broker of three cannot outvote the truth, and the truth cannot be outvoted', async () => {
    const world = createProjectionWorld({ brokers: 3 })
    const projection = await startReady(world)
    world.log.cluster.makeStale(2)
    world.log.cluster.recreateTopic(topicName)
    expect(await dirtyCode(projection)).toBe('IDENTITY_MISMATCH')
    await projection.stop()
  })

  it('[CKP-31] holds records while a broker is silent and applies them once it answers', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2 })
    const projection = await startReady(
      world,
      world.projection({ limits: { batchRecordsMax: 4, stallMsMax: 5_000, inspectMsMax: 500 } }),
    )
    world.log.cluster.broker(2).behave({ kind: 'silent' })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    await world.log.clock.sleep(2_000)
    expect(world.checkpoint(0)).toBe(0n)
    world.log.cluster.broker(2).behave({ kind: 'normal' })
    await until(world, projection, (status) => next(status, 0) === '1')
    expect(projection.status().ready).toBe(true)
    await projection.stop()
  })

  it('[CKP-31] goes dirty when a broker stays silent for too long', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2 })
    const projection = await startReady(world)
    world.log.cluster.broker(2).behave({ kind: 'answers', reason: 'authorization' })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    expect(await dirtyCode(projection)).toBe('IDENTITY_UNPROVEN')
    expect(world.checkpoint(0)).toBe(0n)
    await projection.stop()
  })

  it('[CK-18] goes dirty when partitions are added', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    world.log.cluster.topic(topicName).grow(3)
    expect(await dirtyCode(projection)).toBe('IDENTITY_MISMATCH')
    await projection.stop()
  })

  it("goes dirty when the consumer's own client sees another topic id than the brokers", async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    const other = createProjectionWorld({ seed: 99 }).log.cluster.topic(topicName)
    world.log.reading.clientStatement = { kind: 'described', topicId: other.topicId, partitionCount: 2 }
    expect(await dirtyCode(projection)).toBe('IDENTITY_MISMATCH')
    await projection.stop()
  })
})

describe('catching up', () => {
  it('[A6] [CKP-35] is ready at H0 although records keep arriving, and goes on with those', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 20; n += 1) topic.append(0, dispatch('ann', n))
    const projection = world.projection({
      observer: { onStep: () => void topic.append(0, dispatch('late', topic.committed(0).length)) },
    })
    await projection.start()
    expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
    expect(projection.status().partitions[0]?.target).toBe('20')
    await until(world, projection, (status) => Number(next(status, 0)) > 30)
    expect(projection.status().partitions[0]?.target).toBe('20')
    await projection.stop()
    checkNotAhead(world)
  })

  it('[A10] [CK-25] [CK-27] [CK-29] reaches the end over control records and an aborted tail, and keeps that position', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    const committed = topic.begin()
    committed.append(0, dispatch('ann', 1), dispatch('ann', 2), dispatch('ann', 3))
    committed.commit()
    const aborted = topic.begin()
    aborted.append(0, dispatch('no', 1), dispatch('no', 2), dispatch('no', 3), dispatch('no', 4))
    aborted.abort()
    const projection = await startReady(world)
    expect(world.checkpoint(0)).toBe(topic.partition(0).bounds().highWatermark)
    await projection.stop()
    checkComplete(world)
  })

  it('[CK-26] proceeds from a position inside a compacted gap', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 4; n += 1) topic.append(0, dispatch('ann', n))
    await (await startReady(world)).stop()
    for (let n = 4; n < 9; n += 1) topic.append(0, dispatch('ann', n))
    topic.compact(0, (record) => record.offset < 4n || record.offset === 8n)
    const projection = await startReady(world)
    expect(world.checkpoint(0)).toBe(9n)
    await projection.stop()
  })

  it('[A10] [CK-34] [CK-53] with target hw waits for an open transaction, explains, and completes once it ends', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    const open = topic.begin()
    open.append(0, dispatch('ann', 1))
    topic.append(0, dispatch('ben', 2))
    const projection = world.projection()
    await projection.start()
    const waited = await projection.caughtUp({ deadlineMs: 3_000 })
    expect(waited).toMatchObject({ kind: 'timed-out' })
    expect(waited.kind === 'timed-out' && waited.explanation).toBe(
      'partition 0 has 0, needs 2 (lso 0, hw 2); an open transaction holds the rest back, abort it if its producer is gone',
    )
    open.commit()
    expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
    await projection.stop()
    checkComplete(world)
  })

  it('[A10] [CK-33] with target lso is ready below an open transaction and reports hw - lso', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ben', 2))
    const open = topic.begin()
    open.append(0, dispatch('ann', 1))
    topic.append(0, dispatch('ben', 3))
    const projection = world.projection({ readyTarget: 'lso' })
    await projection.start()
    expect((await projection.caughtUp({ deadlineMs: 10_000 })).kind).toBe('ready')
    expect(projection.status().partitions[0]).toMatchObject({ target: '1', openTransaction: 2, next: '1' })
    await projection.stop()
  })

  it('[CK-30] an emptied partition whose bounds meet at the checkpoint is ready at once', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
    await (await startReady(world)).stop()
    topic.deleteRecordsBefore(0, 5)
    await (await startReady(world)).stop()
  })
})

describe('faults of the log while running', () => {
  it('[CK-15] [CK-38] a record below the expected one ends it: nothing is applied and nothing reset', async () => {
    for (const stale of [0, 3]) {
      const world = createProjectionWorld({ partitions: 1 })
      const topic = world.log.cluster.topic(topicName)
      for (let n = 0; n < 40; n += 1) topic.append(0, dispatch('ann', n))
      const projection = await startReady(world)
      const [record] = createProjectionWorld({ seed: 5, partitions: 1 })
        .log.cluster.topic(topicName)
        .append(0, dispatch('eve', 1))
      expect(record).toBe(0n)
      const late = { ...topic.committed(0)[0]!, offset: offsetOf(stale), value: new TextEncoder().encode('eve|c|1') }
      world.log.reading.staleBatches.push({ partition: 0, records: [late] })
      expect(await dirtyCode(projection)).toBe('OFFSETS_BACKWARDS')
      expect(world.checkpoint(0)).toBe(40n)
      expect(world.sessions('eve')).toEqual({})
      await projection.stop()
    }
  })

  it('[CK-37] a reader that starts elsewhere than assigned is refused at its first record', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 10; n += 1) topic.append(0, dispatch('ann', n))
    await (await startReady(world)).stop()
    world.log.reading.staleBatches.push({ partition: 0, records: topic.committed(0).slice(2, 4) })
    const projection = world.projection()
    await projection.start()
    expect(await dirtyCode(projection)).toBe('OFFSETS_BACKWARDS')
    await projection.stop()
  })

  it('[CK-35] [CKP-37] out of range of one partition, swallowed by the client, ends in dirty by the watchdog', async () => {
    const world = createProjectionWorld()
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 3; n += 1) topic.append(0, dispatch('ann', n))
    const projection = await startReady(world, world.projection({ leaseMs: 1_000 }))
    world.log.reading.swallowFailures = true
    world.log.reading.frozen = true
    for (let n = 3; n < 8; n += 1) topic.append(0, dispatch('ann', n))
    topic.deleteRecordsBefore(0, 6)
    world.log.reading.frozen = false
    topic.append(1, dispatch('ben', 1))
    const ended = await projection.ended()
    expect(ended).toMatchObject({
      kind: 'dirty',
      reason: { code: 'NEXT_BELOW_LOW', partition: 0, values: { gap: '3' } },
    })
    expect(world.checkpoint(0)).toBe(3n)
    await projection.stop()
  })

  it('[CKP-37] a partition without progress while records wait ends in dirty after the stall limit', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    world.log.reading.frozen = true
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    await until(world, projection, (status) => status.partitions[0]?.stalledMs !== undefined)
    const startedMs = world.log.clock.monotonicMs()
    expect(await dirtyCode(projection)).toBe('PARTITION_STALLED')
    expect(world.log.clock.monotonicMs() - startedMs).toBeGreaterThan(3_000)
    await projection.stop()
  })

  it('[A11] [CK-50] retention passing the position between the plan and the first fetch ends in dirty, not in a reset', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 8; n += 1) topic.append(0, dispatch('ann', n))
    world.log.gate.before('openReader', 1, () => topic.deleteRecordsBefore(0, 6))
    const projection = world.projection()
    await projection.start()
    expect(await dirtyCode(projection)).toBe('OUT_OF_RANGE')
    expect(world.checkpoint(0)).toBe(0n)
    await projection.stop()
  })

  it('[CK-55] [CKP-36] retention passing the read position while running is loss, said with the gap', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    const projection = await startReady(world)
    world.log.reading.frozen = true
    for (let n = 0; n < 8; n += 1) topic.append(0, dispatch('ann', n))
    topic.deleteRecordsBefore(0, 5)
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'NEXT_BELOW_LOW', values: { gap: '5' } } })
    await projection.stop()
  })

  it('[CKP-36] retention passing applied positions whose records are already fetched loses nothing', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2 })
    const topic = world.log.cluster.topic(topicName)
    const projection = await startReady(world)
    world.log.cluster.broker(2).behave({ kind: 'answers', reason: 'no-leader' })
    for (let n = 0; n < 4; n += 1) topic.append(0, dispatch('ann', n))
    await until(world, projection, (status) => status.partitions[0]?.queued === 4)
    topic.deleteRecordsBefore(0, 4)
    await world.log.clock.sleep(1_500)
    world.log.cluster.broker(2).behave({ kind: 'normal' })
    await until(world, projection, (status) => next(status, 0) === '4')
    expect(Object.keys(world.sessions('ann'))).toHaveLength(4)
    await projection.stop()
  })

  it('[A12] a truncation below what was applied is found while running', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
    const projection = await startReady(world)
    world.log.reading.frozen = true
    topic.truncate(0, 2)
    expect(await dirtyCode(projection)).toBe('NEXT_ABOVE_HIGH')
    await projection.stop()
  })

  it('[CK-54] [CKP-42] no figure of the status is ever negative, also over a recreated topic', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
    const projection = await startReady(world)
    world.log.cluster.recreateTopic(topicName)
    await projection.ended()
    const [partition] = projection.status().partitions
    expect(Math.min(partition!.behind, partition!.headroom, partition!.openTransaction)).toBeGreaterThanOrEqual(0)
    await projection.stop()
  })

  it('[CK-22] [CK-47] the status shows headroom, distance and since when a partition waits', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
    const projection = await startReady(world)
    topic.deleteRecordsBefore(0, 4)
    world.log.reading.frozen = true
    topic.append(0, dispatch('ann', 9), dispatch('ann', 10))
    await until(world, projection, (status) => (status.partitions[0]?.stalledMs ?? 0) > 1_000)
    expect(projection.status().partitions[0]).toMatchObject({ low: '4', next: '5', headroom: 1, behind: 2 })
    await projection.stop()
  })
})

describe('faults of the store while running', () => {
  it('[A9] an emptied server is found at the next write, and no lone checkpoint appears in it', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1))
    const projection = await startReady(world, world.projection({ leaseMs: 600_000 }))
    world.server.restart({ empty: true })
    topic.append(0, dispatch('ann', 2))
    expect(await dirtyCode(projection)).toBe('STORE_CHANGED')
    expect(world.server.snapshot().size).toBe(0)
    await projection.stop()
  })

  it('[A9] [CKP-38] an emptied server that nobody writes to is found within the lease', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    world.server.restart({ empty: true })
    expect(await dirtyCode(projection)).toBe('STORE_CHANGED')
    await projection.stop()
  })

  it('[CKP-38] a server restarted with all its data is adopted after a re-read, and work goes on', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1))
    const projection = await startReady(world, world.projection({ leaseMs: 600_000 }))
    world.server.restart({ empty: false })
    topic.append(0, dispatch('ann', 2))
    await until(world, projection, (status) => next(status, 0) === '2')
    expect(projection.status()).toMatchObject({ ready: true, counters: { conflicts: 1 } })
    await projection.stop()
    checkComplete(world)
  })

  it('[A8] [CK-49] the older of two writers loses at its next write and stops serving', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const older = await startReady(world, world.projection({ leaseMs: 600_000 }))
    const newer = await startReady(world, world.projection({ leaseMs: 600_000 }))
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    expect(await dirtyCode(older)).toBe('FENCED')
    await until(world, newer, (status) => next(status, 0) === '1')
    expect(newer.status().ready).toBe(true)
    await Promise.all([older.stop(), newer.stop()])
  })

  it('[A8] an idle older writer is found out within the lease', async () => {
    const world = createProjectionWorld()
    const older = await startReady(world)
    const newer = await startReady(world)
    expect(await dirtyCode(older)).toBe('FENCED')
    await Promise.all([older.stop(), newer.stop()])
  })

  it('[CK-14] meta deleted while running fences the next write', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const projection = await startReady(world, world.projection({ leaseMs: 600_000 }))
    world.server.put('p:meta', { kind: 'absent' })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    expect(await dirtyCode(projection)).toBe('CONFLICT')
    expect(world.checkpoint(0)).toBe(0n)
    await projection.stop()
  })

  it('[CK-10] [CK-13] [CK-58] a checkpoint moved by somebody else stops everything after it', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1))
    const projected: bigint[] = []
    const project = (record: LogRecord, write: IdempotentWriter): ReturnType<typeof projectDispatch> => {
      projected.push(record.offset)
      return projectDispatch(record, write)
    }
    const projection = await startReady(world, world.projection({ leaseMs: 600_000, project }))
    world.server.setField(`p:checkpoint:${topicName}:0`, 'next_offset', '120')
    for (let n = 0; n < 20; n += 1) topic.append(0, dispatch('ann', n))
    expect(await dirtyCode(projection)).toBe('CONFLICT')
    expect(world.checkpoint(0)).toBe(120n)
    await turns(20)
    // The first record, then the one step that lost; nothing behind it was looked at.
    expect(projected.length).toBeLessThanOrEqual(1 + 4)
    expect(projected).toEqual(projected.map((_, index) => BigInt(index)))
    expect(projection.status().counters.stepsApplied).toBe(1)
    await projection.stop()
  })
})

describe('records that cannot be projected', () => {
  it('[CKP-34] quarantine sets the record aside in the same step and goes on', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1), { value: 'damaged' }, dispatch('ann', 2), { value: null })
    const projection = await startReady(world)
    expect(projection.status().partitions[0]).toMatchObject({ next: '4', quarantined: 2 })
    await projection.stop()
    const again = await startReady(world)
    expect(again.status().partitions[0]?.quarantined).toBe(2)
    await again.stop()
  })

  it('[CKP-34] stop keeps everything before the record and ends there, each time', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1), { value: 'damaged' }, dispatch('ann', 2))
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const projection = world.projection({ undecodable: 'stop' })
      await projection.start()
      expect(await dirtyCode(projection)).toBe('UNDECODABLE')
      expect(world.checkpoint(0)).toBe(1n)
      expect(world.sessions('ann')).toEqual({ c1: 1 })
      await projection.stop()
    }
  })

  it('[CKP-34] a function that throws ends the projection under either policy: a fault of the program is not a bad record', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    const projection = world.projection({
      project: () => {
        throw new TypeError('undefined is not a function')
      },
    })
    await projection.start()
    expect(await dirtyCode(projection)).toBe('PROJECT_FAILED')
    expect(world.checkpoint(0)).toBe(0n)
    await projection.stop()
  })
})

describe('ending and bounding', () => {
  it('[CKP-40] a stop applies what was fetched and proven', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    const projection = await startReady(world)
    const release = world.log.gate.hold('surveyIdentity')
    for (let n = 0; n < 6; n += 1) topic.append(0, dispatch('ann', n))
    await until(world, projection, (status) => status.partitions[0]?.queued === 6)
    const stopped = projection.stop()
    release()
    await stopped
    expect(world.checkpoint(0)).toBe(6n)
    expect(projection.status()).toMatchObject({ state: 'stopped', ready: false })
  })

  it('[CKP-40] a stop that cannot finish ends at its deadline and loses nothing', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    const projection = await startReady(world)
    const release = world.log.gate.hold('surveyIdentity')
    topic.append(0, dispatch('ann', 1))
    await until(world, projection, (status) => status.partitions[0]?.queued === 1)
    await projection.stop()
    release()
    expect(world.checkpoint(0)).toBe(0n)
    await (await startReady(world)).stop()
    checkComplete(world)
  })

  it('[CKP-41] waiting records stay within the limits while nothing can be applied', async () => {
    const world = createProjectionWorld({ partitions: 2, brokers: 2 })
    const topic = world.log.cluster.topic(topicName)
    const limits = { batchRecordsMax: 4, stallMsMax: 60_000, queuedRecordsMax: 10 }
    const projection = await startReady(world, world.projection({ limits }))
    world.log.cluster.broker(2).behave({ kind: 'answers', reason: 'no-leader' })
    for (let n = 0; n < 500; n += 1) topic.append(n % 2, dispatch(`u${n}`, n))
    await world.log.clock.sleep(3_000)
    for (const partition of projection.status().partitions) expect(partition.queued).toBeLessThanOrEqual(10 + 20)
    world.log.cluster.broker(2).behave({ kind: 'normal' })
    await until(world, projection, (status) => next(status, 0) === '250' && next(status, 1) === '250')
    await projection.stop()
    checkComplete(world)
  })

  it('[CKP-41] the byte limit holds fetching back and lets it go on', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2 })
    const topic = world.log.cluster.topic(topicName)
    const limits = { batchRecordsMax: 4, stallMsMax: 60_000, queuedRecordsMax: 1_000, queuedBytesMax: 1_024 }
    const projection = await startReady(world, world.projection({ limits }))
    for (let n = 0; n < 400; n += 1) topic.append(0, dispatch(`user-with-a-long-name-${n}`, n))
    await until(world, projection, (status) => next(status, 0) === '400')
    await projection.stop()
    checkComplete(world)
  })

  it('[CKP-32] steps of one partition never overlap and keep their order, while partitions run side by side', async () => {
    const world = createProjectionWorld({ partitions: 3 })
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 60; n += 1) topic.append(n % 3, dispatch('ann', n))
    const last = new Map<number, bigint>()
    const projection = await startReady(
      world,
      world.projection({
        observer: {
          onStep: ({ partition, nextOffset }) => {
            expect(nextOffset).toBeGreaterThan(last.get(partition) ?? 0n)
            last.set(partition, nextOffset)
          },
        },
      }),
    )
    expect([...last.values()]).toEqual([20n, 20n, 20n])
    await projection.stop()
  })

  it('[CKP-39] a lease that cannot be renewed stops serving even before anything is decided', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    const release = world.log.gate.hold('readBounds')
    const clock = world.log.clock as ManualClock
    await clock.sleep(6_500)
    expect(projection.status()).toMatchObject({ state: 'ready', ready: false })
    release()
    await until(world, projection, (status) => status.ready)
    await projection.stop()
  })

  it('an observer that throws is counted and changes nothing', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(
      world,
      world.projection({
        observer: {
          onState: () => {
            throw new Error('observer')
          },
        },
      }),
    )
    expect(projection.status().counters.observerFailures).toBeGreaterThan(0)
    await projection.stop()
  })
})

describe('bounds that cannot be read', () => {
  it('[CKP-39] stop serving, and end in dirty when they stay so, although the identity is proven all the time', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    world.log.inspecting.boundsUnreadable = { partition: 1, message: 'partition 1 has no leader' }
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'BOUNDS_UNREADABLE' } })
    await projection.stop()
  })

  it('[CKP-39] are forgiven when they come back in time', async () => {
    const world = createProjectionWorld()
    const projection = await startReady(world)
    world.log.inspecting.boundsUnreadable = { partition: undefined, message: 'moving' }
    await world.log.clock.sleep(3_000)
    world.log.inspecting.boundsUnreadable = undefined
    await world.log.clock.sleep(10_000)
    expect(projection.status()).toMatchObject({ state: 'ready', ready: true })
    await projection.stop()
  })
})
