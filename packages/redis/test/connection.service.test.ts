import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { createCuttingProxy, freePorts, startRedis } from '@tidemark/testkit/service'
import type { RedisServerOptions } from '@tidemark/testkit/service'
import {
  createRedisClusterProjectionStore,
  createRedisDataReader,
  createRedisProjectionStore,
  createSafeRedis,
  createSafeRedisCluster,
} from '@tidemark/redis/checkpoint'
import type { RedisClientClass, SafeRedisOptions } from '@tidemark/redis/checkpoint'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import {
  adminClient,
  advance,
  claim,
  fingerprint,
  freshNamespace,
  keysOf,
  openStore,
  readRequest,
  start,
} from './redis-fixture.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})
const owned = <T extends { close(): Promise<unknown> }>(resource: T): T => {
  open.push(resource)
  return resource
}
const server = async (options?: RedisServerOptions) => owned(await startRedis(options))
const admin = async (url: string): Promise<Redis> => {
  const client = await adminClient(url)
  open.push({ close: async () => client.disconnect() })
  return client
}
const store = (url: string, redis: SafeRedisOptions = {}) =>
  owned(openStore(url, 'atomic', freshNamespace(), { redis }))

/** How a call failed, and how long that took. */
async function failed(call: Promise<unknown>): Promise<{ error: { code: string; message: string }; tookMs: number }> {
  const startedAt = performance.now()
  try {
    await call
  } catch (error) {
    return { error: error as { code: string; message: string }, tookMs: performance.now() - startedAt }
  }
  throw new Error('the call succeeded')
}

