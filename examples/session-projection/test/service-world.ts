import { randomBytes } from 'node:crypto'
import type { ProjectedDataReader } from '@tidemark/checkpoint'
import type { CommittedLog } from '@tidemark/log'
import { createSafeRedis } from '@tidemark/redis/checkpoint'
import { sharedKafkaBrokers, sharedRedisUrl } from '@tidemark/testkit/service'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import type { DispatchMessage } from '../src/backend/dispatch-writer.ts'
import { openSessionBackend } from '../src/backend/open-session-backend.ts'
import { createTopic } from '../src/backend/topic-admin.ts'
import { removeRedisKeys } from '../src/demo/remove-redis-keys.ts'
import type { KafkaPlace } from '../src/settings/place-settings.ts'
import type { ProjectorSettings } from '../src/settings/projector-settings.ts'
import { argumentsOf, testSettings } from './test-settings.ts'

/** A topic, a namespace and a data prefix of one test on the shared real services. */
export interface ServiceWorld {
  readonly place: KafkaPlace
  readonly settings: ProjectorSettings
  /** Arguments that give a projector process these settings. */
  readonly args: readonly string[]
  /** A log and a reader of the test's own. */
  readonly log: CommittedLog
  readonly data: ProjectedDataReader
  /** Writes one transaction. */
  write(messages: readonly DispatchMessage[], ending?: 'commit' | 'abort'): Promise<void>
  /** One hash of the namespace as it is stored. */
  hash(key: string): Promise<Readonly<Record<string, string>>>
  /** Every key of this world. */
  keys(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Makes a world; the topic exists and is empty. */
export async function createServiceWorld(
  changes: Partial<ProjectorSettings> & { readonly form?: 'atomic' | 'two-step'; readonly partitions?: number } = {},
): Promise<ServiceWorld> {
  const { form = 'atomic', partitions = 1, ...others } = changes
  const [brokers, url] = await Promise.all([sharedKafkaBrokers(), sharedRedisUrl()])
  const id = randomBytes(5).toString('hex')
  const place: KafkaPlace = { kind: 'kafka', brokers, security: {}, client: 'official' }
  const names = { topic: `sessions-${id}`, namespace: `ns_${id}`, dataPrefix: `d-${id}:` }
  const settings = testSettings({ log: place, store: { kind: 'redis', url, form }, ...names, ...others })
  await createTopic(place, settings.topic, partitions)
  const backend = await openSessionBackend(settings)
  const redis = createSafeRedis(url).newClient()
  await redis.connect()
  const writer = await openDispatchWriter({ place, topic: settings.topic, deadlineMs: 30_000 })
  const prefixes = [`${settings.namespace}:`, settings.dataPrefix]
  return {
    place,
    settings,
    args: argumentsOf(settings),
    log: backend.log,
    data: backend.data,
    write: (messages, ending = 'commit') => writer.write(messages, ending),
    hash: (key) => redis.hgetall(`${settings.namespace}:${key}`),
    async keys() {
      const found = await Promise.all(prefixes.map((prefix) => redis.keys(`${prefix}*`)))
      return found.flat().sort()
    },
    async close() {
      redis.disconnect()
      await Promise.all([writer.close(), backend.log.close(), backend.store.close(), backend.close()])
      await removeRedisKeys(url, prefixes)
    },
  }
}
