import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createProjection } from '@tidemark/checkpoint'
import type { CommutingWriter, Projection, ProjectionStore } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { startRedisCluster } from '@tidemark/testkit/service'
import type { RedisCluster } from '@tidemark/testkit/service'
import { createSimLog } from '@tidemark/testkit/sim'
import type { SimLogWorld } from '@tidemark/testkit/sim'
import { createRedisClusterProjectionStore, createSafeRedisCluster, partitionTag } from '@tidemark/redis/checkpoint'
import { keySlot } from '../src/connection/key-slot.ts'
import { advance, claim, identity, readRequest, request, start } from './redis-fixture.ts'

const config = {
  'cluster-replica-validity-factor': '0',
  'repl-diskless-sync-delay': '0',
  appendonly: 'yes',
  appendfsync: 'always',
}
let cluster: RedisCluster
let admins: readonly Redis[]
let log: SimLogWorld
let namespace: string
let appended = 0
const open: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: 1, config })
  admins = cluster.nodes.map(
    (node) => new Redis(node.url, { lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => 200 }),
  )
  for (const admin of admins) admin.on('error', () => undefined)
  await Promise.all(admins.map((admin) => admin.connect()))
}, 60_000)
afterAll(async () => {
  for (const admin of admins ?? []) admin.disconnect()
  await cluster?.close()
})
let names = 0
beforeEach(() => {
  // Meta and checkpoints lie in the first shard, so that what happens to the second is not seen in them.
  do namespace = `s${(names += 1)}`
  while (![`${namespace}:meta`, checkpointOf('dispatch')].every((key) => shardOf(key) === 0))
  log = createSimLog({ seed: 3 })
  log.cluster.createTopic('dispatch', { partitions: 1 })
  appended = 0
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const checkpointOf = (topic: string): string => `${namespace}:checkpoint:${topic}:0`
const shardOf = (key: string): number => [0, 1, 2].findLast((shard) => cluster.firstSlot(shard) <= keySlot(key))!
const dataKey = (record: string): string => `d${namespace}:${record}`
const append = (count: number): void => {
  for (let n = 0; n < count; n += 1) log.cluster.topic('dispatch').append(0, { key: 'k', value: `v${appended++}` })
}

function newStore(): ProjectionStore<CommutingWriter> {
  const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
  const source = createSafeRedisCluster({ nodes, commandDeadlineMs: 3_000 })
  const store = createRedisClusterProjectionStore({ cluster: source, namespace, form: 'two-step' })
  open.push(store)
  return store
}

/** Every record has a key of its own, so that they lie in all shards and each one that is missing shows. */
function projection(store = newStore(), batchRecordsMax = 4): Projection {
  const made = createProjection<CommutingWriter>({
    topic: 'dispatch',
    log: log.openLog(),
    store,
    project(record, write) {
      const text = new TextDecoder().decode(record.value!)
      write.sadd(dataKey(text), text)
    },
    readyTarget: 'hw',
    undecodable: 'stop',
    leaseMs: 200,
    limits: { batchRecordsMax, stallMsMax: 8_000 },
  })
  open.push({ close: () => made.stop() })
  return made
}

/** A store whose life ends when so many steps were confirmed. */
function mortal(steps: number): ProjectionStore<CommutingWriter> {
  const store = newStore()
  let left = steps
  return Object.assign(Object.create(store) as ProjectionStore<CommutingWriter>, {
    async advance(step: Parameters<typeof store.advance>[0]) {
      if (left === 0) throw new Error('the life is over')
      left -= 1
      return store.advance(step)
    },
  })
}

/** Starts and catches up; why not, otherwise. */
async function run(): Promise<string> {
  const made = projection()
  try {
    const started = await made.start()
    if (started.kind === 'refused') return started.refusals.map(({ code }) => code).join()
    const reached = await made.caughtUp({ deadlineMs: 15_000 })
    return reached.kind === 'dirty' ? reached.reason.code : reached.kind
  } finally {
    await made.stop()
  }
}

/** The primary that serves a key, asked of the cluster itself. */
async function ownerOf(key: string): Promise<number> {
  for (const [index, admin] of admins.entries()) {
    const answer = await admin.exists(key).catch(() => undefined)
    const role = answer === undefined ? undefined : ((await admin.role()) as unknown[])[0]
    if (role === 'master') return index
  }
  throw new Error(`nobody serves ${key}`)
}

async function missingRecords(): Promise<readonly string[]> {
  const missing: string[] = []
  for (let n = 0; n < appended; n += 1) {
    const owner = admins[await ownerOf(dataKey(`v${n}`))]!
    if ((await owner.exists(dataKey(`v${n}`))) === 0) missing.push(`v${n}`)
  }
  return missing
}

async function expectComplete(): Promise<void> {
  expect(await missingRecords()).toEqual([])
  const owner = admins[await ownerOf(checkpointOf('dispatch'))]!
  expect(await owner.hget(checkpointOf('dispatch'), 'next_offset')).toBe(String(appended))
}

/** What a shard holds, to be put back later: the state of a replica that had received no more, or of an older file. */
async function copyOf(shard: number): Promise<{ restore(): Promise<void> }> {
  const admin = admins[shard]!
  const keys = await admin.keys('*')
  const copy = await Promise.all(keys.map(async (key) => [key, await admin.dumpBuffer(key)] as const))
  return {
    async restore() {
      await admin.flushall()
      for (const [key, bytes] of copy) await admin.restore(key, 0, bytes)
    },
  }
}

describe('marks in the shards', () => {
  const marksIn = (shard: number) => admins[shard]!.keys(`{${namespace}:shard:*:0`)
  /** A step of partition 0 that writes to the shards named. */
  const step = (from: number, to: number, ...shards: readonly number[]) => ({
    from,
    to,
    write: (w: CommutingWriter) => shards.forEach((shard) => w.sadd(dataKeyOf(shard), `${from}`)),
  })
  const twinOf = async (store: ProjectionStore<CommutingWriter>) => (await store.read(readRequest)).twins?.get(0)
  const codeOf = (call: Promise<{ readonly kind: string }>) =>
    call.then(
      ({ kind }) => kind,
      (error: { readonly code: string }) => error.code,
    )

  it('[RED-42] only shards that a step wrote to are marked, and a step without data marks none', async () => {
    const claimed = await start(newStore())
    expect(await twinOf(claimed.store)).toBe('0')
    await advance(claimed, { from: 0, to: 2 })
    expect(await Promise.all([0, 1, 2].map(marksIn))).toEqual([[], [], []])
    await advance(claimed, step(2, 5, 1, 2))
    const marked = await Promise.all([0, 1, 2].map(marksIn))
    expect(marked.map(({ length }) => length)).toEqual([0, 1, 1])
    expect(await admins[1]!.get(marked[1]![0]!)).toBe('5')
    await advance(claimed, step(5, 9, 1))
    expect(await Promise.all([admins[1]!.get(marked[1]![0]!), admins[2]!.get(marked[2]![0]!)])).toEqual(['9', '5'])
    expect(await twinOf(claimed.store)).toBe('9')
  })

  it('[RED-42] a write that fails raises no mark, not even in the shards that took theirs', async () => {
    const claimed = await start(newStore())
    await admins[2]!.set(dataKeyOf(2), 'a plain string')
    expect(await codeOf(advance(claimed, step(0, 3, 1, 2)))).toBe('TM_REDIS_WRONG_TYPE')
    expect(await Promise.all([0, 1, 2].map(marksIn))).toEqual([[], [], []])
    await admins[2]!.del(dataKeyOf(2))
  })

  it('[RED-42] [A8] a replay under a lost fence writes nothing', async () => {
    const older = await start(newStore())
    await advance(older, step(0, 5, 1))
    const [mark] = await marksIn(1)
    await admins[1]!.set(mark!, '2')
    await admins[1]!.del(dataKeyOf(1))
    expect(await twinOf(older.store)).toBe('2')
    const newer = await claim(newStore())
    const replay = { ...request(older, step(2, 4, 1)), apart: { data: offsetOf(2), checkpoint: offsetOf(5) } }
    expect((await older.store.advance(replay)).kind).toBe('fenced')
    expect([await admins[1]!.exists(dataKeyOf(1)), await admins[1]!.get(mark!)]).toEqual([0, '2'])
    const again = { ...request(newer, step(2, 4, 1)), apart: replay.apart }
    expect((await newer.store.advance(again)).kind).toBe('advanced')
    expect(await twinOf(newer.store)).toBe('4')
    expect(await admins[1]!.exists(dataKeyOf(1))).toBe(1)
  })

  it('[RED-42] [A4] marks that are damaged say so, and are never taken for a position', async () => {
    const claimed = await start(newStore())
    await advance(claimed, step(0, 5, 1))
    const [mark] = await marksIn(1)
    const due = `${partitionTag(namespace, identity.topic, 0)}:marks`
    for (const text of ['', '-1', '007', '1e3', 'x']) {
      await admins[1]!.set(mark!, text)
      expect(await twinOf(claimed.store)).toMatch(/^mark \d+ is/)
    }
    await admins[1]!.del(mark!)
    expect(await twinOf(claimed.store)).toBeUndefined()
    await admins[1]!.rpush(mark!, 'a list')
    expect(await twinOf(claimed.store)).toMatch(/^mark \d+ is "a list"/)
    await admins[0]!.hset(due, 'strange', '5')
    expect(await twinOf(claimed.store)).not.toMatch(/^\d+$/)
    await admins[0]!.del(due)
    // Written by a store without marks: there is nothing to go by, and nothing is made up.
    expect(await twinOf(claimed.store)).toBe('5')
    await admins[0]!.set(due, 'a string')
    expect((await claimed.store.read(readRequest)).unreadable.map(({ key }) => key)).toEqual([due])
  })

  it('[RED-42] [RED-24] a mark whose slot is moved goes with it, and its former shard gets another', async () => {
    const claimed = await start(newStore())
    await advance(claimed, step(0, 5, 1, 2))
    const [mark] = await marksIn(1)
    const slot = String(keySlot(mark!))
    const ids = await Promise.all([1, 2].map((shard) => cluster.idOf(cluster.nodes[shard]!)))
    const move = async (from: number, to: number, fromId: string, toId: string): Promise<void> => {
      await admins[to]!.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
      await admins[from]!.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
      const { host, port } = cluster.nodes[to]!
      for (const key of (await admins[from]!.call('CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[])
        await admins[from]!.call('MIGRATE', host, String(port), key, '0', '2000')
      for (const shard of [to, from, 0]) await admins[shard]!.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
    }
    await move(1, 2, ids[0]!, ids[1]!)
    try {
      const store = newStore()
      expect(await twinOf(store)).toBe('5')
      const moved = { ...claimed, store, process: (await store.read(readRequest)).incarnation.process }
      expect((await advance(moved, step(5, 8, 1))).kind).toBe('advanced')
      const [other] = await marksIn(1)
      expect(other).not.toBe(mark)
      expect([await admins[1]!.get(other!), await admins[2]!.get(mark!), await twinOf(store)]).toEqual(['8', '5', '8'])
      await admins[1]!.set(other!, '6')
      expect(await twinOf(store)).toBe('6')
    } finally {
      await move(2, 1, ids[1]!, ids[0]!)
      await cluster.ready()
    }
  })
})

describe('a shard of the data that falls back behind the checkpoint of another', () => {
  it('[RED-42] [CKP-50] the next life replays from what the shard still has, and the data is complete', async () => {
    append(20)
    expect(await run()).toBe('ready')
    const copy = await copyOf(1)
    append(20)
    expect(await run()).toBe('ready')
    await copy.restore()
    expect((await missingRecords()).length).toBeGreaterThan(0)
    append(3)
    const made = projection()
    const started = await made.start()
    expect(started).toMatchObject({ kind: 'started', plan: { notes: [{ code: 'DATA_APART' }] } })
    expect(made.status().partitions[0]?.apart).toMatchObject({ checkpoint: '40' })
    expect((await made.caughtUp({ deadlineMs: 15_000 })).kind).toBe('ready')
    await made.stop()
    await expectComplete()
    // It is made good: the life after it starts from the checkpoint.
    const next = projection()
    expect(await next.start()).toMatchObject({ kind: 'started', plan: { notes: [] } })
  })

  it('[RED-42] [CKP-51] a running projection is dirty within the lease instead of going on over the loss', async () => {
    append(20)
    await run()
    const copy = await copyOf(1)
    append(20)
    const made = projection()
    await made.start()
    await made.caughtUp({ deadlineMs: 15_000 })
    await copy.restore()
    expect(await made.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_CHANGED' } })
    await made.stop()
    expect(await run()).toBe('ready')
    await expectComplete()
  })

  it('[RED-42] [CKP-19] [CK-46] a shard that was emptied: DATA_TWIN, and nothing is written', async () => {
    append(20)
    await run()
    await admins[1]!.flushall()
    append(2)
    expect(await run()).toBe('DATA_TWIN')
    expect(await admins[1]!.dbsize()).toBe(0)
  })

  it('[RED-42] [A13] a replay that ends anywhere, and a shard that falls back again: the data is complete in the end', async () => {
    append(12)
    await run()
    const copy = await copyOf(1)
    append(12)
    await run()
    await copy.restore()
    const positions: (string | undefined)[] = []
    for (let steps = 0; steps < 16; steps += 1) {
      const made = projection(mortal(steps % 5), 1)
      expect((await made.start()).kind).toBe('started')
      positions.push(made.status().partitions[0]?.apart?.data)
      await made.caughtUp({ deadlineMs: 10_000 })
      expect(made.status().dirty?.code ?? 'ready').toMatch(/^(STORE_FAILED|ready)$/)
      await made.stop()
      if (steps === 7) await copy.restore()
    }
    // It went on from where the life before had come to, fell back once, and was made good.
    const [first, ...others] = positions
    expect(others[0]).toBe(first)
    expect(BigInt(others[4]!)).toBeGreaterThan(BigInt(first!))
    expect(others[7]).toBe(first)
    expect(await run()).toBe('ready')
    await expectComplete()
  })

  it(
    '[RED-42] [A13] a primary dies whose replica had been away: what was lost is written again',
    { timeout: 90_000 },
    async () => {
      append(10)
      await run()
      // What it has by now is on its disk, and it gets no more.
      const replica = cluster.nodes[4]!
      const sizes = async () => [await admins[4]!.dbsize(), await admins[1]!.dbsize()]
      await expect.poll(async () => new Set(await sizes()).size, { timeout: 20_000 }).toBe(1)
      await replica.stop()
      append(20)
      const made = projection()
      await made.start()
      expect((await made.caughtUp({ deadlineMs: 15_000 })).kind).toBe('ready')
      await cluster.nodes[1]!.kill()
      await replica.restart()
      // It notices at a step or at the lease; what it may not do is stay ready over the loss.
      expect((await made.ended()).kind).toBe('dirty')
      await made.stop()
      const promoted = () => ownerOf(dataKeyOf(1)).catch(() => 'nobody')
      await expect.poll(promoted, { timeout: 40_000 }).toBe(4)
      // The other nodes learn of it one after the other.
      const count = () =>
        missingRecords().then(
          ({ length }) => length,
          () => 'not served yet',
        )
      await expect.poll(count, { timeout: 20_000 }).toBeTypeOf('number')
      const lost = await missingRecords()
      expect([lost.length > 0, lost.some((record) => Number(record.slice(1)) < 10)]).toEqual([true, false])
      await cluster.nodes[1]!.restart()
      await cluster.ready()
      append(5)
      expect(await run()).toBe('ready')
      await expectComplete()
    },
  )
})

/** A data key in a shard. */
function dataKeyOf(shard: number): string {
  for (let n = 0; ; n += 1) if (shardOf(dataKey(`x${n}`)) === shard) return dataKey(`x${n}`)
}
