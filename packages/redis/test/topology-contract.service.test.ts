import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CommutingWriter, IdempotentWriter, ProjectionStore, WriteBuffer } from '@tidemark/checkpoint'
import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import type { ProjectionStoreWorld, RegisteredCases, StoreCapability, StoreSides } from '@tidemark/testkit/contract'
import { startRedis, startRedisCluster, startRedisFailover } from '@tidemark/testkit/service'
import type { RedisCluster, RedisFailover, RedisServer } from '@tidemark/testkit/service'
import {
  createRedisClusterProjectionStore,
  createRedisDataReader,
  createRedisProjectionStore,
  createRedisSplitProjectionStore,
  createSafeRedis,
  createSafeRedisCluster,
  createSafeRedisSentinel,
  partitionTag,
} from '@tidemark/redis/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import { keySlot } from '../src/connection/key-slot.ts'
import { clusterKeysOf, readPlainly, redisCapabilities, redisDamage, setField, setText } from './contract-hands.ts'
import type { StorePlace } from './contract-hands.ts'
import { adminClient, fingerprint, freshNamespace, identity, keysOf } from './redis-fixture.ts'

type Store = ProjectionStore<CommutingWriter>

/** Everything is on disk before it is confirmed, so that a restart keeps it. */
const config = { appendonly: 'yes', appendfsync: 'always' }
const dataPrefix = 'data:'
const commandDeadlineMs = 3_000

function register(
  subject: string,
  make: () => Promise<ProjectionStoreWorld>,
  lacks: Partial<Record<StoreCapability, boolean>>,
): RegisteredCases {
  return registerCases(projectionStoreCases, make, {
    describe,
    it,
    subject,
    capabilities: { ...redisCapabilities, ...lacks },
  })
}

async function restartServer(server: RedisServer, empty: boolean): Promise<void> {
  if (empty) {
    const admin = await adminClient(server.url)
    await admin.flushall()
    admin.disconnect()
  }
  await server.restart({ wipeData: empty })
}

/** Stores and readers that a world opened, closed with it. */
function openings(): { keep<T extends { close(): Promise<void> }>(opened: T): T; close(): Promise<void> } {
  const kept: { close(): Promise<void> }[] = []
  return {
    keep(opened) {
      kept.push(opened)
      return opened
    },
    close: async () => void (await Promise.all(kept.map((each) => each.close()))),
  }
}

const sides = ['data', 'checkpoints'] as const
let split: Record<(typeof sides)[number], RedisServer>
let cluster: RedisCluster
let failover: RedisFailover
beforeAll(async () => {
  const [data, checkpoints] = await Promise.all(sides.map(() => startRedis({ config })))
  split = { data: data!, checkpoints: checkpoints! }
  cluster = await startRedisCluster({ config })
  // A restarted primary is to come back as itself here; what a failover does is shown elsewhere.
  failover = await startRedisFailover({ config, downAfterMs: 60_000 })
}, 60_000)
afterAll(async () => {
  await Promise.all([split?.data.close(), split?.checkpoints.close(), cluster?.close(), failover?.close()])
})

async function splitWorld(damaged: 'both' | 'checkpoints'): Promise<ProjectionStoreWorld> {
  for (const side of sides) if (split[side].state() !== 'running') await split[side].restart()
  const data = await adminClient(split.data.url)
  const checkpoints = await adminClient(split.checkpoints.url)
  await Promise.all([data.flushall(), checkpoints.flushall()])
  const namespace = freshNamespace()
  const own: StorePlace = { keysOf: (partition) => keysOf(namespace, partition), clientOf: () => checkpoints }
  const twin: StorePlace = { keysOf: (partition) => keysOf(`${namespace}:twin`, partition), clientOf: () => data }
  const { keep, close } = openings()
  const reader = keep(createRedisDataReader({ redis: createSafeRedis(split.data.url), dataPrefix }))
  const hands: StoreSides = {
    setDataPosition: (_topic, partition, text) =>
      setField('next_offset', text)(data, twin.keysOf(partition).checkpoint),
    setDataFence: (_topic, partition, text) => setText(text)(data, twin.keysOf(partition).fence),
    restart: (side, { empty }) => restartServer(split[side], empty),
  }
  return {
    openStore: async () => {
      const source = (side: (typeof sides)[number]) => createSafeRedis(split[side].url, { commandDeadlineMs })
      const servers = { data: source('data'), checkpoints: source('checkpoints') }
      return keep(createRedisSplitProjectionStore({ ...servers, namespace, dataPrefix }))
    },
    readData: (keys) => reader.readValues(keys),
    damage: redisDamage({
      positions: [own, twin],
      struck: damaged === 'both' ? [own, twin] : [own],
      data: twin,
      dataKey: (key) => dataPrefix + key,
    }),
    sides: hands,
    fingerprint: async () => (await Promise.all([data, checkpoints].map((each) => fingerprint(each)))).join('\n---\n'),
    async restart({ empty }) {
      await Promise.all(sides.map((side) => restartServer(split[side], empty)))
    },
    async expireCheckpoint(_topic, partition) {
      const key = own.keysOf(partition).checkpoint
      await checkpoints.expire(key, 3_600)
      return key
    },
    readQuarantine: (_topic, partition) => data.hvals(twin.keysOf(partition).quarantine),
    async close() {
      await close()
      for (const each of [data, checkpoints]) each.disconnect()
    },
  }
}

