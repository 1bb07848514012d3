import { describe, expect, it } from 'vitest'
import { dispatch } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady } from '../src/gate-world.ts'
import { fullSize, variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()
const replays = fullSize ? 100 : 20
const variants = variantsOf('A7')

describe.each(variants)('[A7] replaying, $name', (variant) => {
  it(
    `[A7] a stretch of records replayed ${replays} times leaves every user monotone, complete and without duplicates`,
    async () => {
      const world = await open({ variant })
      const users = ['plain', 'with:colon', '{braces}', 'new\nline', 'emoji-🌊']
      await world.kafka.append(world.topic, 0, [
        dispatch('a', 5, ...users),
        dispatch('b', 3, ...users),
        dispatch('a', 2, ...users),
        dispatch('b', 9, 'plain'),
      ])
      for (let replay = 0; replay < replays; replay += 1) {
        await world.catchUp()
        for (const user of users)
          expect(await world.store.sessions(user)).toEqual({ a: 5, b: user === 'plain' ? 9 : 3 })
        expect(await world.store.checkpoint(0)).toBe('4')
        // Back to the start behind the projection's back: the next life replays all of it.
        await world.store.damage.setCheckpointField(world.topic, 0, 'next_offset', '0')
        await world.store.damage.setWitness(world.topic, 0, undefined)
      }
    },
    10 * 60_000,
  )
})

const overConnections = variants.filter(({ store }) => store.cuts.length > 0)

describe.each(overConnections)('[A7] a cut in the middle of a record, $name', (variant) => {
  it('[A7] a connection cut after some of 5,000 recipients were written: a restart completes them all, nothing twice', async () => {
    const world = await open({ variant })
    await world.catchUp()
    const line = await world.store.openLine()
    const projection = world.projection({ storeAddress: line.address, leaseMs: 60_000 })
    await startReady(projection)
    line.cutMidStep()
    const recipients = Array.from({ length: 5_000 }, (_, index) => `r${index}`)
    await world.kafka.append(world.topic, 0, [dispatch('wide', 7, ...recipients)])
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_FAILED' } })
    await projection.stop()
    await line.close()
    const written = await world.store.userCount()
    if (variant.store.writeModel === 'transactional') expect(written).toBe(0)
    else expect(written > 0 && written < 5_000).toBe(true)
    expect(await world.store.checkpoint(0)).toBe('0')
    await world.catchUp()
    expect(await world.store.userCount()).toBe(5_000)
    for (const user of ['r0', 'r2499', 'r4999']) expect(await world.store.sessions(user)).toEqual({ wide: 7 })
    expect(await world.store.checkpoint(0)).toBe('1')
  })
})
