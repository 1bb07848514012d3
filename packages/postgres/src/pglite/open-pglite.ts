import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import { checkLimit, messageOf } from '@tidemark/core'
import type {
  PostgresConnection,
  PostgresDatabase,
  PostgresResult,
  PostgresStatement,
} from '../database/postgres-database.ts'
import { postgresErrors } from '../errors.ts'
import { takeExclusiveLock } from './exclusive-lock.ts'
import type { ExclusiveLock } from './exclusive-lock.ts'
import { hereAndNow, lookAtProcess } from './here-and-now.ts'

/** How an embedded database is opened. */
export interface OpenPgliteOptions {
  /** A directory of its own; it is created where it is missing. One process at a time. */
  readonly directory: string
  /** The longest that a call of a store may take; 60,000 unless said. Range: 100 to 600,000. */
  readonly deadlineMs?: number
}

/** An embedded database that this process alone has open. */
export interface PgliteDatabase extends PostgresDatabase {
  /** The client itself, for the host's own tables and queries. */
  readonly client: PGliteInterface
  /** What a commit survives: the end of this process, but not of the machine, since nothing is forced to disk. */
  readonly crashClass: 'process-crash'
  readonly directory: string
}

/**
 * Opens an embedded Postgres in a directory, under an exclusive lock.
 *
 * Two processes on one such directory corrupt it silently, so a second one is refused. An owner that is certainly gone is
 * taken over from, with a line in `takeovers.log`. A directory whose creation was cut off is created anew; data that no mark of ours
 * stands beside is refused and left as it is. Promises: PGS-21 to PGS-24.
 * Cost: 1 to 6 seconds, and 350 to 850 MB of memory.
 * @throws {TidemarkError} TM_POSTGRES_DIRECTORY_LOCKED, TM_POSTGRES_DIRECTORY_UNUSABLE
 */
export async function openPglite(options: OpenPgliteOptions): Promise<PgliteDatabase> {
  const deadlineMs = checkLimit('deadlineMs', options.deadlineMs ?? 60_000, { min: 100, max: 600_000 })
  const directory = prepareDirectory(options.directory)
  const lock = takeExclusiveLock({
    file: join(directory, 'lock'),
    auditFile: join(directory, 'takeovers.log'),
    here: hereAndNow(),
    look: lookAtProcess,
    nowMs: () => Date.now(),
  })
  try {
    const client = await openClient(directory)
    return new EmbeddedDatabase(client, lock, directory, deadlineMs)
  } catch (error) {
    lock.release()
    const reason = messageOf(error).slice(0, 300)
    throw postgresErrors.create('TM_POSTGRES_DIRECTORY_UNUSABLE', { directory, reason }, { cause: error })
  }
}

function prepareDirectory(name: string): string {
  if (typeof name !== 'string' || name === '' || /^[a-z]+:\/\//.test(name)) {
    const reason = 'it is not the path of a directory'
    throw postgresErrors.create('TM_POSTGRES_DIRECTORY_UNUSABLE', { directory: String(name).slice(0, 200), reason })
  }
  const directory = resolve(name)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const strange = readdirSync(directory).find(
      (entry) => !/^(?:lock|takeovers\.log|created|data)(?:\..*)?$/.test(entry),
    )
    if (strange !== undefined) throw new Error(`it holds "${strange}", which is not ours`)
  } catch (error) {
    const reason = messageOf(error).slice(0, 300)
    throw postgresErrors.create('TM_POSTGRES_DIRECTORY_UNUSABLE', { directory, reason }, { cause: error })
  }
  return directory
}

/**
 * Opens the database, creating it where none was created to the end.
 *
 * The mark `created.begun` is written before the creation and becomes `created` after it, before anybody can store something: data
 * beside the first comes from a process that was killed in between, and holds nothing. Data beside neither is somebody's
 * database, or one whose mark a restore lost; only a person can tell.
 */
async function openClient(directory: string): Promise<PGlite> {
  const [data, mark] = [join(directory, 'data'), join(directory, 'created')]
  const begun = `${mark}.begun`
  if (existsSync(mark)) {
    // An engine that finds no database would silently create one, and the projection would start over.
    if (!existsSync(join(data, 'PG_VERSION'))) throw new Error('the database that was created here is gone')
    return PGlite.create({ dataDir: data })
  }
  if (existsSync(begun)) rmSync(data, { recursive: true, force: true })
  else if (existsSync(data)) throw new Error('it holds "data" without the mark "created" or "created.begun" beside it')
  writeFileSync(begun, '')
  const client = await PGlite.create({ dataDir: data })
  renameSync(begun, mark)
  return client
}

