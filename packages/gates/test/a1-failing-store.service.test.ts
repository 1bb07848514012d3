import { createCuttingProxy, startRedis } from '@tidemark/testkit/service'
import type { CommandAction } from '@tidemark/testkit/service'
import { describe, expect, it } from 'vitest'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { dispatch, sharedServices } from '../src/gate-world.ts'
import type { GateWorld } from '../src/gate-world.ts'

const forms = ['atomic', 'two-step'] as const
const open = gateWorlds()

async function catchUp(world: GateWorld, form: (typeof forms)[number]): Promise<void> {
  const projection = world.projection({ form })
  expect((await projection.start()).kind).toBe('started')
  expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
  await projection.stop()
}

const recipients = Array.from({ length: 8 }, (_, index) => `u${index}`)

describe.each(forms)('[A1] a stopped service or a failing Redis, %s form', (form) => {
  it('[A1] records written while the service is stopped are all there after a restart', async () => {
    const world = await open()
    await world.kafka.append(world.topic, 0, [dispatch('c1', 1, ...recipients)])
    await catchUp(world, form)
    await world.kafka.append(world.topic, 0, [dispatch('c2', 2, ...recipients), dispatch('c1', 3, 'u0')])
    await catchUp(world, form)
    expect(await world.checkpoint(0)).toBe('3')
    expect(await world.sessions('u0')).toEqual({ c1: 3, c2: 2 })
    for (const user of recipients.slice(1)) expect(await world.sessions(user)).toEqual({ c1: 1, c2: 2 })
  })

  const cuts: readonly (readonly [string, CommandAction])[] = [
    ['before the server sees it', { kind: 'cut-before-forward' }],
    ['inside the request', { kind: 'cut-in-request', bytes: 40 }],
    ['after the server ran it', { kind: 'cut-before-reply' }],
    ['inside the reply', { kind: 'cut-in-reply', bytes: 1 }],
  ]
  it.each(cuts)(
    '[A1] [CK-39] a write cut %s: dirty, the checkpoint never passed what is stored, a restart completes it',
    async (_, action) => {
      const world = await open()
      await catchUp(world, form)
      const { hostname, port } = new URL((await sharedServices()).redisUrl)
      await using proxy = await createCuttingProxy({ target: { host: hostname, port: Number(port) }, framing: 'resp' })
      const projection = world.projection({ form, redisUrl: `redis://${proxy.host}:${proxy.port}`, leaseMs: 60_000 })
      await projection.start()
      await projection.caughtUp({ deadlineMs: 30_000 })
      const sent = proxy.connections()[0]!.commands.length
      proxy.program({ on: 'command', command: sent + 1, connection: 1, action })
      const writing = world.kafka.append(world.topic, 0, [
        dispatch('c1', 1, ...recipients),
        dispatch('c2', 2, ...recipients),
      ])
      const ended = await projection.ended()
      expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_FAILED' } })
      await writing
      const checkpoint = Number(await world.checkpoint(0))
      for (const user of recipients) {
        const stored = await world.sessions(user)
        expect(Object.keys(stored).length).toBeGreaterThanOrEqual(checkpoint)
      }
      await projection.stop()
      await catchUp(world, form)
      expect(await world.checkpoint(0)).toBe('2')
      for (const user of recipients) expect(await world.sessions(user)).toEqual({ c1: 1, c2: 2 })
    },
  )

  it('[A1] [CK-42] a full Redis: dirty with the reason, checkpoint unmoved, complete once there is room', async () => {
    await using server = await startRedis({ config: { maxmemory: '64mb', 'maxmemory-policy': 'noeviction' } })
    const world = await open({ redisUrl: server.url })
    await catchUp(world, form)
    await world.redis.config('SET', 'maxmemory', '1')
    const projection = world.projection({ form, leaseMs: 60_000 })
    await expect(projection.start()).rejects.toMatchObject({ code: 'TM_CHECKPOINT_START_FAILED' })
    await world.redis.config('SET', 'maxmemory', '64mb')
    const running = world.projection({ form, leaseMs: 60_000 })
    await running.start()
    await running.caughtUp({ deadlineMs: 30_000 })
    await world.redis.config('SET', 'maxmemory', '1')
    await world.kafka.append(world.topic, 0, [dispatch('c1', 1, ...recipients)])
    const ended = await running.ended()
    expect(ended.kind === 'dirty' && `${ended.reason.code} ${ended.reason.message}`).toMatch(
      /^STORE_FAILED .*(OOM|memory)/,
    )
    expect(await world.checkpoint(0)).toBe('0')
    await running.stop()
    await world.redis.config('SET', 'maxmemory', '64mb')
    await catchUp(world, form)
    for (const user of recipients) expect(await world.sessions(user)).toEqual({ c1: 1 })
  })

  it('[A1] the producer is not slowed by a projection that stands still', async () => {
    const world = await open()
    const { hostname, port } = new URL((await sharedServices()).redisUrl)
    await using proxy = await createCuttingProxy({ target: { host: hostname, port: Number(port) }, framing: 'resp' })
    const projection = world.projection({
      form,
      redisUrl: `redis://${proxy.host}:${proxy.port}`,
      commandDeadlineMs: 2_000,
    })
    await projection.start()
    await projection.caughtUp({ deadlineMs: 30_000 })
    proxy.silence()
    const values = Array.from({ length: 2_000 }, (_, n) => dispatch(`c${n}`, n, 'u0'))
    await world.kafka.append(world.topic, 0, values)
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_FAILED' } })
    await projection.stop()
    await catchUp(world, form)
    expect(Object.keys(await world.sessions('u0'))).toHaveLength(2_000)
  })
})
