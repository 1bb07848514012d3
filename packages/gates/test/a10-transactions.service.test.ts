import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { untilStatus } from '../src/gate-world.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

describe.each(variantsOf('A10'))('[A10] transactions at the end of the log, $name', (variant) => {
  it('[A10] [CK-25] [CK-27] [CK-29] over markers and an aborted tail: ready, the checkpoint stands at the high watermark', async () => {
    const world = await open({ variant })
    await world.kafka.transaction(world.topic, 0, dispatches('kept', 3, 'u'), 'commit')
    await world.kafka.transaction(world.topic, 0, dispatches('gone', 4, 'u'), 'abort')
    const projection = world.projection()
    await projection.start()
    expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    await projection.stop()
    expect(await world.store.checkpoint(0)).toBe('9')
    expect(Object.keys(await world.store.sessions('u'))).toEqual(['kept0', 'kept1', 'kept2'])
    // The next life starts at the very end, behind the marker, and is ready at once.
    const again = world.projection()
    const outcome = await again.start()
    expect(outcome.kind === 'started' && outcome.plan.partitions[0]?.nextOffset).toBe(9n)
    expect(await again.caughtUp({ deadlineMs: 5_000 })).toEqual({ kind: 'ready' })
    expect(again.status().counters.recordsApplied).toBe(0)
    await again.stop()
  })

  it('[A10] committed, aborted and plain records in turn: exactly the committed ones, while running', async () => {
    const world = await open({ variant })
    const projection = world.projection()
    await projection.start()
    expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    for (let round = 0; round < 4; round += 1) {
      await world.kafka.transaction(world.topic, 0, dispatches(`gone${round}-`, 5, 'u'), 'abort')
      await world.kafka.transaction(world.topic, 0, dispatches(`kept${round}-`, 5, 'u'), 'commit')
      await world.kafka.append(world.topic, 0, dispatches(`plain${round}-`, 5, 'u'))
    }
    // 4 × (5 + 1 + 5 + 1 + 5) offsets.
    await untilStatus(projection, (status) => status.partitions[0]?.next === '68')
    await projection.stop()
    const stored = Object.keys(await world.store.sessions('u'))
    expect(stored).toHaveLength(40)
    expect(stored.filter((conversation) => conversation.startsWith('gone'))).toEqual([])
    if (world.store.applied !== undefined) expect(await world.store.applied('u')).toBe(40)
  })

  it('[A10] [CK-33] [CK-34] [CK-53] a transaction open at start: lso is ready below it, hw waits for its end and says for what', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('first', 2, 'u'))
    const transaction = await world.kafka.openTransaction(world.topic, 0, dispatches('open', 3, 'u'))
    await world.kafka.append(world.topic, 0, dispatches('behind', 2, 'u'))
    const lso = world.projection({ readyTarget: 'lso' })
    await lso.start()
    expect(await lso.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    expect(lso.status().partitions[0]).toMatchObject({ next: '2', target: '2', openTransaction: 5 })
    await lso.stop()

    const hw = world.projection({ readyTarget: 'hw' })
    await hw.start()
    const waited = await hw.caughtUp({ deadlineMs: 1_500 })
    expect(waited.kind === 'timed-out' && waited.explanation).toContain(
      'partition 0 has 2, needs 7 (lso 2, hw 7); an open transaction',
    )
    await transaction.commit()
    expect(await hw.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    await hw.stop()
    expect(Object.keys(await world.store.sessions('u'))).toHaveLength(7)
  })

  it('[A10] a transaction open at start that aborts: hw is reached over what it leaves', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('first', 2, 'u'))
    const transaction = await world.kafka.openTransaction(world.topic, 0, dispatches('gone', 3, 'u'))
    const hw = world.projection({ readyTarget: 'hw' })
    await hw.start()
    expect((await hw.caughtUp({ deadlineMs: 500 })).kind).toBe('timed-out')
    await transaction.abort()
    expect(await hw.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    await untilStatus(hw, (status) => status.partitions[0]?.next === '6')
    await hw.stop()
    expect(await world.store.checkpoint(0)).toBe('6')
    expect(Object.keys(await world.store.sessions('u'))).toEqual(['first0', 'first1'])
  })
})
