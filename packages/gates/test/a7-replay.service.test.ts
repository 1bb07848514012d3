import { createCuttingProxy } from '@tidemark/testkit/service'
import { describe, expect, it } from 'vitest'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { dispatch, sharedServices } from '../src/gate-world.ts'
import type { GateWorld } from '../src/gate-world.ts'

const open = gateWorlds()
const replays = process.env['TIDEMARK_SIZE'] === 'full' ? 100 : 20
const forms = ['atomic', 'two-step'] as const

async function catchUp(world: GateWorld, form: (typeof forms)[number]): Promise<void> {
  const projection = world.projection({ form })
  expect((await projection.start()).kind).toBe('started')
  expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
  await projection.stop()
}

describe.each(forms)('[A7] replaying, %s form', (form) => {
  it(`[A7] a stretch of records replayed ${replays} times leaves every user monotone, complete and without duplicates`, async () => {
    const world = await open()
    const users = ['plain', 'with:colon', '{braces}', 'new\nline', 'emoji-🌊']
    const values = [
      dispatch('a', 5, ...users),
      dispatch('b', 3, ...users),
      dispatch('a', 2, ...users),
      dispatch('b', 9, 'plain'),
    ]
    await world.kafka.append(world.topic, 0, values)
    const checkpoint = `${world.namespace}:checkpoint:${world.topic}:0`
    for (let replay = 0; replay < replays; replay += 1) {
      await catchUp(world, form)
      for (const user of users) expect(await world.sessions(user)).toEqual({ a: 5, b: user === 'plain' ? 9 : 3 })
      expect(await world.checkpoint(0)).toBe('4')
      // Back to the start behind the projection's back: the next life replays all of it.
      await world.redis.hset(checkpoint, 'next_offset', '0')
      await world.redis.del(`${world.namespace}:witness:${world.topic}:0`)
    }
  })

  it('[A7] a connection cut after some of 5,000 recipients were written: a restart completes them all, nothing twice', async () => {
    const world = await open()
    await catchUp(world, form)
    const { hostname, port } = new URL((await sharedServices()).redisUrl)
    await using proxy = await createCuttingProxy({ target: { host: hostname, port: Number(port) }, framing: 'resp' })
    const projection = world.projection({ form, redisUrl: `redis://${proxy.host}:${proxy.port}`, leaseMs: 60_000 })
    await projection.start()
    await projection.caughtUp({ deadlineMs: 30_000 })
    const sent = proxy.connections()[0]!.commands.length
    proxy.program({ on: 'command', command: sent + 2, connection: 1, action: { kind: 'cut-before-forward' } })
    const recipients = Array.from({ length: 5_000 }, (_, index) => `r${index}`)
    await world.kafka.append(world.topic, 0, [dispatch('wide', 7, ...recipients)])
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_FAILED' } })
    await projection.stop()
    const written = (await world.redis.keys(`convs:${world.users}*`)).length
    expect(written).toBeGreaterThan(0)
    expect(written).toBeLessThan(5_000)
    expect(await world.checkpoint(0)).toBe('0')
    await catchUp(world, form)
    expect((await world.redis.keys(`convs:${world.users}*`)).length).toBe(5_000)
    for (const user of ['r0', 'r2499', 'r4999']) expect(await world.sessions(user)).toEqual({ wide: 7 })
    expect(await world.checkpoint(0)).toBe('1')
  })
})
