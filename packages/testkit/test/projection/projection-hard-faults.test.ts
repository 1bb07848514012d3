import type { Projection } from '@tidemark/checkpoint'
import { createMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import type { CommittedLog } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { checkComplete, createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

async function ready(projection: Projection): Promise<Projection> {
  expect((await projection.start()).kind).toBe('started')
  expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
  return projection
}

/** A world of one partition with a projection that is ready in it. */
async function readyWorld(): Promise<{ readonly world: ProjectionWorld; readonly projection: Projection }> {
  const world = createProjectionWorld({ partitions: 1 })
  return { world, projection: await ready(world.projection()) }
}

describe('a projection function that does not do what its type says', () => {
  it('[CKP-34] an asynchronous one ends the projection: its writes would come after the step they belong to', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    const project = async (): Promise<void> => {
      await Promise.resolve()
      throw new Error('nobody hears this')
    }
    const projection = world.projection({ project: project as never })
    await projection.start()
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'PROJECT_FAILED' } })
    expect(ended.kind === 'dirty' && ended.reason.message).toContain('promise')
    expect(world.checkpoint(0)).toBe(0n)
    await projection.stop()
  })
})

describe('ports that never answer, or not of one log', () => {
  it('[CKP-31] brokers asked in vain for ever end in dirty, also without records', async () => {
    const { world, projection } = await readyWorld()
    const release = world.log.gate.hold('surveyIdentity')
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_UNPROVEN' } })
    release()
    await projection.stop()
  })

  it("[CKP-31] so does a consumer's own client that never answers", async () => {
    const { world, projection } = await readyWorld()
    const release = world.log.gate.hold('describeTopic')
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_UNPROVEN' } })
    release()
    await projection.stop()
  })

  it('[CKP-39] a lease is not renewed by offsets and store alone: while brokers are silent nothing is served', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2 })
    const projection = await ready(world.projection())
    world.log.cluster.broker(2).behave({ kind: 'silent' })
    // Before the silence has lasted for a stall, and after the lease ran out.
    await world.log.clock.sleep(8_000)
    expect(projection.status()).toMatchObject({ state: 'ready', ready: false })
    await projection.stop()
  })

  it('[CKP-39] offsets asked for in vain for ever end in dirty', async () => {
    const { world, projection } = await readyWorld()
    const release = world.log.gate.hold('readBounds')
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'BOUNDS_UNREADABLE' } })
    release()
    await projection.stop()
  })

  it('[CKP-39] offsets that leave a partition out are no offsets: nobody would notice that it stands still', async () => {
    const world = createProjectionWorld({ partitions: 2 })
    const projection = await ready(world.projection())
    world.log.inspecting.boundsRewrite = (bounds) => bounds.slice(0, 1)
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'BOUNDS_UNREADABLE' } })
    expect(ended.kind === 'dirty' && ended.reason.message).toContain('partition 1 was not reported')
    await projection.stop()
  })
})

describe('a store that stops being trustworthy under a running projection', () => {
  it('[CKP-38] one that may drop keys from here on is served from no longer', async () => {
    const { world, projection } = await readyWorld()
    world.server.declare({ eviction: { policy: 'allkeys-lru', kind: 'any-key' } })
    const ended = await projection.ended()
    expect(ended).toMatchObject({
      kind: 'dirty',
      reason: { code: 'STORE_CHANGED', values: { refusal: 'EVICTION_POLICY' } },
    })
    await projection.stop()
  })

  it('[CKP-38] one that expires only keys with an expiry is served from where the host declared that data has none', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const projection = await ready(world.projection({ declarations: { dataKeysCarryNoExpiry: true } }))
    world.server.declare({ eviction: { policy: 'volatile-lru', kind: 'expiring-only' } })
    await world.log.clock.sleep(5_000)
    expect(projection.status().ready).toBe(true)
    world.server.declare({ expiringKeys: ['p:meta'] })
    expect(await projection.ended()).toMatchObject({
      reason: { code: 'STORE_CHANGED', values: { refusal: 'KEY_EXPIRES' } },
    })
    await projection.stop()
  })

  it('[CKP-38] a connection that fell through to another logical database is found', async () => {
    const { world, projection } = await readyWorld()
    world.server.declare({ database: { expected: 'memory', found: '0' } })
    expect(await projection.ended()).toMatchObject({ reason: { code: 'STORE_CHANGED' } })
    await projection.stop()
  })
})