describe('a Redis that cannot be used', () => {
  it('[RED-2] refused: TM_REDIS_CONNECT_FAILED with the address, at once', async () => {
    const [port] = await freePorts(1)
    const { error, tookMs } = await failed(store(`redis://127.0.0.1:${port}`).read(readRequest))
    expect(error).toMatchObject({ code: 'TM_REDIS_CONNECT_FAILED', retriable: true })
    expect(error.message).toContain(`127.0.0.1:${port}`)
    expect(error.message).toContain('ECONNREFUSED')
    expect(tookMs).toBeLessThan(2_000)
  })

  it('[RED-2] accepting but silent: every call settles within its deadline', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    owned({ close: async () => silent.close() })
    const url = `redis://:pw@127.0.0.1:${(silent.address() as AddressInfo).port}`
    const mute = store(url, { commandDeadlineMs: 400 })
    const outcomes = await Promise.all([1, 2, 3].map(() => failed(mute.read(readRequest))))
    for (const { error, tookMs } of outcomes) {
      expect(['TM_REDIS_TIMEOUT', 'TM_REDIS_CONNECT_FAILED']).toContain(error.code)
      expect(tookMs).toBeLessThan(1_500)
    }
  })

  it('[RED-2] paused: a call on an open connection settles within its deadline, and the store recovers', async () => {
    const redis = await server()
    const paused = await start(store(redis.url, { commandDeadlineMs: 500 }))
    redis.pause()
    const outcomes = await Promise.all([
      failed(advance(paused, { from: 0, to: 1 })),
      failed(paused.store.read(readRequest)),
    ])
    for (const { error, tookMs } of outcomes) {
      expect(['TM_REDIS_TIMEOUT', 'TM_REDIS_CONNECTION_LOST']).toContain(error.code)
      expect(tookMs).toBeLessThan(2_000)
    }
    redis.resume()
    expect((await paused.store.read(readRequest)).checkpoints.size).toBe(3)
  })

  it('[RED-2] [CK-39] half-open after the server ran the step: the call settles, nothing is sent again', async () => {
    const redis = await server()
    const claimed = await start(store(redis.url))
    const proxy = owned(await createCuttingProxy({ target: redis, framing: 'resp' }))
    const far = owned(
      openStore(`redis://${proxy.host}:${proxy.port}`, 'atomic', claimed.store.namespace, {
        redis: { commandDeadlineMs: 500 },
      }),
    )
    proxy.program({ on: 'command', name: 'EVALSHA', command: 1, action: { kind: 'silence-before-reply' } })
    const { error, tookMs } = await failed(
      advance({ ...claimed, store: far }, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }),
    )
    expect(error).toMatchObject({ code: 'TM_REDIS_TIMEOUT', retriable: true })
    expect(tookMs).toBeLessThan(2_000)
    expect(proxy.connections()).toHaveLength(1)
  })

  it('[RED-3] wrong password: TM_REDIS_AUTH_FAILED, and the password is nowhere in the error', async () => {
    const redis = await server({ password: 'right-one' })
    const url = `redis://:hunter2-wrong@127.0.0.1:${redis.port}`
    const { error } = await failed(store(url).read(readRequest))
    expect(error.code).toBe('TM_REDIS_AUTH_FAILED')
    expect(inspect(error, { depth: 12, showHidden: true })).not.toContain('hunter2')
    const missing = await failed(store(redis.url).read(readRequest))
    expect(missing.error.code).toBe('TM_REDIS_AUTH_FAILED')
    const right = store(`redis://:right-one@127.0.0.1:${redis.port}`)
    expect((await right.read(readRequest)).meta).toBeUndefined()
  })

  it('[RED-16] [RED-17] a database the server lacks: reading reports it, writing is refused, and database 0 stays empty', async () => {
    const redis = await server()
    const wrong = store(`${redis.url}/99`)
    const { facts } = await wrong.read(readRequest)
    expect(facts.database).toEqual({ expected: '99', found: '0' })
    for (const call of [wrong.claim(readRequest), claim(wrong)]) {
      expect((await failed(call)).error).toMatchObject({ code: 'TM_REDIS_DATABASE_WRONG' })
    }
    const reader = owned(createRedisDataReader({ redis: createSafeRedis(`${redis.url}/99`) }))
    expect((await failed(reader.readValues(['k']))).error.code).toBe('TM_REDIS_DATABASE_WRONG')
    expect(await (await admin(redis.url)).dbsize()).toBe(0)
  })

  it('[RED-16] another database of the same server is kept apart', async () => {
    const redis = await server()
    const seventh = await start(store(`${redis.url}/7`))
    expect(await advance(seventh, { from: 0, to: 1 })).toEqual({ kind: 'advanced', resent: false })
    expect((await seventh.store.read(readRequest)).facts.database).toEqual({ expected: '7', found: '7' })
    expect(await (await admin(redis.url)).dbsize()).toBe(0)
  })

  it('[RED-17] no permission for the scripts: TM_REDIS_PERMISSION_DENIED naming operation and command', async () => {
    const redis = await server({
      aclLines: [
        'user default on nopass ~* &* +@all',
        'user weak on >pw ~* +info +client +select +config',
        'user blind on >pw ~* +@all -info',
      ],
    })
    const weak = await failed(store(`redis://weak:pw@127.0.0.1:${redis.port}`).read(readRequest))
    expect(weak.error).toMatchObject({ code: 'TM_REDIS_PERMISSION_DENIED', retriable: false })
    expect(weak.error.message).toContain('read')
    const blind = await failed(store(`redis://blind:pw@127.0.0.1:${redis.port}`).read(readRequest))
    expect(blind.error.code).toBe('TM_REDIS_PERMISSION_DENIED')
    expect(blind.error.message).toContain('INFO')
  })

  it('[RED-17] no permission for the data keys: the checkpoint does not move', async () => {
    const redis = await server({
      aclLines: ['user default on nopass ~* &* +@all', 'user tied on >pw ~ns* +@all'],
    })
    const namespace = freshNamespace()
    const tied = owned(openStore(`redis://tied:pw@127.0.0.1:${redis.port}`, 'atomic', namespace))
    const claimed = await start(tied)
    const { error } = await failed(advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('other', 'm') }))
    expect(error).toMatchObject({ code: 'TM_REDIS_PERMISSION_DENIED' })
    expect((await tied.read(readRequest)).checkpoints.get(0)?.['next_offset']).toBe('0')
  })

  it('[RED-17] no permission for one command of a script is no wrong type', async () => {
    const redis = await server({
      aclLines: [
        'user default on nopass ~* &* +@all',
        'user nozcard on >pw ~* +@all -zcard',
        'user nohlen on >pw ~* +@all -hlen',
        'user noget on >pw ~* +@all -get',
      ],
    })
    const as = (user: string, namespace: string) =>
      owned(openStore(`redis://${user}:pw@127.0.0.1:${redis.port}`, 'atomic', namespace))
    const claimed = await start(store(redis.url))
    const { namespace } = claimed.store
    for (const user of ['nozcard', 'noget']) {
      const limited = { ...claimed, store: as(user, namespace) }
      const { error } = await failed(advance(limited, { from: 0, to: 1, write: (w) => w.zadd('z', 'GT', 1, 'm') }))
      expect(error.code, user).toBe('TM_REDIS_PERMISSION_DENIED')
    }
    const unreadable = await failed(as('nohlen', namespace).read(readRequest))
    expect(unreadable.error.code).toBe('TM_REDIS_PERMISSION_DENIED')
    expect((await claimed.store.read(readRequest)).checkpoints.get(0)?.['next_offset']).toBe('0')
  })

  it('[RED-17] CONFIG blocked by permission costs nothing but the stronger durability', async () => {
    const redis = await server({
      config: { appendonly: 'yes', appendfsync: 'always' },
      aclLines: ['user default on nopass ~* &* +@all', 'user plain on >pw ~* +@all -config'],
    })
    const plain = await start(store(`redis://plain:pw@127.0.0.1:${redis.port}`))
    expect((await plain.store.read(readRequest)).facts.durability).toBe('server')
    expect((await store(redis.url).read(readRequest)).facts.durability).toBe('fsync')
  })

  it('[RED-16] a replica is reported when reading and refuses every write', async () => {
    const primary = await server()
    const claimed = await start(store(primary.url))
    const replica = await server({ config: { replicaof: `127.0.0.1 ${primary.port}` } })
    const watcher = await admin(replica.url)
    const expected = await fingerprint(await admin(primary.url))
    await expect.poll(() => fingerprint(watcher), { timeout: 20_000 }).toBe(expected)
    const second = owned(openStore(replica.url, 'atomic', claimed.store.namespace))
    const state = await second.read(readRequest)
    expect(state.facts.isPrimary).toBe(false)
    expect(state.checkpoints.size).toBe(3)
    expect((await failed(second.claim(readRequest))).error.code).toBe('TM_REDIS_READ_ONLY')
    const stale = advance({ ...claimed, store: second, process: state.incarnation.process }, { from: 0, to: 1 })
    expect((await failed(stale)).error.code).toBe('TM_REDIS_READ_ONLY')
  })

  it('[RED-17] a primary demoted under an open connection: READONLY, nothing moves', async () => {
    const [one, two] = [await server(), await server()]
    const claimed = await start(store(one.url))
    await (await admin(one.url)).replicaof('127.0.0.1', two.port)
    const { error } = await failed(advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }))
    expect(error).toMatchObject({ code: 'TM_REDIS_READ_ONLY', retriable: false })
  })

  it('[RED-16] a cluster node is refused by name', async () => {
    const node = await server({ config: { 'cluster-enabled': 'yes' } })
    const { error } = await failed(store(node.url).read(readRequest))
    expect(error.code).toBe('TM_REDIS_CLUSTER_UNSUPPORTED')
  })

  it('[RED-23] a single server where a Cluster is due is refused by name', async () => {
    const { host, port } = await server()
    const cluster = createSafeRedisCluster({ nodes: [{ host, port }] })
    const one = owned(createRedisClusterProjectionStore({ cluster, namespace: freshNamespace(), form: 'atomic' }))
    const { error } = await failed(one.read(readRequest))
    expect(error.code).toBe('TM_REDIS_CLUSTER_EXPECTED')
  })

  it('[RED-2] a closed store neither waits nor reconnects', async () => {
    const redis = await server()
    const claimed = await start(store(redis.url))
    await claimed.store.close()
    await claimed.store.close()
    const calls = [
      claimed.store.read(readRequest),
      claimed.store.claim(readRequest),
      advance(claimed, { from: 0, to: 1 }),
    ]
    for (const call of calls) expect((await failed(call)).error.code).toBe('TM_REDIS_CLOSED')
    await expect
      .poll(async () => String(await (await admin(redis.url)).client('LIST')).match(/cmd=evalsha/g))
      .toBeNull()
  })
})

