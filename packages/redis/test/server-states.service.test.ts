import { afterEach, describe, expect, it } from 'vitest'
import { startRedis } from '@tidemark/testkit/service'
import type { RedisServer, RedisServerOptions } from '@tidemark/testkit/service'
import type { CommutingWriter, IdempotentWriter } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { createRedisDataReader, createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import type { Redis } from 'ioredis'
import {
  adminClient,
  advance,
  claim,
  fingerprint,
  freshNamespace,
  identity,
  keysOf,
  openStore,
  readRequest,
  request,
  start,
} from './redis-fixture.ts'
import type { Claimed } from './redis-fixture.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})
const owned = <T extends { close(): Promise<unknown> }>(resource: T): T => {
  open.push(resource)
  return resource
}

interface Bench {
  readonly server: RedisServer
  readonly admin: Redis
}

async function serve(options?: RedisServerOptions): Promise<Bench> {
  const server = owned(await startRedis(options))
  const admin = await adminClient(server.url)
  open.push({ close: async () => admin.disconnect() })
  return { server, admin }
}

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    (value) => (value as { kind: string }).kind,
    (error: { code: string }) => error.code,
  )

const atomic = (server: RedisServer, namespace = freshNamespace(), dataPrefix = '') =>
  owned(
    createRedisProjectionStore({
      redis: createSafeRedis(server.url, { commandDeadlineMs: 3_000 }),
      namespace,
      form: 'atomic',
      dataPrefix,
    }),
  )

const nextOffset = (admin: Redis, claimed: Claimed<never>, partition = 0): Promise<string | null> =>
  admin.hget(keysOf(claimed.store.namespace, partition).checkpoint, 'next_offset')

