import type { Projection } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import { checkComplete, createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

const longLease = { leaseMs: 600_000 }

/** A world whose log holds `ann` 0..4, and the topic. */
function fiveRecords(seed = 1) {
  const world = createProjectionWorld({ partitions: 1, seed })
  const topic = world.log.cluster.topic(topicName)
  for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
  return { world, topic }
}

async function ready(world: ProjectionWorld): Promise<Projection> {
  const projection = world.projection(longLease)
  expect((await projection.start()).kind).toBe('started')
  expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
  return projection
}

async function through(world: ProjectionWorld, projection: Projection, next: number): Promise<void> {
  const untilMs = world.log.clock.monotonicMs() + 60_000
  while (projection.status().partitions[0]?.next !== String(next)) {
    if (world.log.clock.monotonicMs() > untilMs) throw new Error(JSON.stringify(projection.status()))
    await world.log.clock.sleep(10)
  }
}

describe('a log that lost its tail and grew again past the position, between two looks at its bounds', () => {
  const lives = [
    ['a life that read the lost records itself', false],
    ['a life that was resumed behind them and has read nothing', true],
  ] as const
  it.each(lives)('[A12] [CKP-60] %s: dirty, nothing of the other history is applied', async (_, resumed) => {
    const { world, topic } = fiveRecords()
    const first = await ready(world)
    if (resumed) await first.stop()
    const projection = resumed ? await ready(world) : first
    world.log.reading.frozen = true
    topic.truncate(0, 2)
    for (let n = 0; n < 10; n += 1) topic.append(0, dispatch('new', n))
    world.log.reading.frozen = false
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'LOG_DIVERGED', partition: 0 } })
    expect(world.sessions('new')).toEqual({})
    expect(world.checkpoint(0)).toBe(5n)
    await projection.stop()
  })

  // The simulated reader cuts a fetch as its seed says; among these seeds both changes come in one.
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    '[A12] [CKP-60] with a clean election after it, seed %i: the later change does not answer for the earlier',
    async (seed) => {
      const { world, topic } = fiveRecords(seed)
      const projection = await ready(world)
      world.log.reading.frozen = true
      topic.truncate(0, 4)
      for (let n = 0; n < 2; n += 1) topic.append(0, dispatch('new', n))
      topic.partition(0).electLeader()
      topic.append(0, dispatch('new', 2))
      world.log.reading.frozen = false
      const ended = await projection.ended()
      expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'LOG_DIVERGED', partition: 0 } })
      expect(world.sessions('new')).toEqual({})
      expect(world.checkpoint(0)).toBe(5n)
      await projection.stop()
    },
  )

  it('[A12] [CKP-60] a life held below what was lost goes on with the records that are there', async () => {
    const { world, topic } = fiveRecords()
    const projection = await ready(world)
    world.log.reading.frozen = true
    for (let n = 5; n < 8; n += 1) topic.append(0, dispatch('lost', n))
    topic.truncate(0, 5)
    for (let n = 0; n < 10; n += 1) topic.append(0, dispatch('new', n))
    world.log.reading.frozen = false
    await through(world, projection, 15)
    expect(projection.status().ready).toBe(true)
    checkComplete(world)
    await projection.stop()
  })
})

describe('a topic recreated under the same name, whose epochs differ too', () => {
  it('[A5] [CKP-60] is told as another topic', async () => {
    const { world, topic } = fiveRecords()
    topic.partition(0).electLeader()
    topic.append(0, dispatch('ann', 5))
    const projection = await ready(world)
    world.log.reading.frozen = true
    const recreated = world.log.cluster.recreateTopic(topicName)
    for (let n = 0; n < 40; n += 1) recreated.append(0, dispatch('new', n))
    world.log.reading.frozen = false
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH' } })
    expect(world.sessions('new')).toEqual({})
    await projection.stop()
  })
})

