import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommittedLog } from '@tidemark/log'
import { ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import { sharedKafkaBrokers, sharedPostgresUrl, sharedRedisUrl } from '@tidemark/testkit/service'
import { openDispatchLog, openSessionStore } from '../src/backend/open-session-backend.ts'
import type { SessionStore } from '../src/backend/store/session-store.ts'
import { createTopic } from '../src/backend/topic-admin.ts'
import { removeRedisKeys } from '../src/demo/remove-redis-keys.ts'
import type { KafkaPlace, StorePlace } from '../src/settings/place-settings.ts'
import type { ProjectorSettings } from '../src/settings/projector-settings.ts'
import { testSettings } from './test-settings.ts'

/** The stores that the service offers beside Kafka. */
export const kafkaStores = ['redis atomic', 'redis two-step', 'postgres', 'pglite'] as const

/** One client of the log with one store. */
export interface KafkaPair {
  readonly client: KafkaPlace['client']
  readonly store: (typeof kafkaStores)[number]
}

/** A topic and a place in a store, of one test, for one pair. */
export interface PairWorld {
  readonly settings: ProjectorSettings
  readonly place: KafkaPlace
  /** A log of the test's own. */
  readonly log: CommittedLog
  /** A store of the test's own; closed after every look, since one in files has one holder at a time. */
  openStore(): Promise<SessionStore>
  close(): Promise<void>
}

interface MadeStore {
  readonly place: StorePlace
  remove(): Promise<void>
}

/** Makes a world on the shared services; the topic exists and is empty. */
export async function createPairWorld(
  pair: KafkaPair,
  changes: Partial<ProjectorSettings> & { readonly partitions: number },
): Promise<PairWorld> {
  const { partitions, ...others } = changes
  const id = randomBytes(5).toString('hex')
  const names = { topic: `sessions-${id}`, namespace: `ns_${id}`, dataPrefix: `d-${id}:` }
  const place: KafkaPlace = { kind: 'kafka', brokers: await sharedKafkaBrokers(), security: {}, client: pair.client }
  const made = await makeStore(pair.store, id, [`${names.namespace}:`, names.dataPrefix])
  const settings = testSettings({ log: place, store: made.place, ...names, ...others })
  await createTopic(place, settings.topic, partitions)
  const log = await openDispatchLog(place)
  return {
    settings,
    place,
    log,
    openStore: () => openSessionStore(settings.store, settings),
    async close() {
      await log.close()
      await made.remove()
    },
  }
}

async function makeStore(store: KafkaPair['store'], id: string, prefixes: readonly string[]): Promise<MadeStore> {
  switch (store) {
    case 'redis atomic':
    case 'redis two-step': {
      const url = await sharedRedisUrl()
      const form = store === 'redis atomic' ? 'atomic' : 'two-step'
      return { place: { kind: 'redis', url, form }, remove: () => removeRedisKeys(url, prefixes) }
    }
    case 'postgres':
      return makeSchema(await sharedPostgresUrl(), `sessions_${id}`)
    case 'pglite': {
      const dataDir = mkdtempSync(join(tmpdir(), 'session-pair-'))
      const place: StorePlace = { kind: 'pglite', directory: join(dataDir, 'pglite'), schema: 'tidemark' }
      return { place, remove: async () => rmSync(dataDir, { recursive: true, force: true }) }
    }
  }
}

async function makeSchema(url: string, schema: string): Promise<MadeStore> {
  const database = connectPostgres(url, { deadlineMs: 30_000 })
  await ensurePostgresTables({ database, schema })
  return {
    place: { kind: 'postgres', url, schema },
    async remove() {
      const connection = await database.acquire()
      await connection.query({ text: `DROP SCHEMA "${schema}" CASCADE`, values: [] })
      connection.release()
      await database.close()
    },
  }
}
