import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCuttingProxy, startRedis } from '@tidemark/testkit/service'
import type { RedisServer } from '@tidemark/testkit/service'
import { encodeCheckpoint, planStart, namespaceOf } from '@tidemark/checkpoint'
import type { CommutingWriter, ProjectionStore } from '@tidemark/checkpoint'
import { OFFSET_ZERO } from '@tidemark/core'
import type { Redis } from 'ioredis'
import {
  adminClient,
  advance,
  fingerprint,
  freshNamespace,
  identity,
  keysOf,
  openStore,
  readRequest,
  start,
} from './redis-fixture.ts'

let server: RedisServer
let admin: Redis
let namespace: string
let store: ProjectionStore<CommutingWriter>
const open: { close(): Promise<unknown> }[] = []
beforeAll(async () => {
  server = await startRedis()
  admin = await adminClient(server.url)
})
afterAll(async () => {
  admin?.disconnect()
  await server?.close()
})
beforeEach(async () => {
  await admin.flushall()
  namespace = freshNamespace()
  store = openStore(server.url, 'atomic', namespace)
  open.push(store)
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

describe('read', () => {
  it('[RED-5] 512 partitions: a handful of commands, no scan, everything found, nothing changed', async () => {
    const partitionCount = 512
    const wide = { ...identity, partitionCount }
    const { fences } = await store.claim({ topic: identity.topic, partitionCount })
    const partitions = Array.from({ length: partitionCount }, (_, index) => index)
    expect(await store.bootstrap({ identity: wide, createMeta: true, partitions, fences })).toEqual({ kind: 'created' })
    const before = await fingerprint(admin)
    const proxy = await createCuttingProxy({ target: server, framing: 'resp' })
    const reader = openStore(`redis://${proxy.host}:${proxy.port}`, 'atomic', namespace)
    open.push(proxy, reader)
    await reader.read({ topic: identity.topic, partitionCount })
    const already = proxy.connections()[0]!.commands.length
    const state = await reader.read({ topic: identity.topic, partitionCount })
    const commands = proxy.connections()[0]!.commands.slice(already)
    expect(commands).toEqual(['INFO', 'CLIENT', 'EVALSHA', 'EVALSHA', 'EVALSHA', 'EXISTS'])
    expect(state.checkpoints.size).toBe(partitionCount)
    expect(state.fences.size).toBe(partitionCount)
    expect(await fingerprint(admin)).toBe(before)
    expect(await admin.info('commandstats')).not.toMatch(/cmdstat_scan/)
  })

  it(
    '[RED-5] the same beside a mass of foreign keys: the same commands, in the same time',
    { timeout: 120_000 },
    async () => {
      const foreignKeys = process.env['TIDEMARK_SIZE'] === 'full' ? 10_000_000 : 200_000
      const big = await startRedis({ config: { 'enable-debug-command': 'yes' } })
      const admin = await adminClient(big.url)
      const partitionCount = 512
      const ours = openStore(big.url, 'atomic', namespace, { redis: { commandDeadlineMs: 10_000 } })
      open.push(big, { close: async () => admin.disconnect() }, ours)
      await ours.claim({ topic: identity.topic, partitionCount })
      const timed = async (): Promise<number> => {
        const startedMs = performance.now()
        await ours.read({ topic: identity.topic, partitionCount: undefined })
        await ours.read({ topic: identity.topic, partitionCount })
        return performance.now() - startedMs
      }
      await timed()
      await admin.call('DEBUG', 'POPULATE', String(foreignKeys), `${namespace}:foreign`)
      expect(await admin.dbsize()).toBeGreaterThanOrEqual(foreignKeys)
      await admin.config('RESETSTAT')
      const fullMs = await timed()
      const stats = await admin.info('commandstats')
      expect(stats).not.toMatch(/cmdstat_(scan|keys|randomkey|sscan|hscan)/)
      expect(/cmdstat_exists:calls=(\d+)/.exec(stats)?.[1]).toBe('2')
      expect(fullMs).toBeLessThan(1_000)
    },
  )

  it('[RED-5] [CK-23] a checkpoint far beyond the search is found by the index', async () => {
    await start(store)
    const far = 50_000
    await admin.sadd(keysOf(namespace).partitions, `${identity.topic}:${far}`)
    expect((await store.read(readRequest)).checkpoints.has(far)).toBe(false)
    await admin.hset(keysOf(namespace, far).checkpoint, 'next_offset', '3')
    expect((await store.read(readRequest)).checkpoints.get(far)).toEqual({ next_offset: '3' })
  })

  it('[RED-5] an index member that is not ours, or a checkpoint of another topic, is reported', async () => {
    await start(store)
    const { partitions } = keysOf(namespace)
    await admin.sadd(partitions, 'not ours', 'other-topic:2')
    expect((await store.read(readRequest)).unreadable).toEqual([
      { key: partitions, problem: 'the member "not ours" is not ours' },
    ])
    const other = `${namespace}:checkpoint:other-topic:2`
    await admin.hset(other, 'next_offset', '1')
    expect((await store.read(readRequest)).unreadable.map(({ key }) => key)).toEqual([partitions, other])
  })

  it('[RED-5] every key of ours with another type or absurd size is named, and the rest is read', async () => {
    const claimed = await start(store)
    await advance(claimed, { partition: 2, from: 0, to: 4 })
    const keys = keysOf(namespace)
    for (const key of [keys.checkpoint, keys.fence, keys.witness, keys.quarantine, keys.incarnation, keys.partitions]) {
      await admin.del(key)
      await admin.rpush(key, 'x')
    }
    await admin.hset(keys.meta, Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, '1'])))
    const state = await store.read(readRequest)
    expect(state.unreadable.map(({ key }) => key).sort()).toEqual(Object.values(keys).sort())
    expect(state.checkpoints.get(2)).toEqual({
      ...encodeCheckpoint({ identity, partition: 2, nextOffset: OFFSET_ZERO }),
      next_offset: '4',
    })
    expect(state.witnesses.size).toBe(1)
  })

  it('[RED-5] [RED-6] a live writer is never seen with a witness beyond its checkpoint', async () => {
    const claimed = await start(store)
    const other = openStore(server.url, 'atomic', namespace)
    open.push(other)
    let isWriting = true
    const writing = (async () => {
      for (let next = 0; next < 400; next += 1) await advance(claimed, { from: next, to: next + 1 })
      isWriting = false
    })()
    let reads = 0
    while (isWriting) {
      const state = await other.read(readRequest)
      const next = BigInt(state.checkpoints.get(0)!['next_offset']!)
      const witness = state.witnesses.get(0)
      if (witness !== undefined) expect(BigInt(JSON.parse(witness).offset)).toBe(next - 1n)
      reads += 1
    }
    await writing
    expect(reads).toBeGreaterThan(5)
  })

  it('[RED-16] [CK-43] eviction policy and expiring keys are facts, and the planner refuses on them', async () => {
    await start(store)
    const keys = keysOf(namespace, 1)
    for (const [policy, kind] of [
      ['allkeys-lru', 'any-key'],
      ['volatile-ttl', 'expiring-only'],
      ['noeviction', 'keeps-all'],
    ] as const) {
      await admin.config('SET', 'maxmemory-policy', policy)
      expect((await store.read(readRequest)).facts.eviction).toEqual({ policy, kind })
    }
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru')
    for (const key of [keys.checkpoint, keys.fence, keys.meta, keys.incarnation, keys.partitions])
      await admin.expire(key, 1_000)
    const stored = await store.read(readRequest)
    await admin.config('SET', 'maxmemory-policy', 'noeviction')
    expect([...stored.facts.expiringKeys].sort()).toEqual(
      [keys.checkpoint, keys.fence, keys.meta, keys.incarnation, keys.partitions].sort(),
    )
    const bounds = [0, 1, 2].map((partition) => ({
      partition,
      low: OFFSET_ZERO,
      lastStableOffset: OFFSET_ZERO,
      highWatermark: OFFSET_ZERO,
    }))
    const verdict = planStart({
      namespace: namespaceOf(namespace),
      topic: identity.topic,
      readyTarget: 'hw',
      writeModel: 'idempotent',
      declarations: { dataKeysCarryNoExpiry: true, latestRecordPerKeySuffices: false },
      stored,
      identity: { kind: 'proven', identity } as Parameters<typeof planStart>[0]['identity'],
      bounds: { kind: 'bounds', partitions: bounds } as NonNullable<Parameters<typeof planStart>[0]['bounds']>,
      settings: undefined,
      readBacks: [],
    })
    expect(verdict.kind).toBe('refused')
    const codes = verdict.kind === 'refused' ? verdict.refusals.map(({ code }) => code) : []
    expect(codes.filter((code) => code === 'EVICTION_POLICY')).toHaveLength(1)
    expect(codes.filter((code) => code === 'KEY_EXPIRES')).toHaveLength(5)
  })
})

