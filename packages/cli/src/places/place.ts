import { resolve } from 'node:path'
import type { KafkaSecurity } from '@tidemark/kafka'
import { cliErrors } from '../errors.ts'
import { readKafkaSecurity } from './kafka-security.ts'
import type { PlaceOptions, PlaceSources } from './place-sources.ts'
import { readRedisPlace } from './redis-place.ts'
import type { RedisPlace } from './redis-place.ts'
import { readServer, serverVariables } from './server-address.ts'

/** Where the log is. */
export type LogPlace =
  | {
      readonly kind: 'kafka'
      readonly brokers: readonly string[]
      readonly client: 'official' | 'pinned'
      readonly security: KafkaSecurity
    }
  | { readonly kind: 'embedded'; readonly directory: string }

/** Where the store is. */
export type StorePlace =
  | RedisPlace
  | {
      readonly kind: 'postgres'
      readonly url: string
      readonly password: string | undefined
      readonly schemas: Schemas
    }
  | { readonly kind: 'pglite'; readonly directory: string; readonly schemas: Schemas }
  | { readonly kind: 'embedded'; readonly directory: string }

/** In which schemas the tables of a Postgres store are; the store's own default unless said. */
export interface Schemas {
  readonly schema?: string
  readonly dataSchema?: string
}

/**
 * Where the log is, as the options say; `KAFKA_BROKERS` stands in where none does.
 *
 * @throws {TidemarkError} TM_CLI_USAGE, TM_CLI_FILE_UNREADABLE
 */
export function readLogPlace(options: PlaceOptions, sources: PlaceSources): LogPlace {
  const { kafka, embeddedLog } = options
  if (kafka !== undefined && embeddedLog !== undefined) {
    throw usage('--kafka and --embedded-log name two logs; say one')
  }
  if (embeddedLog !== undefined) return { kind: 'embedded', directory: resolve(sources.cwd, embeddedLog) }
  const brokers = kafka ?? sources.env['KAFKA_BROKERS'] ?? ''
  if (brokers === '') throw usage('no log is named: --kafka host:port[,host:port] (or KAFKA_BROKERS) or --embedded-log')
  const client = options.kafkaClient ?? 'official'
  if (client !== 'official' && client !== 'pinned') throw usage(`--kafka-client is "${client}", not official or pinned`)
  const security = readKafkaSecurity(sources.env, sources.cwd, sources.secrets)
  return { kind: 'kafka', brokers: brokers.split(',').map((broker) => broker.trim()), client, security }
}

/** Every kind of store, the options that name it, and the variables that stand in for them. */
const storeKinds = [
  { kind: 'redis', options: ['redis'] },
  { kind: 'redis-cluster', options: ['redisCluster'] },
  { kind: 'redis-sentinel', options: ['redisSentinel'] },
  { kind: 'redis-split', options: ['redisData', 'redisCheckpoints'] },
  { kind: 'postgres', options: ['postgres'] },
  { kind: 'pglite', options: ['pglite'] },
  { kind: 'embedded', options: ['embedded'] },
] as const

type StoreKind = (typeof storeKinds)[number]['kind']

/**
 * Where the store is, as the options say; a variable such as `REDIS_URL` or `POSTGRES_URL` stands in where none does and the
 * variables of only one kind are set.
 *
 * @throws {TidemarkError} TM_CLI_USAGE, TM_CLI_SECRET_ON_COMMAND_LINE
 */
export function readStorePlace(options: PlaceOptions, sources: PlaceSources): StorePlace {
  const named = storeKinds.filter((each) => each.options.some((name) => options[name] !== undefined))
  if (named.length > 1) {
    const flags = named.flatMap((each) => each.options.filter((name) => options[name] !== undefined).map(flagOf))
    throw usage(`${flags.join(' and ')} name several stores; say one`)
  }
  const kind = named[0]?.kind ?? storeInEnvironment(sources.env)
  const { schema, dataSchema } = options
  const schemas = { ...(schema === undefined ? {} : { schema }), ...(dataSchema === undefined ? {} : { dataSchema }) }
  if (Object.keys(schemas).length > 0 && kind !== 'postgres' && kind !== 'pglite') {
    throw usage('--schema and --data-schema belong to --postgres or --pglite')
  }
  switch (kind) {
    case 'postgres': {
      const { url, password } = readServer('postgres', options.postgres, sources)
      return { kind, url, password, schemas }
    }
    case 'pglite':
      return { kind, directory: resolve(sources.cwd, options[kind]!), schemas }
    case 'embedded':
      return { kind, directory: resolve(sources.cwd, options[kind]!) }
    default:
      return readRedisPlace(kind, options, sources)
  }
}

type StoreOption = (typeof storeKinds)[number]['options'][number]

function flagOf(name: StoreOption): string {
  return name === 'pglite' || name === 'embedded' ? `--${name}` : serverVariables[name].flag
}

function storeInEnvironment(env: PlaceSources['env']): StoreKind {
  const set = storeKinds.flatMap(({ kind, options }) => {
    const variables = options.flatMap((name) =>
      name === 'pglite' || name === 'embedded' ? [] : [serverVariables[name].url],
    )
    const [variable] = variables.filter((each) => (env[each] ?? '') !== '')
    return variable === undefined ? [] : [{ kind, variable }]
  })
  if (set.length === 1) return set[0]!.kind
  const [first, second] = set
  if (first !== undefined && second !== undefined) {
    throw usage(`${first.variable} and ${second.variable} are both set; name the store by an option`)
  }
  throw usage(
    'no store is named: --redis URL (or REDIS_URL), --redis-cluster, --redis-sentinel, --redis-data with ' +
      '--redis-checkpoints, --postgres URL (or POSTGRES_URL), --pglite or --embedded',
  )
}

function usage(reason: string): Error {
  return cliErrors.create('TM_CLI_USAGE', { reason })
}
