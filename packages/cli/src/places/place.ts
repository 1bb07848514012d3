import { resolve } from 'node:path'
import type { KafkaSecurity } from '@tidemark/kafka'
import { cliErrors } from '../errors.ts'
import { readKafkaSecurity } from './kafka-security.ts'
import type { Secrets } from './secrets.ts'

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
  | { readonly kind: 'redis'; readonly url: string; readonly password: string | undefined }
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

/** What was said about places: options of the command line, by their names. */
export interface PlaceOptions {
  readonly kafka?: string
  readonly kafkaClient?: string
  readonly embeddedLog?: string
  readonly redis?: string
  readonly postgres?: string
  readonly pglite?: string
  readonly embedded?: string
  readonly schema?: string
  readonly dataSchema?: string
}

/** What places are read from besides the options. */
export interface PlaceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly secrets: Secrets
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

/**
 * Where the store is, as the options say; `REDIS_URL` or `POSTGRES_URL` stands in where none does and only one is set.
 *
 * @throws {TidemarkError} TM_CLI_USAGE, TM_CLI_SECRET_ON_COMMAND_LINE
 */
export function readStorePlace(options: PlaceOptions, sources: PlaceSources): StorePlace {
  const named = (['redis', 'postgres', 'pglite', 'embedded'] as const).filter((kind) => options[kind] !== undefined)
  if (named.length > 1) throw usage(`${named.map((kind) => `--${kind}`).join(' and ')} name several stores; say one`)
  const kind = named[0] ?? storeInEnvironment(sources.env)
  const { schema, dataSchema } = options
  const schemas = { ...(schema === undefined ? {} : { schema }), ...(dataSchema === undefined ? {} : { dataSchema }) }
  if (Object.keys(schemas).length > 0 && (kind === 'redis' || kind === 'embedded')) {
    throw usage('--schema and --data-schema belong to --postgres or --pglite')
  }
  switch (kind) {
    case 'redis':
      return { kind, ...readServer(kind, options[kind], sources) }
    case 'postgres':
      return { kind, ...readServer(kind, options[kind], sources), schemas }
    case 'pglite':
      return { kind, directory: resolve(sources.cwd, options[kind]!), schemas }
    case 'embedded':
      return { kind, directory: resolve(sources.cwd, options[kind]!) }
  }
}

/** The environment variables that name a server and its password. */
export const serverVariables = {
  redis: { url: 'REDIS_URL', password: 'REDIS_PASSWORD' },
  postgres: { url: 'POSTGRES_URL', password: 'POSTGRES_PASSWORD' },
} as const

function storeInEnvironment(env: PlaceSources['env']): 'redis' | 'postgres' {
  const set = (['redis', 'postgres'] as const).filter((kind) => (env[serverVariables[kind].url] ?? '') !== '')
  if (set.length === 1) return set[0]!
  if (set.length > 1) throw usage('REDIS_URL and POSTGRES_URL are both set; name the store by --redis or --postgres')
  throw usage('no store is named: --redis URL (or REDIS_URL), --postgres URL (or POSTGRES_URL), --pglite or --embedded')
}

function readServer(
  kind: 'redis' | 'postgres',
  option: string | undefined,
  sources: PlaceSources,
): { readonly url: string; readonly password: string | undefined } {
  const variables = serverVariables[kind]
  const url = option ?? sources.env[variables.url]!
  const password = sources.env[variables.password]
  sources.secrets.add(password)
  const own = passwordOf(url)
  sources.secrets.add(own)
  if (option !== undefined && own !== undefined) {
    throw cliErrors.create('TM_CLI_SECRET_ON_COMMAND_LINE', { option: `--${kind}`, variable: variables.password })
  }
  return { url, password: password === '' ? undefined : password }
}

/** The password of a URL, decoded where it can be. */
function passwordOf(url: string): string | undefined {
  // What cannot be parsed may hold one all the same, and must not be printed with the complaint about it.
  if (!URL.canParse(url)) return /^[a-z+]+:\/\/[^/]*?:([^/]+)@/i.exec(url)?.[1]
  const parsed = new URL(url)
  if (parsed.password === '') return undefined
  try {
    return decodeURIComponent(parsed.password)
  } catch {
    return parsed.password
  }
}

function usage(reason: string): Error {
  return cliErrors.create('TM_CLI_USAGE', { reason })
}
