import { afterEach, describe, expect, it } from 'vitest'
import { createProjection } from '@tidemark/checkpoint'
import type { IdempotentWriter, Projection, ProjectionStore } from '@tidemark/checkpoint'
import { createCuttingProxy, startRedisFailover } from '@tidemark/testkit/service'
import type { CuttingProxy, RedisFailover } from '@tidemark/testkit/service'
import { createSimLog } from '@tidemark/testkit/sim'
import type { SimLogWorld } from '@tidemark/testkit/sim'
import { createRedisProjectionStore, createSafeRedis, createSafeRedisSentinel } from '@tidemark/redis/checkpoint'
import type { ReplicationReport } from '@tidemark/redis/checkpoint'
import { adminClient, advance, claim, readRequest, start } from './redis-fixture.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

interface Scene {
  readonly failover: RedisFailover
  /** Between primary and replica: silent, the replica falls behind without knowing it. */
  readonly link: CuttingProxy
  newStore(): ProjectionStore<IdempotentWriter>
}

async function scene(): Promise<Scene> {
  let link: CuttingProxy | undefined
  const failover = await startRedisFailover({
    async replicateFrom(primary) {
      link = await createCuttingProxy({ target: primary, framing: 'bytes' })
      return link
    },
  })
  open.push(link!, failover)
  return {
    failover,
    link: link!,
    newStore() {
      const store = createRedisProjectionStore({ redis: sentinelSource(failover), namespace: 'ns', form: 'atomic' })
      open.push(store)
      return store
    },
  }
}

function sentinelSource(failover: RedisFailover): ReturnType<typeof createSafeRedisSentinel> {
  const { host, port } = failover.sentinel
  return createSafeRedisSentinel({ sentinels: [{ host, port }], name: failover.primaryName, commandDeadlineMs: 3_000 })
}

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    (value) => (value as { kind: string }).kind,
    (error: { code: string }) => error.code,
  )

describe('a primary that fails over to its replica', () => {
  it(
    '[RED-26] [RED-12] in step: another process, nothing is written before all was read again, then it goes on',
    { timeout: 60_000 },
    async () => {
      const { failover, newStore } = await scene()
      const claimed = await start(newStore())
      expect(await codeOf(advance(claimed, { from: 0, to: 2, write: (w) => w.hset('h', 'f', '2') }))).toBe('advanced')
      await failover.replicated()
      await failover.primary.kill()
      await failover.failedOver()
      const codes: string[] = []
      while (codes.at(-1) !== 'process-changed' && codes.length < 5) {
        codes.push(await codeOf(advance(claimed, { from: 2, to: 3, write: (w) => w.hset('h', 'f', '3') })))
      }
      expect(codes.at(-1)).toBe('process-changed')
      const admin = await adminClient(failover.replica.url)
      expect(await admin.hget('h', 'f')).toBe('2')
      const stored = await claimed.store.read(readRequest)
      expect(stored.checkpoints.get(0)?.['next_offset']).toBe('2')
      expect(stored.incarnation.process).not.toBe(claimed.process)
      const again = { ...claimed, process: stored.incarnation.process }
      expect(await codeOf(advance(again, { from: 2, to: 3, write: (w) => w.hset('h', 'f', '3') }))).toBe('advanced')
      admin.disconnect()
    },
  )

  it(
    '[RED-26] [A8] behind: a fence lost with it is not issued again, and data and checkpoint lost the same',
    { timeout: 60_000 },
    async () => {
      const { failover, link, newStore } = await scene()
      const first = await start(newStore())
      await advance(first, { from: 0, to: 2, write: (w) => w.zadd('all', 'GT', 2, 'c2') })
      await failover.replicated()
      link.silence()
      const second = await claim(newStore())
      expect(await codeOf(advance(second, { from: 2, to: 5, write: (w) => w.zadd('all', 'GT', 5, 'c5') }))).toBe(
        'advanced',
      )
      await failover.primary.kill()
      await failover.failedOver()
      const third = await claim(newStore())
      expect(third.fences.get(0)!.epoch).toBe(second.fences.get(0)!.epoch)
      expect(third.fences.get(0)!.nonce).not.toBe(second.fences.get(0)!.nonce)
      const stored = await third.store.read(readRequest)
      expect(stored.checkpoints.get(0)?.['next_offset']).toBe('2')
      const admin = await adminClient(failover.replica.url)
      expect(await admin.zrange('all', '0', '-1')).toEqual(['c2'])
      for (const old of [first, second]) {
        expect(await codeOf(advance({ ...old, process: third.process }, { from: 2, to: 5 }))).toMatch(
          /^(fenced|TM_REDIS_CONNECTION_LOST)$/,
        )
        expect(await codeOf(advance({ ...old, process: third.process }, { from: 2, to: 5 }))).toBe('fenced')
      }
      expect(await codeOf(advance(third, { from: 2, to: 5, write: (w) => w.zadd('all', 'GT', 5, 'c5') }))).toBe(
        'advanced',
      )
      admin.disconnect()
    },
  )

  it(
    '[RED-26] [A8] [A13] behind, under a running projection: dirty, and a restart replays what was lost',
    { timeout: 60_000 },
    async () => {
      const { failover, link, newStore } = await scene()
      const log = createSimLog({ seed: 4 })
      log.cluster.createTopic('dispatch', { partitions: 1 })
      const append = (from: number, to: number): void => {
        for (let n = from; n < to; n += 1) log.cluster.topic('dispatch').append(0, { key: 'k', value: `${n}` })
      }
      append(0, 6)
      const running = projection(log, newStore())
      await running.start()
      expect((await running.caughtUp({ deadlineMs: 10_000 })).kind).toBe('ready')
      await failover.replicated()
      link.silence()
      append(6, 12)
      await expect.poll(() => running.status().partitions[0]?.next, { timeout: 10_000 }).toBe('12')
      await failover.primary.kill()
      await failover.failedOver()
      expect(await running.ended()).toMatchObject({ kind: 'dirty' })
      await running.stop()
      const restarted = projection(log, newStore())
      expect((await restarted.start()).kind).toBe('started')
      expect((await restarted.caughtUp({ deadlineMs: 10_000 })).kind).toBe('ready')
      expect(restarted.status().partitions[0]?.next).toBe('12')
      await restarted.stop()
      const admin = await adminClient(failover.replica.url)
      expect(await admin.hgetall('last')).toEqual({ k: '11' })
      expect(await admin.scard('all')).toBe(12)
      admin.disconnect()
    },
  )

  it('[RED-26] [RED-17] no sentinel, an unknown name: typed, and within the deadline', async () => {
    const { failover } = await scene()
    const { host, port } = failover.sentinel
    for (const [sentinels, name] of [
      [[{ host, port }], 'nobody'],
      [[{ host, port: 1 }], failover.primaryName],
    ] as const) {
      const redis = createSafeRedisSentinel({ sentinels, name, commandDeadlineMs: 1_000 })
      const store = createRedisProjectionStore({ redis, namespace: 'ns', form: 'atomic' })
      open.push(store)
      await expect(store.read(readRequest)).rejects.toMatchObject({
        code: 'TM_REDIS_PRIMARY_UNKNOWN',
        details: { name },
      })
    }
    expect(() => createSafeRedisSentinel({ sentinels: [], name: 'x' })).toThrow(
      expect.objectContaining({ code: 'TM_REDIS_ADDRESS_INVALID' }),
    )
  })
})