describe('steps that go on while the store is re-read', () => {
  it.each(['before', 'after'] as const)(
    '[CKP-38] are no change from outside, whether the reading was taken %s them',
    async (taken) => {
      const world = createProjectionWorld({ partitions: 1 })
      const { clock } = world.log
      const topic = world.log.cluster.topic(topicName)
      const store = createMemoryProjectionStore({
        namespace: 'p',
        server: world.server,
        nonce: () => world.chooser.hex(32),
      })
      let slowReads = 0
      const slow = Object.assign(Object.create(store) as typeof store, {
        async read(request: Parameters<typeof store.read>[0]) {
          if (topic.committed(0).length === 0) return store.read(request)
          slowReads += 1
          if (taken === 'after') await clock.sleep(400)
          const state = await store.read(request)
          if (taken === 'before') await clock.sleep(400)
          return state
        },
      })
      const projection = await ready(world.projection({ store: slow }))
      for (let n = 0; n < 60; n += 1) {
        topic.append(0, dispatch('ann', n))
        await clock.sleep(100)
      }
      expect(slowReads).toBeGreaterThan(2)
      expect(projection.status()).toMatchObject({ state: 'ready', ready: true })
      await projection.stop()
      expect(world.checkpoint(0)).toBe(60n)
    },
  )
})

describe('a lost race', () => {
  const losses: readonly (readonly [string, string, (world: ProjectionWorld) => Promise<unknown>])[] = [
    [
      'to another writer',
      'FENCED',
      async (world) => {
        const store = createMemoryProjectionStore({
          namespace: 'p',
          server: world.server,
          nonce: () => world.chooser.hex(32),
        })
        await store.claim({ topic: topicName, partitionCount: 1 })
      },
    ],
    [
      'to an unknown hand',
      'CONFLICT',
      async (world) => world.server.setField(`p:checkpoint:${topicName}:0`, 'next_offset', '7'),
    ],
    ['of its fence', 'FENCED', async (world) => world.server.put(`p:fence:${topicName}:0`, { kind: 'absent' })],
  ]
  it.each(losses)('[A8] %s ends at the very write that lost, not at the next lease', async (_, code, lose) => {
    const world = createProjectionWorld({ partitions: 1 })
    const projection = await ready(world.projection({ leaseMs: 600_000 }))
    await lose(world)
    const lostAtMs = world.log.clock.monotonicMs()
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code } })
    expect(world.log.clock.monotonicMs() - lostAtMs).toBeLessThan(2_000)
    await projection.stop()
  })
})

describe('bounds on what waits', () => {
  it('[CKP-41] while nothing can be applied, fetching stops at the byte limit, long before that of records', async () => {
    const world = createProjectionWorld({ partitions: 2, brokers: 2 })
    const topic = world.log.cluster.topic(topicName)
    const limits = { batchRecordsMax: 4, stallMsMax: 60_000, queuedRecordsMax: 1_000, queuedBytesMax: 1_024 }
    const projection = await ready(world.projection({ limits }))
    world.log.cluster.broker(2).behave({ kind: 'answers', reason: 'no-leader' })
    for (let n = 0; n < 300; n += 1) {
      topic.append(n % 2, dispatch(`user-with-a-long-name-${n}`, n))
      await world.log.clock.sleep(20)
    }
    const queued = projection.status().partitions.map((partition) => partition.queued)
    // Each record holds about 55 bytes; one poll may overshoot by what it brings.
    expect(queued[0]! + queued[1]!).toBeGreaterThan(10)
    expect(queued[0]! + queued[1]!).toBeLessThan(60)
    world.log.cluster.broker(2).behave({ kind: 'normal' })
    while (projection.status().counters.recordsApplied < 300) await world.log.clock.sleep(50)
    await projection.stop()
    checkComplete(world)
  })
})

