import { afterAll, beforeAll, describe, it } from 'vitest'
import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import type { ProjectionStoreWorld, StoreDamage } from '@tidemark/testkit/contract'
import { startRedis } from '@tidemark/testkit/service'
import type { RedisServer } from '@tidemark/testkit/service'
import { createRedisDataReader, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import type { Redis } from 'ioredis'
import { adminClient, fingerprint, freshNamespace, keysOf, openStore } from './redis-fixture.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
})
afterAll(async () => {
  await server?.close()
})

/** The whole server belongs to a case while it runs, so that a restart or a stray key cannot touch another. */
async function makeWorld(form: RedisStepForm): Promise<ProjectionStoreWorld> {
  if (server.state() !== 'running') await server.restart()
  const admin = await adminClient(server.url)
  await admin.flushall()
  const namespace = freshNamespace()
  const stores: { close(): Promise<void> }[] = []
  const reader = createRedisDataReader({ redis: createSafeRedis(server.url) })
  return {
    openStore: async () => {
      const store = openStore(server.url, form, namespace)
      stores.push(store)
      return store
    },
    readData: (keys) => reader.readValues(keys),
    damage: damage(admin, namespace),
    fingerprint: () => fingerprint(admin),
    async restart({ empty }) {
      if (empty) await admin.flushall()
      await server.restart({ wipeData: empty })
    },
    async expireCheckpoint(_topic, partition) {
      const key = keysOf(namespace, partition).checkpoint
      await admin.expire(key, 3_600)
      return key
    },
    readQuarantine: (_topic, partition) => admin.hvals(keysOf(namespace, partition).quarantine),
    async close() {
      await Promise.all([...stores, reader].map((each) => each.close()))
      admin.disconnect()
    },
  }
}

function damage(admin: Redis, namespace: string): StoreDamage {
  const setField = async (key: string, field: string, text: string | undefined): Promise<void> => {
    await (text === undefined ? admin.hdel(key, field) : admin.hset(key, field, text))
  }
  const setText = async (key: string, text: string | undefined): Promise<void> => {
    await (text === undefined ? admin.del(key) : admin.set(key, text))
  }
  return {
    setMetaField: (field, text) => setField(keysOf(namespace).meta, field, text),
    removeMeta: async () => void (await admin.del(keysOf(namespace).meta)),
    setCheckpointField: (_topic, partition, field, text) =>
      setField(keysOf(namespace, partition).checkpoint, field, text),
    removeCheckpoint: async (_topic, partition) => void (await admin.del(keysOf(namespace, partition).checkpoint)),
    setFence: (_topic, partition, text) => setText(keysOf(namespace, partition).fence, text),
    setWitness: (_topic, partition, text) => setText(keysOf(namespace, partition).witness, text),
    async putWrongKind(target) {
      const key = target === 'meta' ? keysOf(namespace).meta : keysOf(namespace, target.partition).checkpoint
      await admin.del(key)
      await admin.rpush(key, 'not a hash')
      return key
    },
    putString: async (key, text) => void (await admin.set(key, text)),
  }
}

for (const form of ['atomic', 'two-step'] as const) {
  const isAtomic = form === 'atomic'
  registerCases(projectionStoreCases, () => makeWorld(form), {
    describe,
    it,
    subject: `redis ${form}`,
    capabilities: {
      damage: true,
      fingerprint: true,
      restart: true,
      'empty-restart': true,
      'full-vocabulary': isAtomic,
      'fenced-writes': isAtomic,
      // Lua does not roll back: what cannot be checked beforehand may leave repeatable writes behind.
      rollback: false,
      expiry: true,
      'quarantine-reading': true,
      'whole-bootstrap': true,
      'fenced-meta': true,
      'shared-keys': true,
      'one-process': true,
      'data-apart': false,
    },
  })
}