describe('a gap that was passed, cut by an unclean election and filled with records', () => {
  /** Five records, an aborted transaction behind them, passed by a projection; then the cut, and records where it stood. */
  async function passedAndCut(world: ProjectionWorld, topic: ReturnType<typeof fiveRecords>['topic']): Promise<void> {
    topic.truncate(0, 5)
    for (let n = 0; n < 6; n += 1) topic.append(0, dispatch('new', n))
    expect(world.checkpoint(0)).toBe(8n)
  }

  function withAbortedTail() {
    const { world, topic } = fiveRecords()
    const transaction = topic.begin()
    for (let n = 0; n < 2; n += 1) transaction.append(0, dispatch('never', n))
    transaction.abort()
    return { world, topic }
  }

  it('[A12] [LOG-13] a start is refused: what is there now would never be read', async () => {
    const { world, topic } = withAbortedTail()
    await (await ready(world)).stop()
    await passedAndCut(world, topic)
    const started = await world.projection(longLease).start()
    expect(started.kind === 'refused' && started.refusals.map(({ code }) => code)).toEqual(['LOG_DIVERGED'])
  })

  it('[A12] [CKP-60] a running life ends in dirty at the first record of the other history', async () => {
    const { world, topic } = withAbortedTail()
    const projection = await ready(world)
    world.log.reading.frozen = true
    await passedAndCut(world, topic)
    world.log.reading.frozen = false
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'LOG_DIVERGED', partition: 0 } })
    expect(world.sessions('new')).toEqual({})
    await projection.stop()
  })
})

describe('a new leader that lost nothing', () => {
  it('[A12] [CKP-60] goes on, also over several elections in one fetch', async () => {
    const { world, topic } = fiveRecords()
    const projection = await ready(world)
    world.log.reading.frozen = true
    for (let election = 0; election < 3; election += 1) {
      topic.partition(0).electLeader()
      topic.append(0, dispatch('ann', 5 + election))
    }
    world.log.reading.frozen = false
    await through(world, projection, 8)
    checkComplete(world)
    await projection.stop()
  })

  it('[A12] [CKP-60] goes on where retention has removed the record before it', async () => {
    const { world, topic } = fiveRecords()
    const projection = await ready(world)
    world.log.reading.frozen = true
    topic.partition(0).electLeader()
    topic.append(0, dispatch('ann', 5))
    topic.deleteRecordsBefore(0, 5)
    world.log.reading.frozen = false
    await through(world, projection, 6)
    expect(projection.status().ready).toBe(true)
    await projection.stop()
  })

  it('[A12] [CKP-60] waits while the record cannot be read back, and goes on once it can', async () => {
    const { world, topic } = fiveRecords()
    const projection = await ready(world)
    world.log.readBackUnreadable.set(0, 'no leader')
    topic.partition(0).electLeader()
    topic.append(0, dispatch('ann', 5))
    await world.log.clock.sleep(2_000)
    expect(projection.status().partitions[0]?.next).toBe('5')
    world.log.readBackUnreadable.clear()
    await through(world, projection, 6)
    checkComplete(world)
    await projection.stop()
  })

  it('[A12] [CKP-60] is not waited for without end', async () => {
    const { world, topic } = fiveRecords()
    const projection = await ready(world)
    world.log.readBackUnreadable.set(0, 'no leader')
    topic.partition(0).electLeader()
    topic.append(0, dispatch('ann', 5))
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'READ_FAILED', partition: 0 } })
    expect(ended.kind === 'dirty' && ended.reason.message).toContain('no leader')
    expect(world.checkpoint(0)).toBe(5n)
    await projection.stop()
  })

  it('[A12] [CKP-60] is not asked about anything while the epoch stays the same', async () => {
    const { world, topic } = fiveRecords()
    const projection = await ready(world)
    world.log.readBackUnreadable.set(0, 'not to be asked')
    topic.append(0, dispatch('ann', 5))
    await through(world, projection, 6)
    expect(world.checkpoint(0)).toBe(offsetOf(6))
    await projection.stop()
  })
})
