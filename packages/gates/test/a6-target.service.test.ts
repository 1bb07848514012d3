import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { untilStatus } from '../src/gate-world.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

describe.each(variantsOf('A6'))('[A6] the target of catching up, $name', (variant) => {
  it('[A6] is H0 of the start: ready there although records keep arriving, and those are consumed too', async () => {
    const world = await open({ variant, partitions: 2 })
    await world.kafka.append(world.topic, 0, dispatches('early', 300, 'u'))
    await world.kafka.append(world.topic, 1, dispatches('early', 300, 'v'))
    let appended = Promise.resolve()
    let steps = 0
    const projection = world.projection({
      limits: { batchRecordsMax: 20, stallMsMax: 8_000 },
      observer: {
        onStep: () => {
          steps += 1
          const late = dispatches(`late${steps}-`, 5, 'u')
          if (steps <= 20) appended = appended.then(() => world.kafka.append(world.topic, 0, late))
        },
      },
    })
    const outcome = await projection.start()
    expect(outcome.kind === 'started' && outcome.plan.partitions.map((p) => p.target)).toEqual([300n, 300n])
    expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    await untilStatus(projection, () => steps >= 20)
    await appended
    await untilStatus(projection, (status) => status.partitions[0]?.next === '400')
    expect(projection.status().partitions.map((p) => p.target)).toEqual(['300', '300'])
    await projection.stop()
    expect(Object.keys(await world.store.sessions('u'))).toHaveLength(400)
  })
})