class EmbeddedDatabase implements PgliteDatabase {
  readonly client: PGlite
  readonly crashClass = 'process-crash' as const
  readonly directory: string
  readonly address: string
  readonly expectedDatabase = 'postgres'
  readonly instance: string
  readonly durability = 'process' as const
  readonly deadlineMs: number
  readonly hasSessionTimeouts = true
  readonly #lock: ExclusiveLock
  #closing: Promise<void> | undefined

  constructor(client: PGlite, lock: ExclusiveLock, directory: string, deadlineMs: number) {
    this.client = client
    this.#lock = lock
    this.directory = directory
    this.address = `pglite:${directory}`
    this.deadlineMs = deadlineMs
    this.instance = randomBytes(16).toString('hex')
  }

  async acquire(): Promise<PostgresConnection> {
    if (this.#closing !== undefined) throw postgresErrors.create('TM_POSTGRES_CLOSED', { operation: 'connecting' })
    // A lock that was removed by hand may have let another process in; nothing more is written then.
    this.#lock.verify()
    return new EmbeddedConnection(this.client)
  }

  close(): Promise<void> {
    this.#closing ??= this.client.close().finally(() => this.#lock.release())
    return this.#closing
  }
}

/** A transaction that stays open between two calls of the port. */
interface OpenTransaction {
  readonly tx: Transaction
  /** Lets the client commit or, if it was rolled back, only end. */
  readonly end: () => void
  /** Settles when the client has ended it. */
  readonly ended: Promise<void>
}

/**
 * The one session of an embedded database, seen as a connection.
 *
 * Only the client's own transactions keep the host's queries out while one is open, so BEGIN and COMMIT become theirs.
 */
class EmbeddedConnection implements PostgresConnection {
  readonly #client: PGlite
  #open: OpenTransaction | undefined
  #pending: Promise<unknown> = Promise.resolve()
  #destroyed = false

  constructor(client: PGlite) {
    this.#client = client
  }

  query(statement: PostgresStatement): Promise<PostgresResult> {
    const values = statement.values.map((value) => (typeof value === 'bigint' ? value.toString(10) : value))
    return this.#track(async () => {
      const target = this.#open?.tx ?? this.#client
      const { rows, command, affectedRows } = await withState(() => target.query(statement.text, values))
      const isRead = command === 'SELECT'
      return {
        command: command ?? '',
        rows: rows as PostgresResult['rows'],
        rowCount: isRead ? rows.length : (affectedRows ?? 0),
      }
    })
  }

  script(text: string): Promise<readonly PostgresResult[]> {
    const word = /^[A-Z]+/.exec(text)?.[0]
    return this.#track(async () => {
      const command = word === 'BEGIN' ? await this.#begin() : await this.#end(word === 'COMMIT')
      return [{ command, rows: [], rowCount: 0 }]
    })
  }

  release(): void {
    this.destroy()
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#destroyed = true
    // What is under way cannot be stopped; what it leaves open is rolled back as soon as it ends.
    void this.#pending.catch(() => undefined).then(() => this.#end(false).catch(() => undefined))
  }

  #track<T>(work: () => Promise<T>): Promise<T> {
    if (this.#destroyed)
      return Promise.reject(postgresErrors.create('TM_POSTGRES_CLOSED', { operation: 'a statement' }))
    const doing = work()
    this.#pending = doing
    return doing
  }

  #begin(): Promise<string> {
    return new Promise<string>((resolveBegin, rejectBegin) => {
      const ended = this.#client.transaction(
        (tx) =>
          new Promise<void>((end) => {
            this.#open = { tx, end, ended: ended.then(() => undefined) }
            resolveBegin('BEGIN')
          }),
      )
      ended.catch(rejectBegin)
    })
  }

  async #end(commit: boolean): Promise<string> {
    const open = this.#open
    if (open === undefined) return 'ROLLBACK'
    this.#open = undefined
    if (!commit) await open.tx.rollback()
    open.end()
    try {
      await open.ended
    } catch (error) {
      // The client reports a COMMIT that rolled back as an error of its own.
      if (commit && messageOf(error).includes('rolled back')) return 'ROLLBACK'
      throw error
    }
    return commit ? 'COMMIT' : 'ROLLBACK'
  }
}

/** The client refuses some parameters before the server sees them; that is the fault of a statement, not of a connection. */
async function withState<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const hasCode = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    if (hasCode || !messageOf(error).startsWith('Invalid input')) throw error
    throw Object.assign(new Error(messageOf(error)), { code: '22023' })
  }
}
