import type { KafkaSecurity } from '@tidemark/kafka'
import type { SettingReader, SettingSpec } from './setting-reader.ts'

/** Where the dispatch log is. */
export type LogPlace =
  | { readonly kind: 'kafka'; readonly brokers: readonly string[]; readonly security: KafkaSecurity }
  | { readonly kind: 'embedded'; readonly dataDir: string }

/** Where sessions and checkpoints are kept. */
export type StorePlace =
  | { readonly kind: 'redis'; readonly url: string; readonly form: 'atomic' | 'two-step' }
  | { readonly kind: 'embedded'; readonly dataDir: string }

/** Settings of the log, shared by every program here. */
export const logSettingSpecs = {
  backend: { flag: 'backend', env: 'TIDEMARK_BACKEND', help: 'real (Kafka, Redis) or embedded (files); default real' },
  brokers: { flag: 'brokers', env: 'KAFKA_BROKERS', help: 'host:port[,host:port]' },
  tls: { flag: 'kafka-tls', env: 'KAFKA_TLS', help: 'on or off; default off' },
  saslMechanism: { flag: 'sasl-mechanism', env: 'KAFKA_SASL_MECHANISM', help: 'PLAIN, SCRAM-SHA-256, SCRAM-SHA-512' },
  saslUsername: { flag: 'sasl-username', env: 'KAFKA_SASL_USERNAME', help: 'who logs in to Kafka' },
  saslPassword: { env: 'KAFKA_SASL_PASSWORD', help: 'its password', secret: true },
  topic: { flag: 'topic', env: 'SESSION_TOPIC', help: 'the dispatch topic' },
  dataDir: { flag: 'data-dir', env: 'SESSION_DATA_DIR', help: 'folder of the embedded log and store' },
} as const satisfies Record<string, SettingSpec>

/** Settings of the store. */
export const storeSettingSpecs = {
  redisUrl: { flag: 'redis-url', env: 'REDIS_URL', help: 'redis://user:password@host:port/database', secret: true },
  form: { flag: 'form', env: 'SESSION_FORM', help: 'atomic (one script a step) or two-step; Redis only' },
  namespace: { flag: 'namespace', env: 'SESSION_NAMESPACE', help: 'prefix of the checkpoint keys' },
  dataPrefix: { flag: 'data-prefix', env: 'SESSION_DATA_PREFIX', help: 'prefix of the session keys; default none' },
} as const satisfies Record<string, SettingSpec>

const backends = ['real', 'embedded'] as const

/** Reads where the log is. */
export function readLogPlace(read: SettingReader): LogPlace {
  if (read.choice('backend', backends, 'real') === 'embedded') {
    return { kind: 'embedded', dataDir: read.text('dataDir') }
  }
  const brokers = read
    .text('brokers')
    .split(',')
    .map((broker) => broker.trim())
  return { kind: 'kafka', brokers, security: readSecurity(read) }
}

/** Reads where the store is. */
export function readStorePlace(read: SettingReader): StorePlace {
  if (read.choice('backend', backends, 'real') === 'embedded') {
    return { kind: 'embedded', dataDir: read.text('dataDir') }
  }
  return { kind: 'redis', url: read.text('redisUrl'), form: read.choice('form', ['atomic', 'two-step']) }
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
