import { join } from 'node:path'
import type { KafkaSecurity } from '@tidemark/kafka'
import type { SettingReader, SettingSpec } from './setting-reader.ts'

/** A topic on Kafka, and the client that reads it; there is one way to write. */
export interface KafkaPlace {
  readonly kind: 'kafka'
  readonly brokers: readonly string[]
  readonly security: KafkaSecurity
  readonly client: 'official' | 'pinned'
}

/** A log in files. */
export interface EmbeddedLogPlace {
  readonly kind: 'embedded'
  readonly dataDir: string
}

/** Where the dispatch log is. */
export type LogPlace = KafkaPlace | EmbeddedLogPlace

/** A Redis server. */
export interface RedisPlace {
  readonly kind: 'redis'
  readonly url: string
  readonly form: 'atomic' | 'two-step'
}

/** A Postgres server. */
export interface PostgresPlace {
  readonly kind: 'postgres'
  readonly url: string
  readonly schema: string
}

/** An embedded Postgres. */
export interface PglitePlace {
  readonly kind: 'pglite'
  readonly directory: string
  readonly schema: string
}

/** A store in files. */
export interface EmbeddedStorePlace {
  readonly kind: 'embedded'
  readonly dataDir: string
}

/** Where sessions and checkpoints are kept. */
export type StorePlace = RedisPlace | PostgresPlace | PglitePlace | EmbeddedStorePlace

/** Settings of the log, shared by every program here. */
export const logSettingSpecs = {
  backend: { flag: 'backend', env: 'TIDEMARK_BACKEND', help: 'log: real (Kafka) or embedded (files); default real' },
  brokers: { flag: 'brokers', env: 'KAFKA_BROKERS', help: 'host:port[,host:port]' },
  kafkaClient: {
    flag: 'kafka-client',
    env: 'SESSION_KAFKA_CLIENT',
    help: 'who reads Kafka: official, or pinned to the topic id; default official',
  },
  tls: { flag: 'kafka-tls', env: 'KAFKA_TLS', help: 'on or off; default off' },
  saslMechanism: { flag: 'sasl-mechanism', env: 'KAFKA_SASL_MECHANISM', help: 'PLAIN, SCRAM-SHA-256, SCRAM-SHA-512' },
  saslUsername: { flag: 'sasl-username', env: 'KAFKA_SASL_USERNAME', help: 'who logs in to Kafka' },
  saslPassword: { env: 'KAFKA_SASL_PASSWORD', help: 'its password', secret: true },
  topic: { flag: 'topic', env: 'SESSION_TOPIC', help: 'the dispatch topic' },
  dataDir: {
    flag: 'data-dir',
    env: 'SESSION_DATA_DIR',
    help: 'folder of what is kept in files: log, PGlite, embedded store',
  },
} as const satisfies Record<string, SettingSpec>

/** Settings of the store. */
export const storeSettingSpecs = {
  store: {
    flag: 'store',
    env: 'SESSION_STORE',
    help: 'redis, postgres or pglite beside Kafka, default redis; pglite or embedded in files, default pglite',
  },
  redisUrl: { flag: 'redis-url', env: 'REDIS_URL', help: 'redis://user:password@host:port/database', secret: true },
  form: { flag: 'form', env: 'SESSION_FORM', help: 'atomic (one script a step) or two-step; Redis only' },
  postgresUrl: {
    flag: 'postgres-url',
    env: 'POSTGRES_URL',
    help: 'postgres://user:password@host:port/database[?sslmode=verify-full]',
    secret: true,
  },
  schema: { flag: 'schema', env: 'SESSION_SCHEMA', help: 'of the tables; Postgres and PGlite; default tidemark' },
  namespace: { flag: 'namespace', env: 'SESSION_NAMESPACE', help: 'prefix of the checkpoint keys' },
  dataPrefix: { flag: 'data-prefix', env: 'SESSION_DATA_PREFIX', help: 'prefix of the session keys; default none' },
} as const satisfies Record<string, SettingSpec>

const backends = ['real', 'embedded'] as const

/** Which stores go with which log: a server beside a server, files beside files, an embedded Postgres beside both. */
const storesBeside = {
  real: ['redis', 'postgres', 'pglite'],
  embedded: ['pglite', 'embedded'],
} as const

/** Reads where the log is. */
export function readLogPlace(read: SettingReader): LogPlace {
  if (read.choice('backend', backends, 'real') === 'embedded') {
    return { kind: 'embedded', dataDir: read.text('dataDir') }
  }
  const brokers = read
    .text('brokers')
    .split(',')
    .map((broker) => broker.trim())
  const client = read.choice('kafkaClient', ['official', 'pinned'], 'official')
  return { kind: 'kafka', brokers, security: readSecurity(read), client }
}

/** Reads where the store is. */
export function readStorePlace(read: SettingReader): StorePlace {
  const stores = storesBeside[read.choice('backend', backends, 'real')]
  switch (read.choice<StorePlace['kind']>('store', stores, stores[0])) {
    case 'redis':
      return { kind: 'redis', url: read.text('redisUrl'), form: read.choice('form', ['atomic', 'two-step']) }
    case 'postgres':
      return { kind: 'postgres', url: read.text('postgresUrl'), schema: readSchema(read) }
    case 'pglite':
      return { kind: 'pglite', directory: join(read.text('dataDir'), 'pglite'), schema: readSchema(read) }
    case 'embedded':
      return { kind: 'embedded', dataDir: read.text('dataDir') }
  }
}

function readSchema(read: SettingReader): string {
  return read.text('schema', 'tidemark')
}

function readSecurity(read: SettingReader): KafkaSecurity {
  const tls = read.choice('tls', ['on', 'off'], 'off') === 'on' ? { tls: true as const } : {}
  const [username, password] = [read.optionalText('saslUsername'), read.optionalText('saslPassword')]
  if (read.optionalText('saslMechanism') === undefined) {
    // Credentials that nothing uses would otherwise look as if they were in force.
    if (username !== undefined || password !== undefined) {
      read.problem(
        'KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is given without --sasl-mechanism (or KAFKA_SASL_MECHANISM)',
      )
    }
    return tls
  }
  const mechanism = read.choice('saslMechanism', ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])
  return { ...tls, sasl: { mechanism, username: read.text('saslUsername'), password: read.text('saslPassword') } }
}