describe.each(['atomic', 'two-step'] as const)('the %s form on a server in trouble', (form) => {
  it('[RED-9] [RED-17] [CK-42] out of memory with noeviction: TM_REDIS_OUT_OF_MEMORY, the checkpoint stays', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    await admin.config('SET', 'maxmemory-policy', 'noeviction')
    await admin.config('SET', 'maxmemory', '1mb')
    const code = await codeOf(advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }))
    expect(code).toBe('TM_REDIS_OUT_OF_MEMORY')
    expect(await nextOffset(admin, claimed as Claimed<never>)).toBe('0')
    expect(await admin.exists(keysOf(claimed.store.namespace).witness, 's')).toBe(0)
    await admin.config('SET', 'maxmemory', '0')
    expect(await codeOf(advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }))).toBe('advanced')
  })

  it('[RED-17] too few replicas to confirm: TM_REDIS_PERSISTENCE_FAILED, the checkpoint stays', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    await admin.config('SET', 'min-replicas-to-write', '1')
    const code = await codeOf(advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }))
    expect(code).toBe('TM_REDIS_PERSISTENCE_FAILED')
    expect(await nextOffset(admin, claimed as Claimed<never>)).toBe('0')
  })

  it('[RED-9] [RED-14] another type under a data key: TM_REDIS_WRONG_TYPE naming it, the checkpoint stays', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    await admin.set('convs:ben', 'not a session')
    const call = advance(claimed, {
      from: 0,
      to: 1,
      write: (w) => ['ada', 'ben', 'cyd'].forEach((user) => w.zadd(`convs:${user}`, 'GT', 5, 'c1')),
    })
    await expect(call).rejects.toMatchObject({ code: 'TM_REDIS_WRONG_TYPE', details: { key: 'convs:ben' } })
    expect(await nextOffset(admin, claimed as Claimed<never>)).toBe('0')
    // The atomic form checks every type before the first write.
    expect(await admin.exists('convs:ada', 'convs:cyd')).toBe(form === 'atomic' ? 0 : 2)
  })

  it('[RED-9] [RED-15] a value setIfGreater cannot compare: named, the checkpoint stays', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    for (const held of ['abc', '007', '-1', '1.5', '', '1e3']) {
      await admin.set('max', held)
      const code = await codeOf(advance(claimed, { from: 0, to: 1, write: (w) => w.setIfGreater('max', 9n) }))
      expect(code, held).toBe('TM_REDIS_VALUE_NOT_A_NUMBER')
      expect(await admin.get('max')).toBe(held)
    }
    expect(await nextOffset(admin, claimed as Claimed<never>)).toBe('0')
  })

  it('[RED-19] a flushed script cache: the step goes on, also in the middle of a pipeline', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    for (let next = 0; next < 4; next += 1) {
      await admin.script('FLUSH')
      const write = (w: CommutingWriter): void => {
        w.zadd('z', 'GT', next, 'm')
        w.setIfGreater('max', BigInt(next))
        w.setIfGreater('max2', BigInt(next))
      }
      expect(await codeOf(advance(claimed, { from: next, to: next + 1, write }))).toBe('advanced')
      await admin.script('FLUSH')
      expect((await claimed.store.read(readRequest)).checkpoints.get(0)?.['next_offset']).toBe(String(next + 1))
    }
    expect(await admin.mget('max', 'max2')).toEqual(['3', '3'])
  })

  it('[RED-10] [A8] [CK-49] two writers: the older one is fenced at its next write, whoever was faster', async () => {
    const { server, admin } = await serve()
    const namespace = freshNamespace()
    const older = await start(owned(openStore(server.url, form, namespace)))
    expect(await codeOf(advance(older, { from: 0, to: 2 }))).toBe('advanced')
    const newer = await claim(owned(openStore(server.url, form, namespace)))
    expect(await codeOf(advance(older, { from: 2, to: 3 }))).toBe('fenced')
    expect(await codeOf(advance(newer, { from: 2, to: 4 }))).toBe('advanced')
    expect(await codeOf(advance(older, { from: 2, to: 4 }))).toBe('fenced')
    expect(await codeOf(advance(older, { from: 4, to: 5 }))).toBe('fenced')
    expect(await nextOffset(admin, newer as Claimed<never>)).toBe('4')
    await admin.del(keysOf(namespace).fence)
    expect(await newer.store.advance(request(newer, { from: 4, to: 5 }))).toEqual({ kind: 'fenced', found: undefined })
  })

  it('[RED-10] [A8] a claim lost in a failover is not issued again: the same epoch, another nonce', async () => {
    const { server, admin } = await serve()
    const namespace = freshNamespace()
    const first = await start(owned(openStore(server.url, form, namespace)))
    const held = await admin.get(keysOf(namespace).fence)
    const lost = await claim(owned(openStore(server.url, form, namespace)))
    // The promoted replica had not received the second claim.
    await admin.set(keysOf(namespace).fence, held!)
    const third = await claim(owned(openStore(server.url, form, namespace)))
    expect(third.fences.get(0)!.epoch).toBe(lost.fences.get(0)!.epoch)
    expect(third.fences.get(0)!.nonce).not.toBe(lost.fences.get(0)!.nonce)
    for (const old of [first, lost]) expect(await codeOf(advance(old, { from: 0, to: 1 }))).toBe('fenced')
    expect(await codeOf(advance(third, { from: 0, to: 1 }))).toBe('advanced')
  })

  it('[RED-12] [A9] restarted empty under a live writer: the process has changed, no lone checkpoint appears', async () => {
    const { server } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    expect(await codeOf(advance(claimed, { from: 0, to: 5 }))).toBe('advanced')
    await server.restart({ wipeData: true })
    const codes: string[] = []
    for (let attempt = 0; attempt < 4; attempt += 1) {
      codes.push(await codeOf(advance(claimed, { from: 5, to: 6, write: (w) => w.sadd('s', 'm') })))
    }
    expect(codes.at(-1)).toBe('process-changed')
    for (const code of codes) expect(['process-changed', 'TM_REDIS_CONNECTION_LOST']).toContain(code)
    const after = await adminClient(server.url)
    expect(await after.dbsize()).toBe(0)
    const { incarnation } = await claimed.store.read(readRequest)
    const outcome = await advance(
      { ...claimed, process: incarnation.process },
      { from: 5, to: 6, write: (w) => w.sadd('s', 'm') },
    )
    expect(outcome.kind).toBe('fenced')
    // Only the commuting writes of the form that cannot fence them may stand there; never a checkpoint.
    expect((await after.keys('*')).filter((key) => key !== 's')).toEqual([])
    after.disconnect()
  })

  it('[RED-12] [A9] emptied by FLUSHALL under an open connection: fenced, nothing is created', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    await admin.flushall()
    expect(await codeOf(advance(claimed, { from: 0, to: 1 }))).toBe('fenced')
    expect(await admin.dbsize()).toBe(0)
    expect((await claimed.store.read(readRequest)).incarnation.nonce).toBeUndefined()
  })

  it('[RED-9] [CK-13] [CK-14] compare-and-set: a lower position, a deleted meta, a foreign field all stop the step', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    const keys = keysOf(claimed.store.namespace)
    await advance(claimed, { from: 0, to: 120 })
    expect(await claimed.store.advance(request(claimed, { from: 90, to: 100 }))).toMatchObject({
      kind: 'conflict',
      found: '120',
    })
    expect(await nextOffset(admin, claimed as Claimed<never>)).toBe('120')
    await admin.hset(keys.checkpoint, 'note', 'by hand')
    expect(await claimed.store.advance(request(claimed, { from: 120, to: 121 }))).toMatchObject({
      kind: 'conflict',
      key: keys.checkpoint,
      found: '8',
    })
    await admin.hdel(keys.checkpoint, 'note')
    await admin.hdel(keys.checkpoint, 'topic_id')
    await admin.hset(keys.checkpoint, 'topic_id', identity.topicId)
    expect(await codeOf(advance(claimed, { from: 120, to: 121 })), 'fields in another order are the same fields').toBe(
      'advanced',
    )
    await admin.del(keys.meta)
    expect(await claimed.store.advance(request(claimed, { from: 121, to: 122 }))).toMatchObject({
      kind: 'conflict',
      key: keys.meta,
      found: undefined,
    })
    expect(await nextOffset(admin, claimed as Claimed<never>)).toBe('121')
  })

  it('[RED-9] another type under a key of ours: TM_REDIS_WRONG_TYPE naming it, nothing is written', async () => {
    const { server, admin } = await serve()
    for (const kind of ['meta', 'checkpoint', 'fence'] as const) {
      const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
      const key = keysOf(claimed.store.namespace)[kind]
      await admin.del(key)
      await admin.rpush(key, 'x')
      const before = await fingerprint(admin)
      await expect(advance(claimed, { from: 0, to: 1 })).rejects.toMatchObject({
        code: 'TM_REDIS_WRONG_TYPE',
        details: { key },
      })
      expect(await fingerprint(admin)).toBe(before)
    }
  })

  it('[RED-9] a quarantine key of another type is found before data is written', async () => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    const key = keysOf(claimed.store.namespace).quarantine
    await admin.rpush(key, 'x')
    const entry = {
      partition: 0,
      offset: offsetOf(0),
      reason: 'damaged',
      valueDigest: null,
      valueBytes: 0,
      timestampMs: 7,
    }
    await expect(advance(claimed, { from: 0, to: 1, quarantine: [entry] })).rejects.toMatchObject({
      code: 'TM_REDIS_WRONG_TYPE',
      details: { key },
    })
    expect(await admin.hget(keysOf(claimed.store.namespace).checkpoint, 'next_offset')).toBe('0')
    if (form === 'two-step') return
    const write = (w: CommutingWriter): void => w.sadd('data', 'm')
    await expect(advance(claimed, { from: 0, to: 1, quarantine: [entry], write })).rejects.toMatchObject({
      code: 'TM_REDIS_WRONG_TYPE',
    })
    expect(await admin.exists('data')).toBe(0)
  })

  it('[RED-11] the same target with another last record is not taken for a resend', async () => {
    const { server } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    const first = request(claimed, { from: 0, to: 3 })
    expect(await claimed.store.advance(first)).toEqual({ kind: 'advanced', resent: false })
    const other = { ...first, witness: { ...first.witness!, digest: 'f'.repeat(64) } }
    expect((await claimed.store.advance(other)).kind).toBe('conflict')
    expect(await claimed.store.advance({ ...first, witness: undefined })).toEqual({ kind: 'advanced', resent: true })
  })
})