describe('after the end', () => {
  it.each(['dirty', 'stopped'] as const)(
    '[CKP-30] a projection that is %s begins no further step of any partition',
    async (end) => {
      const world = createProjectionWorld({ partitions: 2 })
      const topic = world.log.cluster.topic(topicName)
      for (let n = 0; n < 60; n += 1) topic.append(1, dispatch('ann', n))
      const store = createMemoryProjectionStore({
        namespace: 'p',
        server: world.server,
        nonce: () => world.chooser.hex(32),
      })
      const begunIn: string[] = []
      const lax = Object.assign(Object.create(store) as typeof store, {
        async advance(request: Parameters<typeof store.advance>[0]) {
          begunIn.push(projection.status().state)
          await world.log.clock.sleep(10)
          return store.advance(request)
        },
        // A closed memory store refuses by itself; the order must not depend on that.
        close: async () => undefined,
      })
      const projection = world.projection({
        store: lax,
        limits: { batchRecordsMax: 1, stallMsMax: 5_000, stopMsMax: 50 },
        undecodable: 'stop',
      })
      await projection.start()
      while (begunIn.length < 5) await world.log.clock.sleep(5)
      if (end === 'stopped') await projection.stop()
      else topic.append(0, { value: 'damaged' })
      expect((await projection.ended()).kind).toBe(end)
      await world.log.clock.sleep(2_000)
      expect(begunIn.length).toBeLessThan(60)
      expect(begunIn.filter((state) => state === end)).toEqual([])
      await projection.stop()
    },
  )
})

describe('stopping while starting', () => {
  it('[CKP-14] a start that was stopped claims and creates nothing afterwards, whatever the store still takes', async () => {
    const world = createProjectionWorld()
    const store = createMemoryProjectionStore({
      namespace: 'p',
      server: world.server,
      nonce: () => world.chooser.hex(32),
    })
    // A closed memory store refuses everything by itself; the order must not depend on that.
    const lax = Object.assign(Object.create(store) as typeof store, { close: async () => undefined })
    const projection = world.projection({ store: lax })
    const release = world.log.gate.hold('surveyIdentity')
    const started = projection.start()
    await world.log.clock.sleep(10)
    await projection.stop()
    release()
    await expect(started).rejects.toMatchObject({ code: 'TM_CHECKPOINT_START_FAILED' })
    expect(world.server.snapshot().size).toBe(0)
    expect(projection.status().state).toBe('stopped')
  })
})

describe('ports that do not close', () => {
  const closes: readonly (readonly [string, () => Promise<void>])[] = [
    ['hangs', () => new Promise(() => undefined)],
    ['rejects', () => Promise.reject(new Error('cannot close'))],
    [
      'throws',
      () => {
        throw new Error('not a promise')
      },
    ],
  ]
  it.each(closes)('[CKP-40] a reader whose close %s holds up neither the stop nor the store', async (_, close) => {
    const world = createProjectionWorld({ partitions: 1 })
    const opened = world.log.openLog()
    const log: CommittedLog = {
      ...opened,
      openReader: async (request) => ({ ...(await opened.openReader(request)), close }),
      close,
    }
    let storeClosed = false
    const store = createMemoryProjectionStore({
      namespace: 'p',
      server: world.server,
      nonce: () => world.chooser.hex(32),
    })
    const observed = Object.assign(Object.create(store) as typeof store, {
      close: async () => {
        storeClosed = true
      },
    })
    const projection = await ready(world.projection({ log, store: observed }))
    await projection.stop()
    expect(storeClosed).toBe(true)
  })
})

