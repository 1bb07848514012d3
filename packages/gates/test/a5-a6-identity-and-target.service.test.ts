import { createKafkaLog } from '@tidemark/kafka'
import { createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import { describe, expect, it } from 'vitest'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { dispatch, sharedServices, untilStatus } from '../src/gate-world.ts'
import { holdLog } from '../src/held-log.ts'

const open = gateWorlds()
const forms = ['atomic', 'two-step'] as const
const values = (prefix: string, count: number, user: string): readonly string[] =>
  Array.from({ length: count }, (_, n) => dispatch(`${prefix}${n}`, n, user))

describe('a topic recreated under the same name', () => {
  it('[A5] [CK-03] [CK-11] is refused at start although the old position lies within the new log', async () => {
    const world = await open()
    await world.kafka.append(world.topic, 0, values('old', 5, 'u'))
    const first = world.projection()
    await first.start()
    await first.caughtUp({ deadlineMs: 30_000 })
    await first.stop()
    await world.kafka.recreateTopic(world.topic, 1)
    await world.kafka.append(world.topic, 0, values('new', 40, 'u'))
    const before = await world.storedBytes()
    const projection = world.projection()
    const outcome = await projection.start()
    expect(outcome.kind === 'refused' && outcome.refusals.map((reason) => reason.code)).toEqual(['TOPIC_ID'])
    expect(await world.storedBytes()).toEqual(before)
    await projection.stop()
  })

  it.each(forms)(
    '[A5] [CK-01] under a live consumer whose fetching is paused: dirty before one record of it is applied, %s form',
    async (form) => {
      const world = await open()
      const services = await sharedServices()
      await world.kafka.append(world.topic, 0, values('old', 5, 'u'))
      const held = holdLog(createKafkaLog({ brokers: services.brokers }))
      const redis = createSafeRedis(services.redisUrl)
      const { namespace } = world
      const store =
        form === 'atomic'
          ? createRedisProjectionStore({ redis, namespace, form })
          : createRedisProjectionStore({ redis, namespace, form })
      // A long lease, so that only the check after the fetch can find out.
      const projection = world.projection({ log: held.log, store, leaseMs: 600_000 })
      await projection.start()
      await projection.caughtUp({ deadlineMs: 30_000 })
      held.hold([0])
      await world.kafka.recreateTopic(world.topic, 1)
      await world.kafka.append(world.topic, 0, values('new', 40, 'u'))
      held.release([0])
      const ended = await projection.ended()
      expect(ended.kind === 'dirty' && ['IDENTITY_MISMATCH', 'OUT_OF_RANGE', 'READ_FAILED']).toContain(
        ended.kind === 'dirty' ? ended.reason.code : 'stopped',
      )
      expect(await world.checkpoint(0)).toBe('5')
      expect(Object.keys(await world.sessions('u')).filter((conversation) => conversation.startsWith('new'))).toEqual(
        [],
      )
      await projection.stop()
    },
  )

  it('[A5] [CK-02] with nothing produced: dirty within the lease', async () => {
    const world = await open()
    const projection = world.projection({ leaseMs: 300 })
    await projection.start()
    await projection.caughtUp({ deadlineMs: 30_000 })
    await world.kafka.recreateTopic(world.topic, 1)
    const recreatedAt = performance.now()
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH' } })
    expect(performance.now() - recreatedAt).toBeLessThan(3_000)
    expect(projection.status().ready).toBe(false)
    await projection.stop()
  })

  it('[A5] [CK-18] partitions added to a live topic: dirty within the lease', async () => {
    const world = await open()
    const projection = world.projection({ leaseMs: 300 })
    await projection.start()
    await projection.caughtUp({ deadlineMs: 30_000 })
    await world.kafka.addPartitions(world.topic, 2)
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'IDENTITY_MISMATCH' } })
    await projection.stop()
  })
})

describe('the target of catching up', () => {
  it('[A6] is H0 of the start: ready there although records keep arriving, and those are consumed too', async () => {
    const world = await open({ partitions: 2 })
    await world.kafka.append(world.topic, 0, values('early', 300, 'u'))
    await world.kafka.append(world.topic, 1, values('early', 300, 'v'))
    let appended = Promise.resolve()
    let steps = 0
    const projection = world.projection({
      limits: { batchRecordsMax: 20, stallMsMax: 8_000 },
      observer: {
        onStep: () => {
          steps += 1
          const late = values(`late${steps}-`, 5, 'u')
          if (steps <= 20) appended = appended.then(() => world.kafka.append(world.topic, 0, late))
        },
      },
    })
    const outcome = await projection.start()
    expect(outcome.kind === 'started' && outcome.plan.partitions.map((p) => p.target)).toEqual([300n, 300n])
    expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    await appended
    await untilStatus(projection, (status) => status.partitions[0]?.next === '400')
    expect(projection.status().partitions.map((p) => p.target)).toEqual(['300', '300'])
    await projection.stop()
    expect(Object.keys(await world.sessions('u'))).toHaveLength(400)
  })

  it('[A10] [CK-25] [CK-27] [CK-29] is reached over transaction markers and an aborted tail; the checkpoint stands at the high watermark', async () => {
    const world = await open()
    await world.kafka.transaction(world.topic, 0, values('kept', 3, 'u'), 'commit')
    await world.kafka.transaction(world.topic, 0, values('gone', 4, 'u'), 'abort')
    const projection = world.projection()
    await projection.start()
    expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    await projection.stop()
    expect(await world.checkpoint(0)).toBe('9')
    expect(Object.keys(await world.sessions('u'))).toEqual(['kept0', 'kept1', 'kept2'])
  })

  it('[A10] [CK-33] [CK-34] an open transaction: lso is ready below it, hw waits for its end and says so', async () => {
    const world = await open()
    await world.kafka.append(world.topic, 0, values('first', 2, 'u'))
    const transaction = await world.kafka.openTransaction(world.topic, 0, values('open', 3, 'u'))
    await world.kafka.append(world.topic, 0, values('behind', 2, 'u'))
    const lso = world.projection({ readyTarget: 'lso' })
    await lso.start()
    expect(await lso.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    expect(lso.status().partitions[0]).toMatchObject({ next: '2', target: '2', openTransaction: 5 })
    await lso.stop()

    const hw = world.projection({ readyTarget: 'hw' })
    await hw.start()
    const waited = await hw.caughtUp({ deadlineMs: 1_500 })
    expect(waited.kind === 'timed-out' && waited.explanation).toContain(
      'has 2, needs 7 (lso 2, hw 7); an open transaction',
    )
    await transaction.commit()
    expect(await hw.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
    await hw.stop()
    expect(Object.keys(await world.sessions('u'))).toHaveLength(7)
  })
})
