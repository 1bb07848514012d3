import pg from 'pg'
import type { Pool, PoolClient } from 'pg'
import { checkLimit } from '@tidemark/core'
import type {
  PostgresConnection,
  PostgresDatabase,
  PostgresResult,
  PostgresValue,
} from '../database/postgres-database.ts'
import { connectFailureOf } from '../database/postgres-failure.ts'
import { serverTimeouts } from '../database/postgres-session.ts'
import { postgresErrors } from '../errors.ts'
import { describePgAddress, parsePostgresUrl } from './pg-address.ts'

/** How connections to a server are made. */
export interface ConnectPostgresOptions {
  /** The longest that a call of a store may take; 10,000 unless said. Range: 100 to 600,000. */
  readonly deadlineMs?: number
  /** How many connections at most; 8 unless said. Range: 1 to 100. */
  readonly connectionsMax?: number
  /** Shown in pg_stat_activity; `tidemark` unless said. */
  readonly applicationName?: string
}

/** What a pool of the host needs to say of itself. */
export interface FromPgPoolOptions {
  /** The database its connections must be on. */
  readonly database: string
  /** The longest that a call of a store may take; 10,000 unless said. */
  readonly deadlineMs?: number
}

const defaultDeadlineMs = 10_000

/**
 * A server by its URL, with connections of our own: none is made before it is needed.
 *
 * Promises: PGS-2, PGS-3.
 * @throws {TidemarkError} TM_POSTGRES_ADDRESS_INVALID, TM_CORE_LIMIT_INVALID
 */
export function connectPostgres(url: string, options: ConnectPostgresOptions = {}): PostgresDatabase {
  const { host, port, user, password, database, tls } = parsePostgresUrl(url)
  const deadlineMs = checkDeadline(options.deadlineMs)
  const max = checkLimit('connectionsMax', options.connectionsMax ?? 8, { min: 1, max: 100 })
  const { statementMs, lockMs } = serverTimeouts(deadlineMs)
  const pool = new pg.Pool({
    host,
    port,
    user,
    password,
    database,
    max,
    ...(tls ? { ssl: { rejectUnauthorized: true, servername: host } } : { ssl: false }),
    connectionTimeoutMillis: deadlineMs,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    keepAlive: true,
    application_name: options.applicationName ?? 'tidemark',
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    // A client that froze inside a transaction must not keep its rows locked for ever.
    idle_in_transaction_session_timeout: deadlineMs * 2,
  })
  // An idle connection that breaks is taken out by the pool; without a listener it would end the process.
  pool.on('error', () => undefined)
  const address = describePgAddress({ host, port, database })
  return poolDatabase(pool, { address, database, deadlineMs, ownsPool: true })
}

/**
 * Connections of the host's own pool, left as they were found. Closing the result leaves the pool open.
 *
 * Cost: two round trips more per step than {@link connectPostgres}, since time-outs are set per transaction.
 * @throws {TidemarkError} TM_POSTGRES_OPTION_INVALID, TM_CORE_LIMIT_INVALID
 */
export function fromPgPool(pool: Pool, options: FromPgPoolOptions): PostgresDatabase {
  const { database } = options
  if (typeof database !== 'string' || database === '') {
    const reason = 'it must name the database that the pool connects to'
    throw postgresErrors.create('TM_POSTGRES_OPTION_INVALID', { option: 'database', reason })
  }
  const { host = 'localhost', port = 5432 } = pool.options
  const address = describePgAddress({ host, port, database })
  return poolDatabase(pool, { address, database, deadlineMs: checkDeadline(options.deadlineMs), ownsPool: false })
}

function checkDeadline(deadlineMs: number | undefined): number {
  return checkLimit('deadlineMs', deadlineMs ?? defaultDeadlineMs, { min: 100, max: 600_000 })
}

interface PoolFacts {
  readonly address: string
  readonly database: string
  readonly deadlineMs: number
  readonly ownsPool: boolean
}

function poolDatabase(pool: Pool, facts: PoolFacts): PostgresDatabase {
  const { address, database, deadlineMs, ownsPool } = facts
  let closed = false
  return {
    address,
    expectedDatabase: database,
    instance: undefined,
    durability: undefined,
    deadlineMs,
    hasSessionTimeouts: ownsPool,
    async acquire() {
      if (closed) throw postgresErrors.create('TM_POSTGRES_CLOSED', { operation: 'connecting' })
      try {
        return new PgConnection(await pool.connect())
      } catch (error) {
        throw connectFailureOf({ address, deadlineMs, expectedDatabase: database }, error)
      }
    },
    async close() {
      if (closed) return
      closed = true
      if (ownsPool) await pool.end()
    },
  }
}

class PgConnection implements PostgresConnection {
  readonly #client: PoolClient
  #isBack = false

  constructor(client: PoolClient) {
    this.#client = client
    client.on('error', ignore)
  }

  async query(statement: { text: string; values: readonly PostgresValue[]; name?: string }): Promise<PostgresResult> {
    const { text, values, name } = statement
    const config = {
      text,
      values: values.map((value) => (typeof value === 'bigint' ? value.toString(10) : value)),
      // Without values the client would send a simple query, in which several statements may stand.
      queryMode: 'extended',
      ...(name === undefined ? {} : { name }),
    }
    return toResult(await this.#client.query(config))
  }

  async script(text: string): Promise<readonly PostgresResult[]> {
    const results = (await this.#client.query(text)) as unknown
    return (Array.isArray(results) ? results : [results]).map(toResult)
  }

  release(): void {
    this.#giveBack(false)
  }

  destroy(): void {
    // The polite end waits for a network that may be gone.
    const { connection } = this.#client as unknown as { connection?: { stream?: { destroy?: () => void } } }
    connection?.stream?.destroy?.()
    this.#giveBack(true)
  }

  #giveBack(broken: boolean): void {
    if (this.#isBack) return
    this.#isBack = true
    if (!broken) this.#client.removeListener('error', ignore)
    this.#client.release(broken)
  }
}

function ignore(): void {
  // The statement that is under way, or the next one, tells that the connection is gone.
}

function toResult(result: { command: string; rows: unknown[]; rowCount: number | null }): PostgresResult {
  return { command: result.command, rows: result.rows as PostgresResult['rows'], rowCount: result.rowCount ?? 0 }
}
