import type { ConnectionOptions } from 'node:tls'
import { checkLimit } from '@tidemark/core'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { redisErrors } from '../errors.ts'
import { describeAddress, parseRedisUrl } from './redis-address.ts'
import type { RedisAddress } from './redis-address.ts'
import { unsafeOptions } from './unsafe-options.ts'

/** What a caller may say about its Redis. Everything else about the client is decided by the factory. */
export interface SafeRedisOptions {
  readonly host?: string
  readonly port?: number
  /** Of a Unix socket, instead of host and port. */
  readonly path?: string
  readonly username?: string
  readonly password?: string
  /** The logical database; verified on every connection. */
  readonly db?: number
  readonly tls?: boolean | ConnectionOptions
  readonly family?: number
  readonly connectionName?: string
  readonly keepAlive?: number
  readonly noDelay?: boolean
  /** The longest any call of a store may take, reconnecting included. Default 5,000. */
  readonly commandDeadlineMs?: number
  /** The longest a connection may take to open. Default: the smaller of 2,000 and the command deadline. */
  readonly connectTimeout?: number
  /** The client's class, where a program holds several copies of ioredis (5.4 and newer, or 6). */
  readonly client?: RedisClientClass
}

/** The constructor of ioredis's standalone client. */
export type RedisClientClass = new (options: RedisOptions) => Redis

/** Opens dedicated connections that never repeat, queue or redirect a command. */
export interface SafeRedisSource {
  /** Host and port or path, without credentials. */
  readonly address: string
  readonly database: number
  readonly commandDeadlineMs: number
  readonly connectTimeoutMs: number
  /** A client that has not connected yet; whoever takes it owns it. */
  newClient(): Redis
  /** Asks where the primary is, anew for every connection; absent where the address says it. */
  locate?(): Promise<SafeRedisSource>
  /** A text without the password in it; servers and proxies sometimes echo arguments. */
  redact(text: string): string
}

const callerOptions: ReadonlySet<string> = new Set([
  ...['host', 'port', 'path', 'username', 'password', 'db', 'tls', 'family', 'connectionName', 'keepAlive', 'noDelay'],
  ...['commandDeadlineMs', 'connectTimeout', 'client'],
])

/**
 * Safe connections to one Redis: dedicated, no offline queue, no resend, no reconnect behind the caller, a deadline on all.
 *
 * The client's defaults run a command twice when a connection breaks after the server ran it, and the obvious remedies
 * leave its promise pending for ever. Promises: RED-1, RED-2, RED-3.
 * @throws {TidemarkError} TM_REDIS_UNSAFE_OPTION naming the option and what to do; TM_REDIS_ADDRESS_INVALID.
 */
export function createSafeRedis(target: string | SafeRedisOptions, more: SafeRedisOptions = {}): SafeRedisSource {
  const options =
    typeof target === 'string' ? { ...parseRedisUrl(target), ...stated(more) } : { ...target, ...stated(more) }
  guardOptions(options)
  const commandDeadlineMs = checkLimit('commandDeadlineMs', options.commandDeadlineMs ?? 5_000, {
    min: 10,
    max: 600_000,
  })
  const connectTimeoutMs = checkLimit('connectTimeout', options.connectTimeout ?? Math.min(2_000, commandDeadlineMs), {
    min: 1,
    max: 600_000,
  })
  const database = databaseOption(options.db)
  const clientOptions = clientOptionsOf(options, database, commandDeadlineMs, connectTimeoutMs)
  const Client = options.client ?? Redis
  const { password } = options
  return {
    address: describeAddress(options as RedisAddress),
    database,
    commandDeadlineMs,
    connectTimeoutMs,
    newClient: () => new Client({ ...clientOptions }),
    redact(text) {
      const withoutArguments = text.replace(/, with args beginning with:.*$/s, '')
      return password === undefined || password === '' ? withoutArguments : withoutArguments.replaceAll(password, '***')
    },
  }
}

function stated<T extends object>(options: T): T {
  // The cast only drops keys whose value is undefined, which an optional property may lack.
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}

/** Refuses every option that is not the caller's to set, by name; plain JavaScript gets no help from the types. */
function guardOptions(options: object): void {
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || callerOptions.has(option)) continue
    const rule = Object.hasOwn(unsafeOptions, option) ? unsafeOptions[option] : undefined
    if (rule?.harmless.includes(value) === true) continue
    throw unsafe(
      option,
      rule?.reason ?? 'it is not an option of the safe factory',
      rule?.remedy ?? `use one of ${[...callerOptions].join(', ')}`,
    )
  }
}

/** Failing SELECTs do not stop the client, so a number that is none must not get that far. */
function databaseOption(db: number | undefined): number {
  if (db === undefined) return 0
  if (Number.isSafeInteger(db) && db >= 0 && db < 1_000_000) return db
  throw unsafe(
    'db',
    'it is not a whole number, and the client would go on in database 0',
    'pass the number of the database',
  )
}

/** The client's options: what the caller may say, then everything the factory decides, which wins. */
function clientOptionsOf(
  options: SafeRedisOptions,
  database: number,
  commandDeadlineMs: number,
  connectTimeoutMs: number,
): RedisOptions {
  const { host, port, path, username, password, tls, family, connectionName, keepAlive, noDelay } = options
  const tlsOptions = tls === true ? {} : tls === false ? undefined : tls
  const own = { host: host ?? '127.0.0.1', port: port ?? 6379, path, username, password, family, connectionName }
  return {
    ...(stated({ ...own, keepAlive, noDelay }) as RedisOptions),
    ...(tlsOptions === undefined ? {} : { tls: tlsOptions }),
    db: database,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    reconnectOnError: null,
    // The client's own check waits for a loading server; the store's probe reports it instead.
    enableReadyCheck: false,
    enableAutoPipelining: false,
    disableClientInfo: true,
    connectTimeout: connectTimeoutMs,
    // Behind the store's own deadline, for a socket that stays open and silent.
    commandTimeout: commandDeadlineMs,
    // One set of reply shapes for both major versions; version 5 knows no other.
    ...({ protocol: 2 } as object),
  }
}

function unsafe(option: string, reason: string, remedy: string): Error {
  return redisErrors.create('TM_REDIS_UNSAFE_OPTION', { option, reason, remedy })
}
