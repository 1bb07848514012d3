import { afterAll, beforeAll, describe, it } from 'vitest'
import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import type { ProjectionStoreWorld } from '@tidemark/testkit/contract'
import { startRedis } from '@tidemark/testkit/service'
import type { RedisServer } from '@tidemark/testkit/service'
import { createRedisDataReader, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import { redisCapabilities, redisDamage } from './contract-hands.ts'
import type { StorePlace } from './contract-hands.ts'
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
  const place: StorePlace = { keysOf: (partition) => keysOf(namespace, partition), clientOf: () => admin }
  const stores: { close(): Promise<void> }[] = []
  const reader = createRedisDataReader({ redis: createSafeRedis(server.url) })
  return {
    openStore: async () => {
      const store = openStore(server.url, form, namespace)
      stores.push(store)
      return store
    },
    readData: (keys) => reader.readValues(keys),
    damage: redisDamage({ positions: [place], struck: [place], data: place, dataKey: (key) => key }),
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

for (const form of ['atomic', 'two-step'] as const) {
  const isAtomic = form === 'atomic'
  registerCases(projectionStoreCases, () => makeWorld(form), {
    describe,
    it,
    subject: `redis ${form}`,
    capabilities: { ...redisCapabilities, 'full-vocabulary': isAtomic, 'fenced-writes': isAtomic },
  })
}
