import { decodeFence } from '@tidemark/log'
import { askRedis, startRedisFailover } from '@tidemark/testkit/service'
import type { RedisServer } from '@tidemark/testkit/service'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady, untilStatus } from '../src/gate-world.ts'
import type { GateWorld } from '../src/gate-world.ts'
import { openSwitchableAddress } from '../src/switchable-address.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()
const onRedis = variantsOf('A8').filter(({ store }) => store.keyed)

describe.each(onRedis)('[A8] a failover to a replica that lags behind, $name', (variant) => {
  it('[A8] the fence lost with it is not issued again: its holder writes nothing more, what was lost is replayed', async () => {
    await using failover = await startRedisFailover()
    const { primary, replica } = failover
    const address = await openSwitchableAddress(primary.port)
    const world = await open({ variant, storeAddress: primary.url })
    await world.kafka.append(world.topic, 0, dispatches('a', 50, 'u'))
    await world.catchUp()
    await failover.replicated()

    // From here on the replica hears nothing, and a second writer claims and writes on the primary alone.
    replica.pause()
    await askRedis(primary, 'CLIENT', 'KILL', 'TYPE', 'replica')
    const lost = world.projection({ storeAddress: `redis://127.0.0.1:${address.port}`, leaseMs: 600_000 })
    await startReady(lost)
    await world.kafka.append(world.topic, 0, dispatches('b', 50, 'u'))
    await untilStatus(lost, (status) => status.partitions[0]?.next === '100')
    const lostFence = await fenceOf(world, primary)
    await primary.kill()
    replica.resume()
    await failover.failedOver()
    address.switchTo(replica.port)

    const next = world.projection({ storeAddress: replica.url })
    await startReady(next)
    const nextFence = await fenceOf(world, replica)
    // The epoch is issued a second time, because the claim that had it is lost; the nonce is what is compared.
    expect(nextFence.epoch).toBe(lostFence.epoch)
    expect(nextFence.nonce).not.toBe(lostFence.nonce)
    await world.kafka.append(world.topic, 0, dispatches('c', 50, 'u'))
    await untilStatus(lost, (status) => status.state === 'dirty')
    expect(lost.status().ready).toBe(false)
    await untilStatus(next, (status) => status.partitions[0]?.next === '150')
    expect(next.status().ready).toBe(true)
    const after = await variant.store.open({ ...world.place, address: replica.url })
    expect(await after.checkpoint(0)).toBe('150')
    expect(Object.keys(await after.sessions('u'))).toHaveLength(150)
    await Promise.all([lost.stop(), next.stop(), after.close()])
    await address.close()
  })
})

async function fenceOf(world: GateWorld, server: RedisServer) {
  const redis = new Redis(server.url)
  try {
    const text = await redis.get(`${world.place.namespace}:fence:${world.topic}:0`)
    const fence = text === null ? undefined : decodeFence(text)
    if (fence === undefined) throw new Error(`no fence on ${server.url}`)
    return fence
  } finally {
    redis.disconnect()
  }
}