async function clusterWorld(form: RedisStepForm): Promise<ProjectionStoreWorld> {
  const admins = await Promise.all(cluster.nodes.map(({ url }) => adminClient(url)))
  await Promise.all(admins.map((admin) => admin.flushall()))
  const namespace = freshNamespace()
  const place: StorePlace = {
    keysOf: (partition) => clusterKeysOf(namespace, partition),
    clientOf(key) {
      const slot = keySlot(key)
      return admins.findLast((_, index) => cluster.firstSlot(index) <= slot)!
    },
  }
  // The atomic form wants data in the slot of its partition; the cases that write data write it for partition 0.
  const tag = form === 'atomic' ? partitionTag(namespace, identity.topic, 0) : ''
  const dataKey = (key: string): string => dataPrefix + tag + key
  const { keep, close } = openings()
  return {
    openStore: async () => {
      const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
      const shared = { cluster: createSafeRedisCluster({ nodes, commandDeadlineMs }), namespace, dataPrefix }
      return form === 'atomic'
        ? withTaggedKeys(keep(createRedisClusterProjectionStore({ ...shared, form: 'atomic' })), tag)
        : keep(createRedisClusterProjectionStore({ ...shared, form: 'two-step' }))
    },
    readData: (keys) => readPlainly(place, keys.map(dataKey)),
    damage: redisDamage({ positions: [place], struck: [place], data: place, dataKey }),
    fingerprint: async () => (await Promise.all(admins.map((admin) => fingerprint(admin)))).join('\n---\n'),
    async restart({ empty }) {
      // The files that say who is in the cluster stay, so an empty one is emptied instead.
      if (empty) await Promise.all(admins.map((admin) => admin.flushall()))
      await Promise.all(cluster.nodes.map((node) => node.restart()))
      await cluster.ready()
    },
    async expireCheckpoint(_topic, partition) {
      const key = place.keysOf(partition).checkpoint
      await place.clientOf(key).expire(key, 3_600)
      return key
    },
    async readQuarantine(_topic, partition) {
      const key = place.keysOf(partition).quarantine
      return place.clientOf(key).hvals(key)
    },
    async close() {
      await close()
      for (const admin of admins) admin.disconnect()
    },
  }
}

/** The store as a projection function uses it that puts a tag in front of every data key. */
function withTaggedKeys(store: ProjectionStore<IdempotentWriter>, tag: string): Store {
  const buffers = new WeakMap<object, WriteBuffer<IdempotentWriter>>()
  // A key that is none must stay one.
  const tagged = (key: string): string => (key === '' ? '' : tag + key)
  return {
    name: store.name,
    namespace: store.namespace,
    dataPrefix: store.dataPrefix,
    writesCommute: store.writesCommute,
    writeModel: store.writeModel,
    stepLimits: store.stepLimits,
    newWrites() {
      const inner = store.newWrites()
      const { writer } = inner
      const tagging: IdempotentWriter = {
        zadd: (key, ...rest) => writer.zadd(tagged(key), ...rest),
        zrem: (key, ...rest) => writer.zrem(tagged(key), ...rest),
        sadd: (key, ...rest) => writer.sadd(tagged(key), ...rest),
        srem: (key, ...rest) => writer.srem(tagged(key), ...rest),
        hset: (key, ...rest) => writer.hset(tagged(key), ...rest),
        hdel: (key, ...rest) => writer.hdel(tagged(key), ...rest),
        set: (key, ...rest) => writer.set(tagged(key), ...rest),
        setIfGreater: (key, ...rest) => writer.setIfGreater(tagged(key), ...rest),
        del: (key) => writer.del(tagged(key)),
      }
      const buffer: WriteBuffer<IdempotentWriter> = {
        writer: tagging,
        get writeCount() {
          return inner.writeCount
        },
        get byteCount() {
          return inner.byteCount
        },
        mark: () => inner.mark(),
        rewind: (mark) => inner.rewind(mark),
      }
      buffers.set(buffer, inner)
      return buffer
    },
    read: (request) => store.read(request),
    claim: (request) => store.claim(request),
    bootstrap: (request) => store.bootstrap(request),
    advance: (request) => store.advance({ ...request, writes: buffers.get(request.writes)! }),
    close: () => store.close(),
  }
}