describe('both major versions of the client', () => {
  it.each([
    ['5.4', Redis5 as unknown as RedisClientClass],
    ['6', Redis as RedisClientClass],
  ])('[RED-21] ioredis %s: reads, steps, fences and fails alike', async (_version, client) => {
    const redis = await server({ password: 'pw' })
    const source = createSafeRedis(`redis://:pw@127.0.0.1:${redis.port}/3`, { client, commandDeadlineMs: 1_000 })
    const namespace = freshNamespace()
    for (const form of ['atomic', 'two-step'] as const) {
      const shared = { redis: source, namespace: `${namespace}_${form}` }
      const one = owned(
        form === 'atomic'
          ? createRedisProjectionStore({ ...shared, form: 'atomic' })
          : createRedisProjectionStore({ ...shared, form: 'two-step' }),
      )
      const claimed = await start(one as ReturnType<typeof openStore>)
      expect(await advance(claimed, { from: 0, to: 5, write: (w) => w.zadd('z', 'GT', 5, 'm') })).toEqual({
        kind: 'advanced',
        resent: false,
      })
      const state = await one.read(readRequest)
      expect(state.checkpoints.get(0)?.['next_offset']).toBe('5')
      expect(state.facts).toMatchObject({ isPrimary: true, isLoaded: true, eviction: { kind: 'keeps-all' } })
      await redis.restart()
      const { error } = await failed(
        advance(claimed, { from: 5, to: 6 }).then((outcome) => {
          throw Object.assign(new Error('an outcome'), { code: outcome.kind })
        }),
      )
      expect(['process-changed', 'TM_REDIS_CONNECTION_LOST']).toContain(error.code)
    }
    const wrong = createSafeRedis(`redis://:no@127.0.0.1:${redis.port}`, { client })
    const refused = owned(createRedisProjectionStore({ redis: wrong, namespace, form: 'atomic' }))
    expect((await failed(refused.read(readRequest))).error.code).toBe('TM_REDIS_AUTH_FAILED')
    const reader = owned(createRedisDataReader({ redis: source }))
    expect(await reader.readValues(['absent'])).toEqual([{ kind: 'absent' }])
    expect(keysOf(namespace).meta).toBe(`${namespace}:meta`)
  })
})