describe('runs of writes longer than one command takes', () => {
  const many = Array.from({ length: 1_203 }, (_, n) => n)
  const runs: readonly (readonly [string, RedisStepForm, string, (w: IdempotentWriter, n: number) => void])[] = [
    ['GT', 'atomic', 'zcard', (w, n) => w.zadd('key', 'GT', n, `m${n}`)],
    ['LT', 'atomic', 'zcard', (w, n) => w.zadd('key', 'LT', n, `m${n}`)],
    ['ANY', 'atomic', 'zcard', (w, n) => w.zadd('key', 'ANY', n, `m${n}`)],
    ['SADD', 'atomic', 'scard', (w, n) => w.sadd('key', `m${n}`)],
    ['HSET', 'atomic', 'hlen', (w, n) => w.hset('key', `m${n}`, `v${n}`)],
    ['GT', 'two-step', 'zcard', (w, n) => w.zadd('key', 'GT', n, `m${n}`)],
    ['LT', 'two-step', 'zcard', (w, n) => w.zadd('key', 'LT', n, `m${n}`)],
    ['SADD', 'two-step', 'scard', (w, n) => w.sadd('key', `m${n}`)],
  ]
  it.each(runs)('[RED-9] %s, %s: every element arrives with its own value', async (_, form, count, write) => {
    const { server, admin } = await serve()
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    await advance(claimed, {
      from: 0,
      to: 1,
      write: (w) => many.forEach((n) => write(w as IdempotentWriter, n)),
    })
    expect(await admin.call(count, 'key')).toBe(many.length)
    const [last] = many.slice(-1)
    if (count === 'zcard') expect(await admin.zscore('key', `m${last}`)).toBe(String(last))
    if (count === 'hlen') expect(await admin.hget('key', `m${last}`)).toBe(`v${last}`)
  })

  it.each<readonly [string, (w: IdempotentWriter, n: number) => void, (w: IdempotentWriter, n: number) => void]>([
    ['ZREM', (w, n) => w.zadd('key', 'GT', n, `m${n}`), (w, n) => w.zrem('key', `m${n}`)],
    ['SREM', (w, n) => w.sadd('key', `m${n}`), (w, n) => w.srem('key', `m${n}`)],
    ['HDEL', (w, n) => w.hset('key', `m${n}`, 'v'), (w, n) => w.hdel('key', `m${n}`)],
  ])('[RED-9] %s: every element goes', async (_, put, remove) => {
    const { server, admin } = await serve()
    const claimed = await start(atomic(server))
    await advance(claimed, { from: 0, to: 1, write: (w) => many.forEach((n) => put(w, n)) })
    expect(await admin.exists('key')).toBe(1)
    await advance(claimed, { from: 1, to: 2, write: (w) => many.forEach((n) => remove(w, n)) })
    expect(await admin.exists('key')).toBe(0)
  })
})

