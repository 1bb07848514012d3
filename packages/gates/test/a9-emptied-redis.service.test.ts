import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@tidemark/testkit/service'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady, untilStatus } from '../src/gate-world.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

describe.each(variantsOf('A9'))('[A9] a Redis that comes back empty under a live writer, $name', (variant) => {
  it('[A9] busy: dirty, and no lone checkpoint appears in it', async () => {
    await using server = await startRedis()
    const world = await open({ variant, storeAddress: server.url })
    await world.kafka.append(world.topic, 0, dispatches('before', 100, 'u'))
    const projection = world.projection({ leaseMs: 60_000, limits: { batchRecordsMax: 10, stallMsMax: 8_000 } })
    await startReady(projection)
    // Records arrive all the while, so that some step is always about to be written.
    let over = false
    const writing = (async () => {
      for (let round = 0; !over; round += 1) {
        await world.kafka.append(world.topic, 0, dispatches(`r${round}-`, 20, 'u'))
        await sleep(5)
      }
    })()
    await untilStatus(projection, (status) => Number(status.partitions[0]?.next) > 200)
    await server.kill()
    await server.restart({ wipeData: true })
    const ended = await projection.ended()
    await sleep(300)
    over = true
    await writing
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: expect.stringMatching(/^STORE_/) } })
    expect(projection.status().ready).toBe(false)
    expect(await keysOf(server.url)).toEqual([])
    await projection.stop()
    // An empty store and a complete history: a first start, which misses nothing.
    await world.catchUp()
    const next = Number(await world.store.checkpoint(0))
    expect(Object.keys(await world.store.sessions('u'))).toHaveLength(next)
  })

  it('[A9] idle: dirty within the lease, and nothing is created in it', async () => {
    await using server = await startRedis()
    const world = await open({ variant, storeAddress: server.url })
    await world.kafka.append(world.topic, 0, dispatches('before', 20, 'u'))
    const projection = world.projection({ leaseMs: 300 })
    await startReady(projection)
    await server.kill()
    await server.restart({ wipeData: true })
    const emptyAt = performance.now()
    expect(await projection.ended()).toMatchObject({
      kind: 'dirty',
      reason: { code: expect.stringMatching(/^STORE_/) },
    })
    expect(performance.now() - emptyAt).toBeLessThan(2_000)
    expect(projection.status().ready).toBe(false)
    expect(await keysOf(server.url)).toEqual([])
    await projection.stop()
  })

  it('[A9] emptied by FLUSHALL over an open connection: dirty at the next record, nothing is created', async () => {
    await using server = await startRedis()
    const world = await open({ variant, storeAddress: server.url })
    await world.kafka.append(world.topic, 0, dispatches('before', 20, 'u'))
    const projection = world.projection({ leaseMs: 60_000 })
    await startReady(projection)
    const redis = new Redis(server.url)
    await redis.flushall()
    redis.disconnect()
    await world.kafka.append(world.topic, 0, dispatches('after', 20, 'u'))
    expect((await projection.ended()).kind).toBe('dirty')
    const left = (await keysOf(server.url)).filter((key) => key.includes(':checkpoint:') || key.endsWith(':meta'))
    expect(left).toEqual([])
    await projection.stop()
  })
})

async function keysOf(url: string): Promise<readonly string[]> {
  const redis = new Redis(url)
  try {
    return (await redis.keys('*')).sort()
  } finally {
    redis.disconnect()
  }
}