describe('what a status counts', () => {
  it('[CKP-34] a replay from zero counts a record it sets aside again once', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1), { value: 'damaged' }, dispatch('ann', 2))
    await (await ready(world.projection())).stop()
    world.server.put(`p:checkpoint:${topicName}:0`, { kind: 'absent' })
    const replayed = await ready(world.projection())
    expect(replayed.status().partitions[0]).toMatchObject({ next: '3', quarantined: 1 })
    await replayed.stop()
    const resumed = await ready(world.projection())
    expect(resumed.status().partitions[0]?.quarantined).toBe(1)
    await resumed.stop()
  })

  it("a dirty reason stays one line of bounded length, whatever the host's error quotes", async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    const project = (): never => {
      throw new Error(`payload\nSTATE ready\u2028${'x'.repeat(100_000)}`)
    }
    const projection = world.projection({ project })
    await projection.start()
    const ended = await projection.ended()
    const message = ended.kind === 'dirty' ? ended.reason.message : ''
    expect(message).toContain('payload\\u000aSTATE ready\\u2028')
    expect(message.length).toBeLessThan(3_000)
    await projection.stop()
  })
})

describe('proof that overlaps with fetching', () => {
  it('[A5] [CKP-31] a check under way proves nothing of a fetch that returned after it started', async () => {
    const { world, projection } = await readyWorld()
    // The brokers have answered with the old topic's id; the answers are still under way when the topic is recreated.
    const release = world.log.gate.holdReply('surveyIdentity')
    await world.log.clock.sleep(1_200)
    const recreated = world.log.cluster.recreateTopic(topicName)
    recreated.append(0, dispatch('new', 1))
    while (projection.status().partitions[0]?.queued !== 1) await world.log.clock.sleep(10)
    release()
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH' } })
    expect(world.checkpoint(0)).toBe(0n)
    expect(world.sessions('new')).toEqual({})
    await projection.stop()
  })

  it('[CKP-35] ready is confirmed by a check that started after the last partition reached its target', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    // One check is under way, with its answers taken, when the last record is confirmed.
    let recreated = false
    const projection = world.projection({
      leaseMs: 600_000,
      observer: {
        onStep: () => {
          if (!recreated) world.log.cluster.recreateTopic(topicName)
          recreated = true
        },
      },
    })
    await projection.start()
    const caughtUp = await projection.caughtUp({ deadlineMs: 60_000 })
    expect(caughtUp).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH' } })
    await projection.stop()
  })

  it('[CKP-35] a position at its target is not ready while no check answers: silence is no confirmation', async () => {
    const world = createProjectionWorld({ partitions: 1, brokers: 2 })
    world.log.gate.before('openReader', 1, () => {
      world.log.cluster.broker(2).behave({ kind: 'answers', reason: 'authorization' })
    })
    const projection = world.projection()
    await projection.start()
    expect(await projection.caughtUp({ deadlineMs: 3_000 })).toMatchObject({ kind: 'timed-out', waiting: [] })
    expect(projection.status()).toMatchObject({ state: 'catching-up', ready: false })
    expect(await projection.ended()).toMatchObject({ reason: { code: 'IDENTITY_UNPROVEN' } })
    await projection.stop()
  })

  it('[CKP-35] [A5] a topic recreated after the plan is never ready, not even at a target of nothing', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    world.log.gate.before('openReader', 1, () => void world.log.cluster.recreateTopic(topicName))
    const states: string[] = []
    const projection = world.projection({ observer: { onState: (state) => void states.push(state) } })
    await projection.start()
    expect(await projection.ended()).toMatchObject({ reason: { code: 'IDENTITY_MISMATCH' } })
    expect(states).toEqual(['catching-up', 'dirty'])
    await projection.stop()
  })
})
