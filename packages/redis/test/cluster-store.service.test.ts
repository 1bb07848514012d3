import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createProjection } from '@tidemark/checkpoint'
import type { CommutingWriter, IdempotentWriter, Projection, ProjectionStore } from '@tidemark/checkpoint'
import { startRedisCluster } from '@tidemark/testkit/service'
import type { RedisCluster, RedisServer } from '@tidemark/testkit/service'
import { createSimLog } from '@tidemark/testkit/sim'
import type { SimLogWorld } from '@tidemark/testkit/sim'
import { createRedisClusterProjectionStore, createSafeRedis, createSafeRedisCluster } from '@tidemark/redis/checkpoint'
import { createRedisProjectionStore, partitionTag } from '@tidemark/redis/checkpoint'
import { keySlot } from '../src/connection/key-slot.ts'
import { advance, claim, identity, readRequest, start } from './redis-fixture.ts'

let cluster: RedisCluster
let admins: readonly Redis[]
const open: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: 1, config: { 'cluster-replica-validity-factor': '0' } })
  admins = cluster.nodes.map((node) => new Redis(node.url, { lazyConnect: true, retryStrategy: () => 200 }))
  for (const admin of admins) admin.on('error', () => undefined)
  await Promise.all(admins.map((admin) => admin.connect()))
}, 60_000)
afterAll(async () => {
  for (const admin of admins ?? []) admin.disconnect()
  await cluster?.close()
})
let namespaces = 0
let namespace: string
beforeEach(() => {
  namespaces += 1
  namespace = `c${namespaces}`
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const source = (commandDeadlineMs = 3_000) =>
  createSafeRedisCluster({ nodes: cluster.nodes.map(({ host, port }) => ({ host, port })), commandDeadlineMs })

function atomic(): ProjectionStore<IdempotentWriter> {
  const store = createRedisClusterProjectionStore({ cluster: source(), namespace, form: 'atomic' })
  open.push(store)
  return store
}

function twoStep(): ProjectionStore<CommutingWriter> {
  const store = createRedisClusterProjectionStore({ cluster: source(), namespace, form: 'two-step' })
  open.push(store)
  return store
}

const tag = (partition: number): string => partitionTag(namespace, identity.topic, partition)
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    (value) => (value as { kind: string }).kind,
    (error: { code: string }) => error.code,
  )

/** The primary that serves a key, asked of the cluster itself. */
async function ownerOf(
  key: string,
): Promise<{ readonly node: RedisServer; readonly admin: Redis; readonly index: number }> {
  for (const [index, admin] of admins.entries()) {
    const answer = await admin.exists(key).catch((error: Error) => error.message)
    const role = typeof answer === 'number' ? ((await admin.role()) as unknown[])[0] : undefined
    if (role === 'master') return { node: cluster.nodes[index]!, admin, index }
  }
  throw new Error(`nobody serves ${key}`)
}

describe('keys and steps in a cluster', () => {
  it('[RED-23] [RED-4] meta and checkpoints keep their names, side keys lie in their slots, and everything is read back', async () => {
    const claimed = await start(atomic())
    for (const partition of [0, 1, 2]) {
      const key = `${namespace}:checkpoint:${identity.topic}:${partition}`
      const { admin } = await ownerOf(key)
      expect(Object.keys(await admin.hgetall(key))).toHaveLength(7)
      expect(await admin.exists(`${tag(partition)}:fence`)).toBe(1)
      const step = {
        partition,
        from: 0,
        to: 3,
        write: (w: IdempotentWriter) => w.hset(`${tag(partition)}:h`, 'f', 'v'),
      }
      expect(await advance(claimed, step)).toEqual({ kind: 'advanced', resent: false })
      expect(await admin.hget(`${tag(partition)}:h`, 'f')).toBe('v')
      expect(await advance(claimed, step)).toEqual({ kind: 'advanced', resent: true })
    }
    const state = await claimed.store.read(readRequest)
    expect([...state.checkpoints.values()].map((fields) => fields['next_offset'])).toEqual(['3', '3', '3'])
    expect([state.witnesses.size, state.fences.size, state.unreadable]).toEqual([3, 3, []])
    expect(state.incarnation.process).toBe(claimed.process)
  })

  it('[RED-23] the atomic form refuses a data key of another slot and a key of ours, and writes nothing', async () => {
    const claimed = await start(atomic())
    const foreign = advance(claimed, { from: 0, to: 1, write: (w) => w.sadd('elsewhere', 'm') })
    await expect(foreign).rejects.toMatchObject({
      code: 'TM_REDIS_SLOT_FOREIGN',
      details: { slot: keySlot('elsewhere') },
    })
    // Beyond one script: the foreign key comes in a later one, and still nothing is sent.
    const late = advance(claimed, {
      from: 0,
      to: 1,
      write(w) {
        for (let n = 0; n < 2_500; n += 1) w.sadd(`${tag(0)}:s`, `m${n}`)
        w.sadd('elsewhere', 'm')
      },
    })
    expect(await codeOf(late)).toBe('TM_REDIS_SLOT_FOREIGN')
    const own = advance(claimed, { from: 0, to: 1, write: (w) => w.set(`${tag(0)}:fence`, 'x') })
    expect(await codeOf(own)).toBe('TM_CHECKPOINT_WRITE_INVALID')
    const { admin } = await ownerOf(`${tag(0)}:s`)
    expect(await admin.exists(`${tag(0)}:s`)).toBe(0)
    expect((await claimed.store.read(readRequest)).checkpoints.get(0)?.['next_offset']).toBe('0')
  })

  it.each(['atomic', 'two-step'] as const)(
    '[RED-23] [RED-4] the %s form refuses a data key that is a side key of any partition or of the namespace',
    async (form) => {
      const claimed = await start<CommutingWriter>(form === 'atomic' ? atomic() : twoStep())
      const own = [`{${namespace}:meta}:partitions`, `{${namespace}:meta}:incarnation`]
      own.push(...['fence', 'witness', 'quarantine'].flatMap((kind) => [`${tag(0)}:${kind}`, `${tag(2)}:${kind}`]))
      for (const key of own) {
        // Beyond one command: the key of ours comes in a later one, and still nothing is sent.
        const write = (w: CommutingWriter): void => {
          for (let n = 0; n < 2_500; n += 1) w.sadd(`${tag(0)}:s`, `m${n}`)
          w.sadd(key, 'x')
        }
        expect(await codeOf(advance(claimed, { from: 0, to: 1, write })), key).toBe('TM_CHECKPOINT_WRITE_INVALID')
      }
      const state = await claimed.store.read(readRequest)
      expect(state.unreadable).toEqual([])
      expect(state.checkpoints.get(0)?.['next_offset']).toBe('0')
      expect(await (await ownerOf(tag(0))).admin.exists(`${tag(0)}:s`)).toBe(0)
    },
  )

  it('[RED-23] [RED-14] the two-step form writes data in any slot, then compares and sets', async () => {
    const claimed = await start(twoStep())
    const write = (w: CommutingWriter): void => {
      for (const user of ['ada', 'ben', 'cyd', 'dov']) w.zadd(`${namespace}u:${user}`, 'GT', 7, 'c1')
      w.setIfGreater(`${namespace}u:max`, 9n)
    }
    expect(await advance(claimed, { from: 0, to: 4, write })).toEqual({ kind: 'advanced', resent: false })
    for (const user of ['ada', 'ben', 'cyd', 'dov']) {
      const key = `${namespace}u:${user}`
      expect(await (await ownerOf(key)).admin.zscore(key, 'c1')).toBe('7')
    }
    expect(await codeOf(advance(claimed, { from: 0, to: 5, write }))).toBe('conflict')
  })

  it('[RED-25] [RED-10] [A8] bootstrap under a lost fence creates nothing; a second is a conflict; an older writer is fenced', async () => {
    const older = await claim(atomic())
    const newer = await claim(atomic())
    const request = { identity, createMeta: true, partitions: [0, 1, 2] }
    expect(await older.store.bootstrap({ ...request, fences: older.fences })).toMatchObject({ kind: 'fenced' })
    expect((await older.store.read(readRequest)).meta).toBeUndefined()
    expect(await newer.store.bootstrap({ ...request, fences: newer.fences })).toEqual({ kind: 'created' })
    expect(await newer.store.bootstrap({ ...request, fences: newer.fences })).toMatchObject({ kind: 'conflict' })
    expect(await codeOf(advance(older, { from: 0, to: 1 }))).toBe('fenced')
    expect(await codeOf(advance(newer, { from: 0, to: 1 }))).toBe('advanced')
  })

  it('[RED-25] [A13] a bootstrap that ended after meta: the missing checkpoints are created by the next', async () => {
    const claimed = await claim(atomic())
    await claimed.store.bootstrap({ identity, createMeta: true, partitions: [], fences: claimed.fences })
    const request = { identity, createMeta: false, partitions: [0, 1, 2], fences: claimed.fences }
    expect(await claimed.store.bootstrap(request)).toEqual({ kind: 'created' })
    expect((await claimed.store.read(readRequest)).checkpoints.size).toBe(3)
  })

  it('[RED-5] [CK-23] a stray beyond the partitions is found in whatever slot it lies', async () => {
    const { store } = await start(atomic())
    const key = `${namespace}:checkpoint:${identity.topic}:900`
    await (await ownerOf(key)).admin.hset(key, 'format_version', '1')
    expect((await store.read(readRequest)).checkpoints.has(900)).toBe(true)
  })

  it('[RED-24] each kind of store refuses the other kind of server', async () => {
    const standalone = createRedisProjectionStore({
      redis: createSafeRedis(cluster.urls[0]!),
      namespace,
      form: 'atomic',
    })
    open.push(standalone)
    expect(await codeOf(standalone.read(readRequest))).toBe('TM_REDIS_CLUSTER_UNSUPPORTED')
    expect(() =>
      createRedisClusterProjectionStore({ cluster: source(), namespace, form: 'atomic', dataPrefix: '{x}' }),
    ).toThrow(expect.objectContaining({ code: 'TM_CHECKPOINT_OPTION_INVALID' }))
  })
})

/** A projection of one partition into the cluster, over a simulated log. */
function projection(log: SimLogWorld, form: 'atomic' | 'two-step' = 'atomic'): Projection {
  const shared = {
    topic: 'dispatch',
    log: log.openLog(),
    readyTarget: 'hw',
    undecodable: 'stop',
    leaseMs: 200,
  } as const
  const limits = { batchRecordsMax: 4, stallMsMax: 8_000 }
  const textOf = (value: Uint8Array | null): string => new TextDecoder().decode(value!)
  const made =
    form === 'atomic'
      ? createProjection<IdempotentWriter>({
          ...shared,
          limits,
          store: createRedisClusterProjectionStore({ cluster: source(), namespace, form }),
          project: (record, write) => write.hset(`${tag(0)}:data`, textOf(record.value), '1'),
        })
      : createProjection<CommutingWriter>({
          ...shared,
          limits,
          store: createRedisClusterProjectionStore({ cluster: source(), namespace, form }),
          project: (record, write) => write.sadd(`${namespace}d`, textOf(record.value)),
        })
  open.push({ close: () => made.stop() })
  return made
}

async function runToReady(log: SimLogWorld): Promise<void> {
  const made = projection(log)
  const started = await made.start()
  expect(started.kind).toBe('started')
  expect((await made.caughtUp({ deadlineMs: 15_000 })).kind).toBe('ready')
  await made.stop()
}

function newLog(): { readonly log: SimLogWorld; append(count: number): void; count(): number } {
  const log = createSimLog({ seed: 3 })
  log.cluster.createTopic('dispatch', { partitions: 1 })
  let appended = 0
  return {
    log,
    append(count) {
      for (let n = 0; n < count; n += 1) log.cluster.topic('dispatch').append(0, { key: 'k', value: `v${appended++}` })
    },
    count: () => appended,
  }
}

const checkpointNow = (): string => `${namespace}:checkpoint:dispatch:0`

async function expectComplete(count: number): Promise<void> {
  const { admin } = await ownerOf(checkpointNow())
  expect(await admin.hget(checkpointNow(), 'next_offset')).toBe(String(count))
  expect(await admin.hlen(`${tag(0)}:data`)).toBe(count)
}

/** Moves the slot of a key to another primary, key by key, as an operator would. */
async function migrate(key: string, between: () => Promise<void>): Promise<void> {
  const slot = String(keySlot(key))
  const from = await ownerOf(key)
  const toIndex = (from.index + 1) % 3
  const to = { node: cluster.nodes[toIndex]!, admin: admins[toIndex]! }
  const [fromId, toId] = [await cluster.idOf(from.node), await cluster.idOf(to.node)]
  await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
  await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
  const keys = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[]
  for (const [index, each] of keys.entries()) {
    if (index === Math.floor(keys.length / 2)) await between()
    await from.admin.call('MIGRATE', to.node.host, String(to.node.port), each, '0', '2000')
  }
  for (const admin of [to.admin, from.admin, admins[(from.index + 2) % 3]!])
    await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
}

describe('a cluster that changes under a live writer', () => {
  it(
    '[RED-24] [A13] the slot is moved: half moved ends in dirty, wholly moved is adopted, nothing is lost',
    { timeout: 60_000 },
    async () => {
      const { log, append, count } = newLog()
      append(6)
      const running = projection(log)
      await running.start()
      expect((await running.caughtUp({ deadlineMs: 15_000 })).kind).toBe('ready')
      let during: string = ''
      await migrate(checkpointNow(), async () => {
        append(6)
        const ended = await running.ended()
        during =
          ended.kind === 'dirty' ? `${ended.reason.code} ${JSON.stringify(ended.reason.values['error'])}` : ended.kind
      })
      expect(during).toMatch(/^STORE_FAILED "TM_REDIS_CLUSTER_(DOWN|REDIRECT)"$/)
      await running.stop()
      await cluster.ready()
      await runToReady(log)
      await expectComplete(count())
    },
  )

  it(
    '[RED-24] the slot is moved between two steps: another process, read again, adopted',
    { timeout: 60_000 },
    async () => {
      const { log, append, count } = newLog()
      append(6)
      const running = projection(log)
      await running.start()
      await running.caughtUp({ deadlineMs: 15_000 })
      await migrate(checkpointNow(), async () => undefined)
      append(6)
      await expect
        .poll(() => running.status().partitions[0]?.next ?? running.status().dirty?.code, { timeout: 10_000 })
        .toBe(String(count()))
      expect(running.status().state).toBe('ready')
      await running.stop()
      await expectComplete(count())
    },
  )

  it(
    '[RED-24] [A8] [A13] a primary is killed and its replica promoted: nothing is lost, the projection goes on or a restart does',
    { timeout: 90_000 },
    async () => {
      const { log, append, count } = newLog()
      append(8)
      const running = projection(log)
      await running.start()
      await running.caughtUp({ deadlineMs: 15_000 })
      const { node } = await ownerOf(checkpointNow())
      await node.kill()
      append(8)
      // It goes on once the replica serves the slots, or it went dirty before; what it may not do is stand still.
      const stands = (): string => {
        const { state, partitions } = running.status()
        return state === 'dirty' ? 'dirty' : (partitions[0]?.next ?? 'nowhere')
      }
      await expect.poll(stands, { timeout: 25_000 }).toMatch(/^(16|dirty)$/)
      await running.stop()
      await expect
        .poll(
          () =>
            ownerOf(checkpointNow()).then(
              (owner) => owner.node.port !== node.port,
              () => false,
            ),
          { timeout: 30_000 },
        )
        .toBe(true)
      await node.restart()
      await cluster.ready()
      await runToReady(log)
      await expectComplete(count())
    },
  )
})
