import { createMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import { describe, expect, it } from 'vitest'
import { createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

const [leaseMs, stallMsMax] = [60_000, 5_000]

const troubles: readonly (readonly [string, string, (world: ProjectionWorld) => void])[] = [
  [
    'brokers that give no answer',
    'IDENTITY_UNPROVEN',
    (world) => world.log.cluster.broker(2).behave({ kind: 'answers', reason: 'authorization' }),
  ],
  [
    'offsets that cannot be read',
    'BOUNDS_UNREADABLE',
    (world) => {
      world.log.inspecting.boundsUnreadable = { partition: 1, message: 'no leader' }
    },
  ],
  [
    'a partition that silently stands still',
    'PARTITION_STALLED',
    (world) => {
      world.log.reading.frozen = true
      world.log.cluster.topic(topicName).append(0, dispatch('ann', 1))
    },
  ],
]

describe('a lease much longer than the stall limit', () => {
  it.each(troubles)(
    '[CKP-37] [CKP-39] %s: dirty a stall after the lease, not a lease later',
    async (_, code, happens) => {
      const world = createProjectionWorld({ brokers: 2 })
      const projection = world.projection({ leaseMs, limits: { batchRecordsMax: 4, stallMsMax } })
      await projection.start()
      expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
      const sinceMs = world.log.clock.monotonicMs()
      happens(world)
      expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code } })
      const afterMs = world.log.clock.monotonicMs() - sinceMs
      expect(afterMs).toBeGreaterThan(stallMsMax)
      expect(afterMs).toBeLessThan(leaseMs + stallMsMax + 2_500)
      await projection.stop()
    },
  )

  it('[CKP-39] in peace everything is re-read once a lease, however busy the topic', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const projection = world.projection({ leaseMs, limits: { batchRecordsMax: 4, stallMsMax } })
    await projection.start()
    expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
    const before = world.log.gate.count('readBounds')
    for (let n = 0; n < 300; n += 1) {
      world.log.cluster.topic(topicName).append(0, dispatch('ann', n))
      await world.log.clock.sleep(1_000)
    }
    expect(world.log.gate.count('readBounds') - before).toBeLessThanOrEqual(5)
    expect(projection.status().ready).toBe(true)
    await projection.stop()
  })

  it('[CKP-37] a partition that is behind at every look but moves between them is not stuck', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    for (let n = 0; n < 100; n += 1) world.log.cluster.topic(topicName).append(0, dispatch('ann', n))
    const store = createMemoryProjectionStore({
      namespace: 'p',
      server: world.server,
      nonce: () => world.chooser.hex(32),
    })
    const slow = Object.assign(Object.create(store) as typeof store, {
      async advance(request: Parameters<typeof store.advance>[0]) {
        await world.log.clock.sleep(200)
        return store.advance(request)
      },
    })
    const limits = { batchRecordsMax: 1, stallMsMax }
    const projection = world.projection({ store: slow, leaseMs: 1_000, limits })
    await projection.start()
    expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
    expect(world.log.clock.monotonicMs()).toBeGreaterThan(3 * stallMsMax)
    await projection.stop()
  })
})
