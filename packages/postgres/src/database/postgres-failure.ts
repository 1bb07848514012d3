import { isTidemarkError, messageOf } from '@tidemark/core'
import type { TidemarkError } from '@tidemark/core'
import { postgresErrors } from '../errors.ts'
import type { PostgresDatabase } from './postgres-database.ts'

type StatementCode =
  | 'TM_POSTGRES_AUTH_FAILED'
  | 'TM_POSTGRES_STARTING'
  | 'TM_POSTGRES_CONNECTIONS_EXHAUSTED'
  | 'TM_POSTGRES_READ_ONLY'
  | 'TM_POSTGRES_PERMISSION_DENIED'
  | 'TM_POSTGRES_TABLES_MISSING'
  | 'TM_POSTGRES_TABLES_WRONG'
  | 'TM_POSTGRES_SERIALIZATION_FAILED'
  | 'TM_POSTGRES_DEADLOCK'
  | 'TM_POSTGRES_LOCK_TIMEOUT'
  | 'TM_POSTGRES_RESOURCES_EXHAUSTED'
  | 'TM_POSTGRES_DATA_CORRUPTED'

const statementCodes: Readonly<Record<string, StatementCode>> = {
  '28000': 'TM_POSTGRES_AUTH_FAILED',
  '28P01': 'TM_POSTGRES_AUTH_FAILED',
  '57P03': 'TM_POSTGRES_STARTING',
  '53300': 'TM_POSTGRES_CONNECTIONS_EXHAUSTED',
  '25006': 'TM_POSTGRES_READ_ONLY',
  '42501': 'TM_POSTGRES_PERMISSION_DENIED',
  '42P01': 'TM_POSTGRES_TABLES_MISSING',
  '3F000': 'TM_POSTGRES_TABLES_MISSING',
  '42703': 'TM_POSTGRES_TABLES_WRONG',
  '42804': 'TM_POSTGRES_TABLES_WRONG',
  '42883': 'TM_POSTGRES_TABLES_WRONG',
  '42P10': 'TM_POSTGRES_TABLES_WRONG',
  '40001': 'TM_POSTGRES_SERIALIZATION_FAILED',
  '40P01': 'TM_POSTGRES_DEADLOCK',
  '55P03': 'TM_POSTGRES_LOCK_TIMEOUT',
}

const classCodes: Readonly<Record<string, StatementCode>> = {
  '53': 'TM_POSTGRES_RESOURCES_EXHAUSTED',
  '54': 'TM_POSTGRES_RESOURCES_EXHAUSTED',
  XX: 'TM_POSTGRES_DATA_CORRUPTED',
}

/** Codes with which the server ends a connection, or the client gives one up. */
const connectionGone = /^(?:08|57P01|57P02|57P05)/

/** Whether a host statement raised it: a wrong table there is the host's own, not one of ours. */
export type FailureSource = 'store' | 'host'

/**
 * The typed error of anything that client or server raised.
 *
 * The client's own error is not kept as the cause: it carries parameters. Promises: PGS-3, PGS-17.
 */
export function failureOf(
  database: Pick<PostgresDatabase, 'address' | 'deadlineMs'>,
  operation: string,
  thrown: unknown,
  source: FailureSource = 'store',
): TidemarkError {
  if (isTidemarkError(thrown)) return thrown
  const { address, deadlineMs } = database
  const reply = messageOf(thrown).replaceAll(/\s+/g, ' ').slice(0, 300)
  const cause = new Error(reply)
  const sqlState = sqlStateOf(thrown)
  if (sqlState === undefined || connectionGone.test(sqlState)) {
    return postgresErrors.create('TM_POSTGRES_CONNECTION_LOST', { address, operation, reason: reply }, { cause })
  }
  // The server cancels a statement at its own time-out, which stands a little before ours.
  if (sqlState === '57014')
    return postgresErrors.create('TM_POSTGRES_TIMEOUT', { address, operation, deadlineMs }, { cause })
  const code = statementCodes[sqlState] ?? classCodes[sqlState.slice(0, 2)] ?? 'TM_POSTGRES_STATEMENT_FAILED'
  const isOurs = source === 'store' || !code.startsWith('TM_POSTGRES_TABLES_')
  const details = { operation, address, sqlState, reply }
  return postgresErrors.create(isOurs ? code : 'TM_POSTGRES_STATEMENT_FAILED', details, { cause })
}

/** The error of a connection that could not be made. */
export function connectFailureOf(
  database: Pick<PostgresDatabase, 'address' | 'deadlineMs' | 'expectedDatabase'>,
  thrown: unknown,
): TidemarkError {
  if (isTidemarkError(thrown)) return thrown
  if (sqlStateOf(thrown) === '3D000') {
    const details = { address: database.address, expected: database.expectedDatabase, found: 'none of that name' }
    return postgresErrors.create('TM_POSTGRES_DATABASE_WRONG', details)
  }
  if (sqlStateOf(thrown) !== undefined) return failureOf(database, 'connecting', thrown)
  const reason = messageOf(thrown).replaceAll(/\s+/g, ' ').slice(0, 300)
  return postgresErrors.create(
    'TM_POSTGRES_CONNECT_FAILED',
    { address: database.address, reason },
    { cause: new Error(reason) },
  )
}

/** Whether the server said that the whole transaction was undone and may simply be run again. */
export function isUndoneRace(error: unknown): boolean {
  return isTidemarkError(error, 'TM_POSTGRES_SERIALIZATION_FAILED') || isTidemarkError(error, 'TM_POSTGRES_DEADLOCK')
}

/** The five characters of the server; the codes of sockets look different. */
function sqlStateOf(thrown: unknown): string | undefined {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : undefined
}
