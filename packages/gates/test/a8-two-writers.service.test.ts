import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady, untilStatus } from '../src/gate-world.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

describe.each(variantsOf('A8'))('[A8] two writers of one namespace, $name', (variant) => {
  it('[A8] [CK-49] busy: the older one loses at its next write and serves nothing from then on; the newer misses nothing', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('a', 50, 'u'))
    // A long lease: the write itself must find out.
    const older = world.projection({ leaseMs: 600_000 })
    await startReady(older)
    const newer = world.projection()
    await startReady(newer)
    await world.kafka.append(world.topic, 0, dispatches('b', 200, 'u'))
    expect(await older.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'FENCED' } })
    expect(older.status()).toMatchObject({ state: 'dirty', ready: false })
    await untilStatus(newer, (status) => status.partitions[0]?.next === '250')
    expect(newer.status().ready).toBe(true)
    expect(await world.store.checkpoint(0)).toBe('250')
    expect(Object.keys(await world.store.sessions('u'))).toHaveLength(250)
    if (world.store.applied !== undefined) expect(await world.store.applied('u')).toBe(250)
    await Promise.all([older.stop(), newer.stop()])
  })

  it('[A8] idle: the older one is found out within the lease', async () => {
    const world = await open({ variant })
    const older = world.projection({ leaseMs: 300 })
    await startReady(older)
    const newer = world.projection()
    await startReady(newer)
    const claimedAt = performance.now()
    expect(await older.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'FENCED' } })
    expect(performance.now() - claimedAt).toBeLessThan(2_000)
    expect(older.status().ready).toBe(false)
    expect(newer.status().ready).toBe(true)
    await Promise.all([older.stop(), newer.stop()])
  })

  it('[A8] both starting at once: at most one goes on, whatever the order of their claims', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('a', 20, 'u'))
    const both = [world.projection({ leaseMs: 100 }), world.projection({ leaseMs: 100 })]
    const outcomes = await Promise.allSettled(both.map((projection) => projection.start()))
    await world.kafka.append(world.topic, 0, dispatches('b', 20, 'u'))
    const started = both.filter((_, index) => {
      const outcome = outcomes[index]!
      return outcome.status === 'fulfilled' && outcome.value.kind === 'started'
    })
    const alive = (): number => started.filter((one) => ['ready', 'catching-up'].includes(one.status().state)).length
    const untilMs = performance.now() + 10_000
    while (alive() > 1 && performance.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(alive()).toBeLessThanOrEqual(1)
    await Promise.all(both.map((projection) => projection.stop()))
    await world.catchUp()
    expect(Object.keys(await world.store.sessions('u'))).toHaveLength(40)
    if (world.store.applied !== undefined) expect(await world.store.applied('u')).toBe(40)
  })
})
