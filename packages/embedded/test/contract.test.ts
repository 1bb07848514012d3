import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { checkpointKey, metaKey, namespaceOf } from '@tidemark/checkpoint'
import type { CommutingWriter, ProjectionStore, ProjectionWrite } from '@tidemark/checkpoint'
import { readMemoryValue, sideKeys } from '@tidemark/checkpoint/memory'
import { createEmbeddedLog, createEmbeddedProducer } from '@tidemark/embedded'
import { createEmbeddedDataReader, createEmbeddedProjectionStore, createEmbeddedStorage } from '@tidemark/embedded'
import type { EmbeddedStorage } from '@tidemark/embedded'
import { committedLogCases, projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import type { CommittedLogWorld, ProjectionStoreWorld, StoreDamage, WorldRecord } from '@tidemark/testkit/contract'
import type { CommittedLog } from '@tidemark/log'
import { offsetOf } from '@tidemark/core'
import { temporaryDirectory } from './temporary-directory.ts'

const namespace = namespaceOf('contract')

async function storeWorld(): Promise<ProjectionStoreWorld> {
  const directory = temporaryDirectory()
  const open = (): Promise<EmbeddedStorage> => createEmbeddedStorage({ directory, durability: 'server' })
  let storage = await open()
  return {
    async openStore() {
      return createEmbeddedProjectionStore({ storage, namespace }) as ProjectionStore<CommutingWriter>
    },
    readData: (keys) => createEmbeddedDataReader({ storage }).readValues(keys),
    damage: damageTo(() => storage),
    async fingerprint() {
      const entries = [...storage.data.values].sort(([a], [b]) => (a < b ? -1 : 1))
      return JSON.stringify(entries, (_, value: unknown) =>
        value instanceof Map || value instanceof Set ? [...value].map((each) => JSON.stringify(each)).sort() : value,
      )
    },
    async restart({ empty }) {
      await storage.close()
      if (empty) for (const name of readdirSync(directory)) rmSync(join(directory, name))
      storage = await open()
    },
    async readQuarantine(topic, partition) {
      const value = readMemoryValue(storage.data, sideKeys(namespace, topic).quarantine(partition))
      return value.kind === 'hash' ? [...value.fields.values()] : []
    },
    close: () => storage.close(),
  }
}

/** Damage goes through the journal like any step, so that it is as durable as what it damages. */
function damageTo(storage: () => EmbeddedStorage): StoreDamage {
  const put = (...writes: readonly ProjectionWrite[]): Promise<void> =>
    storage().step(() => ({ outcome: undefined, writes }))
  const field = (key: string, name: string, text: string | undefined): Promise<void> =>
    text === undefined ? put({ op: 'hdel', key, field: name }) : put({ op: 'hset', key, field: name, value: text })
  const string = (key: string, text: string | undefined): Promise<void> =>
    text === undefined ? put({ op: 'del', key }) : put({ op: 'set', key, value: text })
  return {
    setMetaField: (name, text) => field(metaKey(namespace), name, text),
    removeMeta: () => put({ op: 'del', key: metaKey(namespace) }),
    setCheckpointField: (topic, partition, name, text) => field(checkpointKey(namespace, topic, partition), name, text),
    removeCheckpoint: (topic, partition) => put({ op: 'del', key: checkpointKey(namespace, topic, partition) }),
    setFence: (topic, partition, text) => string(sideKeys(namespace, topic).fence(partition), text),
    setWitness: (topic, partition, text) => string(sideKeys(namespace, topic).witness(partition), text),
    async putWrongKind(target) {
      const key = target === 'meta' ? metaKey(namespace) : checkpointKey(namespace, target.topic, target.partition)
      await put({ op: 'set', key, value: 'not a hash' })
      return key
    },
    putString: (key, text) => put({ op: 'set', key, value: text }),
  }
}

registerCases(projectionStoreCases, storeWorld, {
  describe,
  it,
  subject: 'the embedded projection store',
  capabilities: {
    damage: true,
    fingerprint: true,
    restart: true,
    'empty-restart': true,
    'full-vocabulary': true,
    'fenced-writes': true,
    rollback: true,
    // Nothing expires in files.
    expiry: false,
    'quarantine-reading': true,
    'whole-bootstrap': true,
    'fenced-meta': true,
    'shared-keys': true,
    'one-process': true,
    'data-apart': false,
  },
})

function bytes(part: Uint8Array | string | null | undefined): Uint8Array | null {
  return typeof part === 'string' ? Buffer.from(part) : (part ?? null)
}

async function logWorld(): Promise<CommittedLogWorld> {
  const directory = temporaryDirectory()
  const topic = 'contract'
  const producer = await createEmbeddedProducer({ directory, durability: 'server', segmentBytesMax: 1024 })
  await producer.createTopic(topic, { partitionCount: 2 })
  const logs: CommittedLog[] = []
  const plain = (partition: number, records: readonly WorldRecord[]) =>
    records.map(({ key, value, timestampMs = 1, headers = [] }) => {
      return { partition, key: bytes(key), value: bytes(value), timestampMs, headers }
    })
  return {
    topic,
    deadlineMs: 5_000,
    slackMs: 2_000,
    async openLog() {
      const log = createEmbeddedLog({ directory, pollIntervalMs: 2 })
      logs.push(log)
      return log
    },
    append: async (partition, records) => void (await producer.append(topic, plain(partition, records))),
    async begin(partition, records) {
      const transaction = producer.beginTransaction()
      await transaction.append(topic, plain(partition, records))
      return transaction
    },
    deleteRecordsBefore: (partition, low) => producer.deleteRecordsBefore(topic, partition, offsetOf(low)),
    recreate: async () => void (await producer.recreateTopic(topic)),
    truncate: (partition, end) => producer.truncate(topic, partition, offsetOf(end)),
    async close() {
      for (const log of logs) await log.close()
      await producer.close()
    },
  }
}

registerCases(committedLogCases, logWorld, {
  describe,
  it,
  subject: 'the embedded log',
  capabilities: {
    transactions: true,
    retention: true,
    recreation: true,
    truncation: true,
    // `compact` is reported, never performed.
    compaction: false,
    headers: true,
    'pinned-identity': true,
  },
})