function projection(log: SimLogWorld, store: ProjectionStore<IdempotentWriter>): Projection {
  const made = createProjection<IdempotentWriter>({
    topic: 'dispatch',
    log: log.openLog(),
    store,
    project(record, write) {
      const n = new TextDecoder().decode(record.value!)
      write.hset('last', 'k', n)
      write.sadd('all', n)
    },
    readyTarget: 'hw',
    undecodable: 'stop',
    leaseMs: 200,
    limits: { batchRecordsMax: 3, stallMsMax: 8_000 },
  })
  open.push({ close: () => made.stop() })
  return made
}

describe('waiting for replicas', () => {
  it(
    '[RED-27] what the replicas acknowledged is compared by the store and told as it is',
    { timeout: 60_000 },
    async () => {
      const { failover, link } = await scene()
      const reports: ReplicationReport[] = []
      const onReplication = (report: ReplicationReport): void => {
        reports.push(report)
        throw new Error('an observer must not matter')
      }
      const redis = createSafeRedis(failover.primary.url, { commandDeadlineMs: 3_000 })
      const waitReplicas = { count: 1, timeoutMs: 400, onReplication }
      const store = createRedisProjectionStore({ redis, namespace: 'ns', form: 'atomic', waitReplicas })
      open.push(store)
      const claimed = await start(store)
      expect(await codeOf(advance(claimed, { from: 0, to: 1 }))).toBe('advanced')
      expect(reports.at(-1)).toEqual({ partition: 0, wanted: 1, acknowledged: 1, isReplicated: true })
      expect((await store.read(readRequest)).facts.durability).toBe('replicated')
      link.silence()
      expect(await codeOf(advance(claimed, { from: 1, to: 2 }))).toBe('advanced')
      expect(reports.at(-1)).toEqual({ partition: 0, wanted: 1, acknowledged: 0, isReplicated: false })
      expect((await store.read(readRequest)).facts.durability).toBe('server')
      expect(reports).toHaveLength(2)
      const tooLong = { count: 1, timeoutMs: 1_500 }
      expect(() =>
        createRedisProjectionStore({ redis, namespace: 'ns', form: 'atomic', waitReplicas: tooLong }),
      ).toThrow(expect.objectContaining({ code: 'TM_CHECKPOINT_OPTION_INVALID' }))
    },
  )

  it(
    '[RED-27] sixteen steps at once, while the replica is silent, all come out advanced',
    { timeout: 60_000 },
    async () => {
      const { failover, link } = await scene()
      const reports: ReplicationReport[] = []
      const waitReplicas = {
        count: 1,
        timeoutMs: 400,
        onReplication: (report: ReplicationReport): void => void reports.push(report),
      }
      const redis = createSafeRedis(failover.primary.url, { commandDeadlineMs: 1_500 })
      const store = createRedisProjectionStore({ redis, namespace: 'ns', form: 'atomic', waitReplicas })
      open.push(store)
      const claimed = await start(store)
      expect(await codeOf(advance(claimed, { from: 0, to: 1 }))).toBe('advanced')
      link.silence()
      for (const first of [1, 17]) {
        const steps = Array.from({ length: 16 }, (_, n) =>
          codeOf(advance(claimed, { from: first + n, to: first + n + 1 })),
        )
        expect(await Promise.all(steps)).toEqual(steps.map(() => 'advanced'))
      }
      expect(reports.slice(1)).toHaveLength(32)
      expect(reports.slice(1).every(({ acknowledged, isReplicated }) => acknowledged === 0 && !isReplicated)).toBe(true)
      expect((await store.read(readRequest)).checkpoints.get(0)?.['next_offset']).toBe('33')
    },
  )
})
