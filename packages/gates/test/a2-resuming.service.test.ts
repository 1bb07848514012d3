import { describe, expect, it } from 'vitest'
import { dispatch, dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

describe.each(variantsOf('A2'))('[A2] resuming, $name', (variant) => {
  it('[A2] resumes at next inside the log, and is ready at once at its end', async () => {
    const world = await open({ variant, partitions: 2 })
    await world.kafka.append(world.topic, 0, dispatches('c', 6, 'u'))
    await world.catchUp()
    await world.kafka.append(world.topic, 0, [dispatch('later', 9, 'u')])
    const projection = world.projection()
    const outcome = await projection.start()
    expect(outcome.kind === 'started' && outcome.plan.partitions.map((p) => [p.nextOffset, p.target])).toEqual([
      [6n, 7n],
      [0n, 0n],
    ])
    await projection.caughtUp({ deadlineMs: 30_000 })
    expect(projection.status().counters.recordsApplied).toBe(1)
    await projection.stop()

    const atEnd = world.projection()
    await atEnd.start()
    expect((await atEnd.caughtUp({ deadlineMs: 5_000 })).kind).toBe('ready')
    expect(atEnd.status().counters.recordsApplied).toBe(0)
    await atEnd.stop()
  })

  it('[A2] [CK-30] a partition emptied by retention is resumed when its bounds meet at the checkpoint', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('c', 6, 'u'))
    await world.catchUp()
    await world.kafka.deleteRecordsBelow(world.topic, 0, 6)
    await world.catchUp()
    await world.kafka.append(world.topic, 0, [dispatch('later', 9, 'u')])
    await world.catchUp()
    expect(await world.store.checkpoint(0)).toBe('7')
    expect(Object.keys(await world.store.sessions('u'))).toHaveLength(7)
  })

  it('[A2] [CK-37] offsets committed to a consumer group of any name are neither read nor written', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('c', 6, 'u'))
    await world.catchUp()
    await world.kafka.append(world.topic, 0, dispatches('c', 3, 'u'))
    await world.catchUp()
    expect(await world.store.checkpoint(0)).toBe('9')
    expect(Object.keys(await world.store.sessions('u'))).toHaveLength(6)
  })
})