describe('claim and bootstrap', () => {
  it('[RED-7] a claim counts epochs exactly, also across nines and beyond 2^53, and replaces what it cannot read', async () => {
    await store.claim(readRequest)
    const nonce = 'ab'.repeat(16)
    const epochs: readonly (readonly [string, bigint])[] = [
      [`9:${nonce}`, 10n],
      [`199:${nonce}`, 200n],
      ['9007199254740993:'.concat(nonce), 9_007_199_254_740_994n],
      [`999999999999999999:${nonce}`, 1_000_000_000_000_000_000n],
      ['nonsense', 1n],
      [`007:${nonce}`, 1n],
      [`9999999999999999999:${nonce}`, 1n],
    ]
    for (const [text, epoch] of epochs) {
      await admin.set(keysOf(namespace).fence, text)
      const { fences } = await store.claim(readRequest)
      expect(fences.get(0)!.epoch, text).toBe(epoch)
      expect(await admin.get(keysOf(namespace).fence)).toBe(`${epoch}:${fences.get(0)!.nonce}`)
    }
  })

  it('[RED-7] a claim over a key of another type takes no fence at all', async () => {
    await admin.rpush(keysOf(namespace, 2).fence, 'x')
    const before = await fingerprint(admin)
    await expect(store.claim(readRequest)).rejects.toMatchObject({
      code: 'TM_REDIS_WRONG_TYPE',
      details: { key: keysOf(namespace, 2).fence },
    })
    expect(await fingerprint(admin)).toBe(before)
  })

  it('[RED-8] a bootstrap over a key of another type creates nothing', async () => {
    const { fences } = await store.claim(readRequest)
    await admin.rpush(keysOf(namespace, 2).checkpoint, 'x')
    const before = await fingerprint(admin)
    await expect(store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })).rejects.toMatchObject({
      code: 'TM_REDIS_WRONG_TYPE',
    })
    expect(await fingerprint(admin)).toBe(before)
  })

  it('[RED-4] [RED-8] bootstrap leaves exactly the keys and fields of format 1, and the side keys', async () => {
    await start(store)
    const keys = await admin.keys('*')
    const expected = [0, 1, 2].flatMap((partition) => {
      const { checkpoint, fence } = keysOf(namespace, partition)
      return [checkpoint, fence]
    })
    const { meta, incarnation, partitions } = keysOf(namespace)
    expect(keys.sort()).toEqual([...expected, meta, incarnation, partitions].sort())
    expect(await admin.hgetall(meta)).toEqual({
      format_version: '1',
      dispatch_topic: 'dispatch',
      partition_count: '3',
      cluster_id: identity.clusterId,
      topic_id: identity.topicId,
    })
    expect(await admin.hgetall(keysOf(namespace, 1).checkpoint)).toEqual({
      format_version: '1',
      dispatch_topic: 'dispatch',
      partition_count: '3',
      cluster_id: identity.clusterId,
      topic_id: identity.topicId,
      partition: '1',
      next_offset: '0',
    })
  })
})
