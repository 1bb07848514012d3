import { startRedis } from '@tidemark/testkit/service'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { dispatch, dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady, untilStatus } from '../src/gate-world.ts'
import type { GateWorld } from '../src/gate-world.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'
import type { StoreLine } from '../src/variants/store-side.ts'

const open = gateWorlds()
const recipients = Array.from({ length: 8 }, (_, index) => `u${index}`)
const variants = variantsOf('A1')

/** A store that can count has applied every one of so many dispatches to a user exactly once. */
async function expectApplied(world: GateWorld, user: string, count: number): Promise<void> {
  if (world.store.applied !== undefined) expect(await world.store.applied(user)).toBe(count)
}

async function overLine(world: GateWorld, act: (line: StoreLine) => Promise<void>): Promise<void> {
  const line = await world.store.openLine()
  try {
    await act(line)
  } finally {
    await line.close()
  }
}

describe.each(variants)('[A1] a stopped service or a failing store, $name', (variant) => {
  it('[A1] records written while the service is stopped are all there after a restart', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, [dispatch('c1', 1, ...recipients)])
    await world.catchUp()
    await world.kafka.append(world.topic, 0, [dispatch('c2', 2, ...recipients), dispatch('c1', 3, 'u0')])
    await world.catchUp()
    expect(await world.store.checkpoint(0)).toBe('3')
    expect(await world.store.sessions('u0')).toEqual({ c1: 3, c2: 2 })
    for (const user of recipients.slice(1)) expect(await world.store.sessions(user)).toEqual({ c1: 1, c2: 2 })
    await expectApplied(world, 'u0', 3)
  })
})

const cuts = variants.flatMap((variant) =>
  variant.store.cuts.map((cut) => ({ variant, cut, name: `${variant.name}: a step cut ${cut}` })),
)

describe.each(cuts)('[A1] a failing connection, $name', ({ variant, cut }) => {
  it('[A1] [CK-39] dirty, the checkpoint never passed what is stored, a restart completes it', async () => {
    const world = await open({ variant })
    await world.catchUp()
    await overLine(world, async (line) => {
      const projection = world.projection({ storeAddress: line.address, leaseMs: 60_000 })
      await startReady(projection)
      // Two steps of the same form before: the first may prepare something, the second shows what such a step carries.
      for (const [step, conversation] of ['w1', 'w2'].entries()) {
        line.markStep()
        await world.kafka.append(world.topic, 0, [dispatch(conversation, 1, ...recipients)])
        await untilStatus(projection, (status) => status.partitions[0]?.next === String(step + 1))
      }
      line.cutNextStep(cut)
      const writing = world.kafka.append(world.topic, 0, [dispatch('c1', 1, ...recipients)])
      expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_FAILED' } })
      await writing
      const checkpoint = Number(await world.store.checkpoint(0))
      for (const user of recipients) {
        const stored = await world.store.sessions(user)
        expect(Object.keys(stored).length).toBeGreaterThanOrEqual(checkpoint)
      }
      await projection.stop()
    })
    await world.kafka.append(world.topic, 0, [dispatch('c2', 2, ...recipients)])
    await world.catchUp()
    expect(await world.store.checkpoint(0)).toBe('4')
    for (const user of recipients) {
      expect(await world.store.sessions(user)).toEqual({ w1: 1, w2: 1, c1: 1, c2: 2 })
      await expectApplied(world, user, 4)
    }
  })
})

const overConnections = variants.filter(({ store }) => store.cuts.length > 0)

describe.each(overConnections)('[A1] the producer, $name', (variant) => {
  it('[A1] is not slowed by a projection that stands still', async () => {
    const world = await open({ variant })
    await overLine(world, async (line) => {
      const projection = world.projection({ storeAddress: line.address, commandDeadlineMs: 2_000 })
      await startReady(projection)
      line.silence()
      await world.kafka.append(world.topic, 0, dispatches('c', 2_000, 'u0'))
      expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_FAILED' } })
      await projection.stop()
    })
    await world.catchUp()
    expect(Object.keys(await world.store.sessions('u0'))).toHaveLength(2_000)
    await expectApplied(world, 'u0', 2_000)
  })
})

const onRedis = variants.filter(({ store }) => store.name.startsWith('redis'))

describe.each(onRedis)('[A1] a full Redis, $name', (variant) => {
  it('[A1] [CK-42] dirty with the reason, checkpoint unmoved, complete once there is room', async () => {
    await using server = await startRedis({ config: { maxmemory: '64mb', 'maxmemory-policy': 'noeviction' } })
    const redis = new Redis(server.url)
    const world = await open({ variant, storeAddress: server.url })
    await world.catchUp()
    await redis.config('SET', 'maxmemory', '1')
    const projection = world.projection({ leaseMs: 60_000 })
    await expect(projection.start()).rejects.toMatchObject({ code: 'TM_CHECKPOINT_START_FAILED' })
    await redis.config('SET', 'maxmemory', '64mb')
    const running = world.projection({ leaseMs: 60_000 })
    await startReady(running)
    await redis.config('SET', 'maxmemory', '1')
    await world.kafka.append(world.topic, 0, [dispatch('c1', 1, ...recipients)])
    const ended = await running.ended()
    expect(ended.kind === 'dirty' && `${ended.reason.code} ${ended.reason.message}`).toMatch(
      /^STORE_FAILED .*(OOM|memory)/,
    )
    expect(await world.store.checkpoint(0)).toBe('0')
    await running.stop()
    await redis.config('SET', 'maxmemory', '64mb')
    redis.disconnect()
    await world.catchUp()
    for (const user of recipients) expect(await world.store.sessions(user)).toEqual({ c1: 1 })
  })
})