describe('the atomic form', () => {
  const everything = (w: IdempotentWriter): void => {
    w.set('string', 'v')
    w.hset('hash', 'f', 'v')
    w.zadd('zset', 'ANY', 4, 'm')
    w.sadd('set', 'm')
  }

  it.each<readonly [string, (w: IdempotentWriter) => void]>([
    [
      'a set and a sorted set under one new key',
      (w) => {
        w.sadd('mixed', 'm')
        w.zadd('mixed', 'GT', 1, 'm')
      },
    ],
    [
      'a text that is raised afterwards',
      (w) => {
        w.set('mixed', 'text')
        w.setIfGreater('mixed', 5n)
      },
    ],
  ])(
    '[CKP-23] [RED-9] an error in the middle of the script (%s) leaves position and witness alone',
    async (_, write) => {
      const { server, admin } = await serve()
      const claimed = await start(atomic(server))
      await advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('before', 'm') })
      const witness = await admin.get(keysOf(claimed.store.namespace).witness)
      await expect(advance(claimed, { from: 1, to: 3, write })).rejects.toMatchObject({
        code: expect.stringMatching(/^TM_REDIS_/),
      })
      // No check before the first write can see it, and Lua does not roll back: only the order protects the position.
      expect(await admin.exists('mixed')).toBe(1)
      expect(await admin.hget(keysOf(claimed.store.namespace).checkpoint, 'next_offset')).toBe('1')
      expect(await admin.get(keysOf(claimed.store.namespace).witness)).toBe(witness)
    },
  )

  it('[RED-9] several types wrong at once: refused before anything is written', async () => {
    const { server, admin } = await serve()
    for (const [key, wrong] of [
      ['hash', 'set'],
      ['zset', 'hash'],
      ['set', 'zset'],
    ] as const) {
      await admin.flushall()
      const claimed = await start(atomic(server))
      await (wrong === 'set'
        ? admin.sadd(key, 'x')
        : wrong === 'hash'
          ? admin.hset(key, 'x', '1')
          : admin.zadd(key, 1, 'x'))
      const before = await fingerprint(admin)
      await expect(advance(claimed, { from: 0, to: 1, write: everything })).rejects.toMatchObject({ details: { key } })
      expect(await fingerprint(admin)).toBe(before)
    }
  })

  it('[RED-9] a key that the step itself turns into another type is written as the order says', async () => {
    const { server, admin } = await serve()
    const claimed = await start(atomic(server))
    await admin.set('k', 'old')
    const write = (w: IdempotentWriter): void => {
      w.del('k')
      w.zadd('k', 'GT', 3, 'm')
      w.set('other', '1')
      w.del('other')
    }
    expect(await codeOf(advance(claimed, { from: 0, to: 1, write }))).toBe('advanced')
    expect(await admin.zscore('k', 'm')).toBe('3')
    expect(await admin.exists('other')).toBe(0)
  })

  it('[RED-13] 10,000 recipients of one record: several scripts, each inside the limits, one checkpoint', async () => {
    const { server, admin } = await serve()
    const claimed = await start(atomic(server))
    await admin.config('RESETSTAT')
    const write = (w: IdempotentWriter): void => {
      for (let index = 0; index < 10_000; index += 1) w.zadd(`convs:user-${index}`, 'GT', 7, 'c1')
    }
    expect(await codeOf(advance(claimed, { from: 0, to: 1, write }))).toBe('advanced')
    const stats = await admin.info('commandstats')
    expect(/cmdstat_zadd:calls=(\d+)/.exec(stats)?.[1]).toBe('10000')
    expect(Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1])).toBeGreaterThanOrEqual(5)
    expect(await nextOffset(admin, claimed as unknown as Claimed<never>)).toBe('1')
  })

  it('[RED-13] the older writer of a large record is fenced between its scripts', async () => {
    const { server, admin } = await serve()
    const namespace = freshNamespace()
    const older = await start(atomic(server, namespace))
    const big = (w: IdempotentWriter): void => {
      for (let index = 0; index < 100_000; index += 1) w.sadd('big', `m${index}`)
    }
    const running = codeOf(advance(older, { from: 0, to: 1, write: big }))
    const newer = await claim(atomic(server, namespace))
    expect(['fenced', 'advanced']).toContain(await running)
    const stored = await nextOffset(admin, newer as unknown as Claimed<never>)
    expect(await codeOf(advance(newer, { from: Number(stored), to: Number(stored) + 1 }))).toBe('advanced')
    expect(await codeOf(advance(older, { from: 0, to: 1, write: big }))).toBe('fenced')
  })

  it('[RED-4] [RED-18] a data prefix stands before every key, in writing and in reading, and cannot reach the namespace', async () => {
    const { server, admin } = await serve()
    const claimed = await start(atomic(server, 'app:projection', 'app:'))
    expect(await codeOf(advance(claimed, { from: 0, to: 1, write: (w) => w.set('k', 'v') }))).toBe('advanced')
    expect(await admin.get('app:k')).toBe('v')
    const reader = owned(createRedisDataReader({ redis: createSafeRedis(server.url), dataPrefix: 'app:' }))
    expect(await reader.readValues(['k', 'absent'])).toEqual([{ kind: 'string', value: 'v' }, { kind: 'absent' }])
    const buffer = claimed.store.newWrites()
    expect(() => buffer.writer.set('projection:meta', 'x')).toThrow(
      expect.objectContaining({ code: 'TM_CHECKPOINT_WRITE_INVALID' }),
    )
    expect(() => atomic(server, 'app', 'app:')).toThrow(
      expect.objectContaining({ code: 'TM_CHECKPOINT_OPTION_INVALID' }),
    )
  })

  it('[RED-9] a buffer of another store is refused', async () => {
    const { server } = await serve()
    const claimed = await start(atomic(server))
    const other = await start(atomic(server))
    const foreign = { ...request(claimed, { from: 0, to: 1 }), writes: other.store.newWrites() }
    expect(await codeOf(claimed.store.advance(foreign))).toBe('TM_REDIS_BUFFER_FOREIGN')
  })
})

describe('the two-step form', () => {
  it('[RED-20] offers commuting writes only, also to a program without types', async () => {
    const { server } = await serve()
    const { writer } = owned(openStore(server.url, 'two-step', freshNamespace())).newWrites()
    expect(Object.keys(writer).sort()).toEqual(['sadd', 'setIfGreater', 'zadd'])
    expect(() => writer.zadd('k', 'ANY' as 'GT', 1, 'm')).toThrow(
      expect.objectContaining({ code: 'TM_REDIS_WRITE_NOT_COMMUTING' }),
    )
  })
})