async function sentinelWorld(): Promise<ProjectionStoreWorld> {
  const { primary, sentinel, primaryName } = failover
  if (primary.state() !== 'running') await primary.restart()
  const admin = await adminClient(primary.url)
  await admin.flushall()
  const namespace = freshNamespace()
  const place: StorePlace = { keysOf: (partition) => keysOf(namespace, partition), clientOf: () => admin }
  const { host, port } = sentinel
  const source = () => createSafeRedisSentinel({ sentinels: [{ host, port }], name: primaryName, commandDeadlineMs })
  const { keep, close } = openings()
  const reader = keep(createRedisDataReader({ redis: source(), dataPrefix }))
  return {
    openStore: async () => keep(createRedisProjectionStore({ redis: source(), namespace, dataPrefix, form: 'atomic' })),
    readData: (keys) => reader.readValues(keys),
    damage: redisDamage({ positions: [place], struck: [place], data: place, dataKey: (key) => dataPrefix + key }),
    fingerprint: () => fingerprint(admin),
    restart: ({ empty }) => restartServer(primary, empty),
    async expireCheckpoint(_topic, partition) {
      const key = place.keysOf(partition).checkpoint
      await admin.expire(key, 3_600)
      return key
    },
    readQuarantine: (_topic, partition) => admin.hvals(place.keysOf(partition).quarantine),
    async close() {
      await close()
      admin.disconnect()
    },
  }
}

const apart = { 'data-apart': true, 'whole-bootstrap': false, 'one-process': false } as const
const spread = { 'whole-bootstrap': false, 'fenced-meta': false } as const
const registered = {
  split: register('redis on two servers, damage to both', () => splitWorld('both'), apart),
  // Where only the checkpoints are damaged, the data has been written before anything is noticed.
  late: register('redis on two servers, damage to the checkpoints', () => splitWorld('checkpoints'), {
    ...apart,
    'fenced-writes': false,
    'fenced-meta': false,
  }),
  // A script reaches one slot: neither meta nor a key of another partition lies in it.
  atomic: register('redis cluster atomic', () => clusterWorld('atomic'), { ...spread, 'shared-keys': false }),
  twoStep: register('redis cluster two-step', () => clusterWorld('two-step'), {
    ...spread,
    'full-vocabulary': false,
    'fenced-writes': false,
  }),
  sentinel: register('redis atomic behind a sentinel', sentinelWorld, {}),
}

describe('what a topology cannot have', () => {
  it('[RED-41] is exactly this, by the names of the laws', () => {
    const lacking = (topology: keyof typeof registered) =>
      registered[topology].notApplicable
        .map(({ id }) => id)
        .filter((id) => !id.startsWith('PST-8'))
        .sort()
    const never = ['PST-61']
    expect(lacking('sentinel')).toEqual(never)
    const bootstrap = ['PST-16', 'PST-17', 'PST-20']
    expect(lacking('split')).toEqual([...bootstrap, 'PST-49', ...never])
    const unfenced = ['PST-31', 'PST-34', 'PST-35', 'PST-39', 'PST-63', 'PST-65', 'PST-66']
    expect(lacking('late')).toEqual([...bootstrap, 'PST-49', ...never, ...unfenced].sort())
    expect(lacking('atomic')).toEqual([...bootstrap, 'PST-35', 'PST-47', 'PST-66', ...never].sort())
    expect(lacking('twoStep')).toEqual([...bootstrap, 'PST-71', 'PST-75', ...never, ...unfenced].sort())
  })
})
