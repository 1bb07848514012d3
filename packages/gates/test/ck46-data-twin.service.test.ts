import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { refusalCodes } from '../src/refusal-codes.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

describe.each(variantsOf('CK-46'))('[CK-46] data that carry their own position, $name', (variant) => {
  it('[CK-46] data restored without it under a checkpoint: refused, nothing changes', async () => {
    const world = await open({ variant, partitions: 2 })
    await world.kafka.append(world.topic, 0, dispatches('c', 6, 'u'))
    await world.catchUp()
    await world.store.removeTwin?.(0)
    expect(await refusalCodes(world)).toEqual(['DATA_TWIN'])
    expect(await refusalCodes(world)).toEqual(['DATA_TWIN'])
    expect(await world.store.applied?.('u')).toBe(6)
  })
})
