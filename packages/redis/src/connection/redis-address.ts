import { redisErrors } from '../errors.ts'

/** Where a Redis is and how to log in; the parts of a URL. */
export interface RedisAddress {
  readonly host?: string
  readonly port?: number
  readonly path?: string
  readonly username?: string
  readonly password?: string
  readonly db?: number
  readonly tls?: boolean
}

/**
 * The address a URL stands for.
 *
 * Shape: `redis://user:password@host:port/database`, `rediss://` for TLS, or the path of a Unix socket. Query parameters
 * are refused: the client would read any of its options from them.
 * @throws {TidemarkError} TM_REDIS_ADDRESS_INVALID, which never repeats the URL, because it may hold a password.
 */
export function parseRedisUrl(text: string): RedisAddress {
  if (text.startsWith('/') && !text.startsWith('//')) return { path: text }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'redis:' && url.protocol !== 'rediss:')) {
    throw invalid('it is not a redis:// or rediss:// URL')
  }
  if (url.search !== '' || url.hash !== '') throw invalid('it has query parameters or a fragment')
  if (url.hostname === '') throw invalid('it has no host')
  const database = /^\/?$/.test(url.pathname) ? undefined : databaseOf(url.pathname.slice(1))
  const [username, password] = [decode(url.username, 'user'), decode(url.password, 'password')]
  return {
    // The URL form of an IPv6 address carries brackets, the socket form does not.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(database === undefined ? {} : { db: database }),
    ...(url.protocol === 'rediss:' ? { tls: true } : {}),
  }
}

/** An address for messages: everything but the credentials. */
export function describeAddress(address: RedisAddress): string {
  if (address.path !== undefined) return address.path
  const host = address.host ?? '127.0.0.1'
  return `${host.includes(':') ? `[${host}]` : host}:${address.port ?? 6379}`
}

function databaseOf(text: string): number {
  // The client would turn "abc" into NaN and go on in database 0.
  if (!/^(?:0|[1-9][0-9]{0,5})$/.test(text)) throw invalid(`its database "${text.slice(0, 32)}" is not a number`)
  return Number(text)
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(`its ${part} is not percent-encoded correctly`)
  }
}

function invalid(reason: string): Error {
  return redisErrors.create('TM_REDIS_ADDRESS_INVALID', { reason })
}
