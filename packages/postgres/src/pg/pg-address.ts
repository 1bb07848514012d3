import { postgresErrors } from '../errors.ts'

/** Where a Postgres is and how to log in; the parts of a URL. */
export interface PgAddress {
  readonly host: string
  readonly port: number
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string
  readonly tls: boolean
}

/**
 * The address a URL stands for.
 *
 * Shape: `postgres://user:password@host:port/database`, with `?sslmode=verify-full` for TLS. Other parameters are refused:
 * they change how sessions behave. A URL without a database is refused too, since the client would take the user's name.
 * @throws {TidemarkError} TM_POSTGRES_ADDRESS_INVALID, which never repeats the URL, because it may hold a password.
 */
export function parsePostgresUrl(text: string): PgAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')) {
    throw invalid('it is not a postgres:// URL')
  }
  if (url.hash !== '') throw invalid('it has a fragment')
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'sslmode')
  if (unknown !== undefined) throw invalid(`its parameter "${unknown.slice(0, 32)}" is not known`)
  if (url.hostname === '') throw invalid('it has no host')
  const database = decode(url.pathname.replace(/^\//, ''), 'database')
  if (database === '' || database.includes('/')) throw invalid('it names no database')
  const [user, password] = [decode(url.username, 'user'), decode(url.password, 'password')]
  return {
    // The URL form of an IPv6 address carries brackets, the socket form does not.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 5432 : Number(url.port),
    user: user === '' ? undefined : user,
    password: password === '' ? undefined : password,
    database,
    tls: readTls(url.searchParams.getAll('sslmode')),
  }
}

/** An address for messages: everything but the credentials. */
export function describePgAddress(address: Pick<PgAddress, 'host' | 'port' | 'database'>): string {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return `${host}:${address.port}/${address.database}`
}

function readTls(modes: readonly string[]): boolean {
  const [mode = 'disable'] = modes
  // What lies between encrypts without knowing with whom, which protects against nobody.
  if (modes.length > 1 || (mode !== 'disable' && mode !== 'verify-full')) {
    throw invalid('its sslmode is neither disable nor verify-full')
  }
  return mode === 'verify-full'
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(`its ${part} is not percent-encoded correctly`)
  }
}

function invalid(reason: string): Error {
  return postgresErrors.create('TM_POSTGRES_ADDRESS_INVALID', { reason })
}
