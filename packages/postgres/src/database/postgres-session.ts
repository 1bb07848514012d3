import { isTidemarkError } from '@tidemark/core'
import { postgresErrors } from '../errors.ts'
import type { PostgresConnection, PostgresDatabase, PostgresResult, PostgresStatement } from './postgres-database.ts'
import { failureOf, isUndoneRace } from './postgres-failure.ts'
import type { FailureSource } from './postgres-failure.ts'

/** Statements on the one connection of a call; whatever fails is a typed error. */
export interface StatementRunner {
  query(statement: PostgresStatement, source?: FailureSource): Promise<PostgresResult>
  /** Does work in a transaction: committed when it resolves, rolled back when it says so or rejects. */
  transaction<T>(work: () => Promise<TransactionEnd<T>>): Promise<T>
}

/** What came of the work of a transaction, and whether it is to be kept. */
export interface TransactionEnd<T> {
  readonly value: T
  readonly keep: boolean
}

/** The calls of one store on a database. Every call settles within its deadline, whatever the network does. Promises: PGS-2. */
export interface PostgresSession {
  /** Does work on one connection; work that the server undid as a whole is done again, a few times. */
  run<T>(operation: string, work: (runner: StatementRunner) => Promise<T>): Promise<T>
  /** Later calls reject with TM_POSTGRES_CLOSED; the database stays open. */
  close(): void
}

const attemptsMax = 4

/** A session on connections of a database. */
export function createPostgresSession(database: PostgresDatabase): PostgresSession {
  let closed = false
  const inUse = new Set<PostgresConnection>()
  return {
    async run(operation, work) {
      if (closed) throw postgresErrors.create('TM_POSTGRES_CLOSED', { operation })
      const call = new DeadlineCall(database, operation, inUse)
      return call.settle(async () => {
        for (let attempt = 1; ; attempt += 1) {
          try {
            return await call.onConnection(work)
          } catch (error) {
            // The server has undone all of it, so that nothing can happen twice.
            if (!isUndoneRace(error) || attempt >= attemptsMax || closed) throw error
          }
        }
      })
    },
    close() {
      closed = true
      for (const connection of inUse) connection.destroy()
    },
  }
}

/** One call with one deadline over all its attempts. */
class DeadlineCall {
  readonly #database: PostgresDatabase
  readonly #operation: string
  readonly #inUse: Set<PostgresConnection>
  #connection: PostgresConnection | undefined
  #expired = false

  constructor(database: PostgresDatabase, operation: string, inUse: Set<PostgresConnection>) {
    this.#database = database
    this.#operation = operation
    this.#inUse = inUse
  }

  settle<T>(work: () => Promise<T>): Promise<T> {
    const { address, deadlineMs } = this.#database
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#expired = true
        reject(postgresErrors.create('TM_POSTGRES_TIMEOUT', { address, operation: this.#operation, deadlineMs }))
        // A late answer must not be taken for the answer to a later statement.
        this.#drop()
      }, deadlineMs)
      work()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
  }

  async onConnection<T>(work: (runner: StatementRunner) => Promise<T>): Promise<T> {
    const connection = await this.#database.acquire()
    if (this.#expired) {
      connection.release()
      throw postgresErrors.create('TM_POSTGRES_CLOSED', { operation: this.#operation })
    }
    this.#connection = connection
    this.#inUse.add(connection)
    try {
      const value = await work(createRunner(this.#database, connection, this.#operation))
      this.#giveBack()
      return value
    } catch (error) {
      if (isUsable(error)) this.#giveBack()
      else this.#drop()
      throw error
    }
  }

  #giveBack(): void {
    const connection = this.#take()
    connection?.release()
  }

  #drop(): void {
    const connection = this.#take()
    connection?.destroy()
  }

  #take(): PostgresConnection | undefined {
    const connection = this.#connection
    this.#connection = undefined
    if (connection !== undefined) this.#inUse.delete(connection)
    return connection
  }
}

/** Errors after which a connection is in a known state: a statement outside of a transaction failed, or it was rolled back. */
function isUsable(error: unknown): boolean {
  if (!isTidemarkError(error)) return false
  return !['TM_POSTGRES_CONNECTION_LOST', 'TM_POSTGRES_TIMEOUT', 'TM_POSTGRES_REPLY_MALFORMED'].includes(error.code)
}

function createRunner(database: PostgresDatabase, connection: PostgresConnection, operation: string): StatementRunner {
  const failing = async <T>(ask: () => Promise<T>, source: FailureSource = 'store'): Promise<T> => {
    try {
      return await ask()
    } catch (error) {
      throw failureOf(database, operation, error, source)
    }
  }
  return {
    query: (statement, source) => failing(() => connection.query(statement), source),
    async transaction(work) {
      await failing(() => connection.script(beginScript(database)))
      let end
      try {
        end = await work()
      } catch (error) {
        // A connection that is gone has rolled back by itself; the error that counts is the first one.
        if (isUsable(error)) await failing(() => connection.script('ROLLBACK'))
        throw error
      }
      const results = await failing(() => connection.script(end.keep ? 'COMMIT' : 'ROLLBACK'))
      if (end.keep && results.at(-1)?.command !== 'COMMIT') {
        throw postgresErrors.create('TM_POSTGRES_TRANSACTION_ABORTED', { operation, address: database.address })
      }
      return end.value
    },
  }
}

/** Time-outs that the connection does not carry by itself stand in the transaction only. */
function beginScript(database: PostgresDatabase): string {
  const begin = 'BEGIN ISOLATION LEVEL READ COMMITTED'
  if (database.hasSessionTimeouts) return begin
  const { statementMs, lockMs } = serverTimeouts(database.deadlineMs)
  return `${begin}; SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs}`
}

/** The server gives up a little earlier than the client, so that its answer still arrives and says why. */
export function serverTimeouts(deadlineMs: number): { readonly statementMs: number; readonly lockMs: number } {
  return { statementMs: Math.max(1, Math.floor(deadlineMs * 0.9)), lockMs: Math.max(1, Math.floor(deadlineMs * 0.8)) }
}
