import { describe, expect, it } from 'vitest'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady } from '../src/gate-world.ts'
import { holdLog } from '../src/held-log.ts'
import { refusalCodes } from '../src/refusal-codes.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

describe.each(variantsOf('A5'))('[A5] a topic recreated under the same name, $name', (variant) => {
  it('[A5] [CK-03] [CK-11] is refused at start although the old position lies within the new log', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('old', 5, 'u'))
    await world.catchUp()
    await world.kafka.recreateTopic(world.topic, 1)
    await world.kafka.append(world.topic, 0, dispatches('new', 40, 'u'))
    expect(await refusalCodes(world)).toEqual(['TOPIC_ID'])
  })

  it('[A5] [CK-01] under a live consumer whose fetching is paused: dirty before one record of it is applied', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('old', 5, 'u'))
    const held = holdLog(variant.log.open(await sharedKafkaBrokers()))
    // A long lease, so that only what comes with the fetch can find out.
    const projection = world.projection({ log: held.log, leaseMs: 600_000 })
    await startReady(projection)
    held.hold([0])
    await world.kafka.recreateTopic(world.topic, 1)
    await world.kafka.append(world.topic, 0, dispatches('new', 40, 'u'))
    held.release([0])
    const ended = await projection.ended()
    expect(ended.kind === 'dirty' && ['IDENTITY_MISMATCH', 'OUT_OF_RANGE', 'READ_FAILED']).toContain(
      ended.kind === 'dirty' ? ended.reason.code : 'stopped',
    )
    expect(await world.store.checkpoint(0)).toBe('5')
    expect(Object.keys(await world.store.sessions('u')).sort()).toEqual(['old0', 'old1', 'old2', 'old3', 'old4'])
    await projection.stop()
  })

  it('[A5] [CK-02] with nothing produced: dirty within the lease', async () => {
    const world = await open({ variant })
    const projection = world.projection({ leaseMs: 300 })
    await startReady(projection)
    await world.kafka.recreateTopic(world.topic, 1)
    const recreatedAt = performance.now()
    const ended = await projection.ended()
    expect(ended.kind === 'dirty' && ['IDENTITY_MISMATCH', 'READ_FAILED']).toContain(
      ended.kind === 'dirty' ? ended.reason.code : 'stopped',
    )
    expect(performance.now() - recreatedAt).toBeLessThan(3_000)
    expect(projection.status().ready).toBe(false)
    await projection.stop()
  })

  it('[A5] [CK-18] partitions added to a live topic: dirty within the lease', async () => {
    const world = await open({ variant })
    const projection = world.projection({ leaseMs: 300 })
    await startReady(projection)
    await world.kafka.addPartitions(world.topic, 2)
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH' } })
    await projection.stop()
  })
})
