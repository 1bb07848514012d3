import type { Projection } from '@tidemark/checkpoint'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady, untilStatus } from '../src/gate-world.ts'
import { holdLog } from '../src/held-log.ts'
import { interruptLog } from '../src/interrupted-log.ts'
import type { StartMoment } from '../src/interrupted-log.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()
const variants = variantsOf('A11')

const moments: readonly StartMoment[] = [
  'before the bounds',
  'after the first bounds',
  'after the last bounds',
  'before the first fetch',
]

/** How a start ended that retention overtook: its refusals, or why the projection went dirty. */
async function endOf(projection: Projection): Promise<readonly string[]> {
  try {
    const outcome = await projection.start()
    if (outcome.kind === 'refused') return outcome.refusals.map((reason) => reason.code)
    const ended = await projection.ended()
    return [ended.kind === 'dirty' ? ended.reason.code : ended.kind]
  } finally {
    await projection.stop()
  }
}

const cases = variants.flatMap((variant) =>
  moments.map((moment) => ({ variant, moment, name: `${variant.name}: ${moment}` })),
)

describe.each(cases)('[A11] retention overtakes the position during a start, $name', ({ variant, moment }) => {
  it('[A11] [CK-50] [CK-55] resuming: refused or dirty, nothing behind the gap is applied, the position stays', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('a', 3, 'u'))
    await world.catchUp()
    await world.kafka.append(world.topic, 0, dispatches('b', 7, 'u'))
    const overtake = (): Promise<void> => world.kafka.deleteRecordsBelow(world.topic, 0, 6)
    const log = interruptLog(variant.log.open(await sharedKafkaBrokers()), moment, overtake)
    const end = await endOf(world.projection({ log }))
    const expected = ['NEXT_BELOW_LOW', 'OUT_OF_RANGE', 'READ_FAILED', 'WITNESS_UNPROVEN', 'LOG_DIVERGED']
    expect(end.filter((code) => !expected.includes(code))).toEqual([])
    expect(end).not.toEqual([])
    expect(await world.store.checkpoint(0)).toBe('3')
    expect(Object.keys(await world.store.sessions('u')).sort()).toEqual(['a0', 'a1', 'a2'])
  })

  it('[A11] [CK-50] a first start: refused or dirty, nothing is applied', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('b', 7, 'u'))
    const overtake = (): Promise<void> => world.kafka.deleteRecordsBelow(world.topic, 0, 4)
    const log = interruptLog(variant.log.open(await sharedKafkaBrokers()), moment, overtake)
    const end = await endOf(world.projection({ log }))
    expect(
      end.filter((code) => !['LOW_NOT_ZERO', 'NEXT_BELOW_LOW', 'OUT_OF_RANGE', 'READ_FAILED'].includes(code)),
    ).toEqual([])
    expect(end).not.toEqual([])
    expect(await world.store.sessions('u')).toEqual({})
    expect(Number((await world.store.checkpoint(0)) ?? 0)).toBe(0)
  })
})

describe.each(variants)('[A11] retention overtakes a live projection, $name', (variant) => {
  it('[A11] [CK-22] [CK-55] held while it passes: dirty with the gap, or nothing was missed; never on behind the gap', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('a', 3, 'u'))
    const held = holdLog(variant.log.open(await sharedKafkaBrokers()))
    const projection = world.projection({ log: held.log, leaseMs: 300 })
    await startReady(projection)
    held.hold([0])
    await world.kafka.append(world.topic, 0, dispatches('b', 7, 'u'))
    await world.kafka.deleteRecordsBelow(world.topic, 0, 6)
    held.release([0])
    // A fetch that was under way when the hold began may bring everything before it is deleted.
    await untilStatus(projection, ({ state, partitions }) => state === 'dirty' || partitions[0]?.next === '10')
    const { dirty } = projection.status()
    const stored = Object.keys(await world.store.sessions('u')).length
    if (dirty === undefined) expect(stored).toBe(10)
    else {
      expect(['NEXT_BELOW_LOW', 'OUT_OF_RANGE', 'READ_FAILED']).toContain(dirty.code)
      expect([await world.store.checkpoint(0), stored]).toEqual(['3', 3])
    }
    await projection.stop()
  })
})
