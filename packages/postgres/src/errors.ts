import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

/** Where a statement failed and what the server said. Never holds a parameter's value. */
type StatementDetails = {
  readonly operation: string
  readonly address: string
  /** The five-character code of the server, for example `42P01`. */
  readonly sqlState: string
  readonly reply: string
}

interface PostgresErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_POSTGRES_OPTION_INVALID: ErrorSpec<{ readonly option: string; readonly reason: string }>
  readonly TM_POSTGRES_ADDRESS_INVALID: ErrorSpec<{ readonly reason: string }>
  readonly TM_POSTGRES_CONNECT_FAILED: ErrorSpec<{ readonly address: string; readonly reason: string }>
  readonly TM_POSTGRES_AUTH_FAILED: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_STARTING: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_CONNECTIONS_EXHAUSTED: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_DATABASE_WRONG: ErrorSpec<{
    readonly address: string
    readonly expected: string
    readonly found: string
  }>
  readonly TM_POSTGRES_ENCODING_UNSUPPORTED: ErrorSpec<{ readonly address: string; readonly encoding: string }>
  readonly TM_POSTGRES_CONNECTION_LOST: ErrorSpec<{
    readonly address: string
    readonly operation: string
    readonly reason: string
  }>
  readonly TM_POSTGRES_TIMEOUT: ErrorSpec<{
    readonly address: string
    readonly operation: string
    readonly deadlineMs: number
  }>
  readonly TM_POSTGRES_CLOSED: ErrorSpec<{ readonly operation: string }>
  readonly TM_POSTGRES_READ_ONLY: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_PERMISSION_DENIED: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_TABLES_MISSING: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_TABLES_WRONG: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_TABLES_NEWER: ErrorSpec<{
    readonly schema: string
    readonly found: string
    readonly known: string
  }>
  readonly TM_POSTGRES_SERIALIZATION_FAILED: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_DEADLOCK: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_LOCK_TIMEOUT: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_RESOURCES_EXHAUSTED: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_DATA_CORRUPTED: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_STATEMENT_FAILED: ErrorSpec<StatementDetails>
  readonly TM_POSTGRES_TRANSACTION_ABORTED: ErrorSpec<{ readonly operation: string; readonly address: string }>
  readonly TM_POSTGRES_REPLY_MALFORMED: ErrorSpec<{
    readonly operation: string
    readonly expected: string
    readonly found: string
  }>
  readonly TM_POSTGRES_WRONG_KIND: ErrorSpec<{
    readonly operation: string
    readonly key: string
    readonly due: string
    readonly found: string
  }>
  readonly TM_POSTGRES_VALUE_NOT_A_NUMBER: ErrorSpec<{ readonly key: string; readonly found: string }>
  readonly TM_POSTGRES_BUFFER_FOREIGN: ErrorSpec<{ readonly store: string }>
  readonly TM_POSTGRES_IS_EMPTY_FAILED: ErrorSpec<{ readonly reason: string }>
  readonly TM_POSTGRES_DIRECTORY_LOCKED: ErrorSpec<{
    readonly file: string
    readonly owner: string
    readonly reason: string
  }>
  readonly TM_POSTGRES_DIRECTORY_UNUSABLE: ErrorSpec<{ readonly directory: string; readonly reason: string }>
  readonly TM_POSTGRES_DIRECTORY_LOST: ErrorSpec<{ readonly file: string }>
}

const failed = (d: StatementDetails): string => `${d.operation} at ${d.address} failed (${d.sqlState}): ${d.reply}`

const unknownOutcome = 'Nothing to repair: what was in flight happened whole or not at all, and a restart finds out.'

/** Every error the postgres package can raise. Lost races (fenced, conflict, another server process) are values. */
export const postgresErrors: ErrorCatalogue<PostgresErrorSpecs> = defineErrors<PostgresErrorSpecs>('POSTGRES', {
  TM_POSTGRES_OPTION_INVALID: {
    retriable: false,
    message: (d) => `option ${d.option}: ${d.reason}`,
    remedy: 'State the option as its documentation says; identifiers are lower-case letters, digits and underscores.',
  },
  TM_POSTGRES_ADDRESS_INVALID: {
    retriable: false,
    message: (d) => `the Postgres address is not usable: ${d.reason}`,
    remedy: 'Use postgres://user:password@host:port/database, with user and password percent-encoded.',
  },
  TM_POSTGRES_CONNECT_FAILED: {
    retriable: true,
    message: (d) => `cannot connect to Postgres at ${d.address}: ${d.reason}`,
    remedy: 'Check that the server runs, that host and port are right, and that no firewall or TLS stands in between.',
  },
  TM_POSTGRES_AUTH_FAILED: {
    retriable: false,
    message: failed,
    remedy: 'Check user, password and pg_hba.conf of the server.',
  },
  TM_POSTGRES_STARTING: {
    retriable: true,
    message: failed,
    remedy: 'The server is starting, stopping or recovering; wait until it accepts connections, then start again.',
  },
  TM_POSTGRES_CONNECTIONS_EXHAUSTED: {
    retriable: true,
    message: failed,
    remedy: 'Raise max_connections or lower connectionsMax of the stores and pools that share the server.',
  },
  TM_POSTGRES_DATABASE_WRONG: {
    retriable: false,
    message: (d) => `the connection to Postgres at ${d.address} is on database ${d.found}, not ${d.expected}`,
    remedy: 'Name the database in the URL and check what a connection pooler maps it to; nothing is written elsewhere.',
  },
  TM_POSTGRES_ENCODING_UNSUPPORTED: {
    retriable: false,
    message: (d) => `the database at ${d.address} is encoded in ${d.encoding}, which cannot hold every text`,
    remedy: 'Create the database with ENCODING UTF8.',
  },
  TM_POSTGRES_CONNECTION_LOST: {
    retriable: true,
    message: (d) => `the connection to Postgres at ${d.address} was lost during ${d.operation}: ${d.reason}`,
    remedy: unknownOutcome,
  },
  TM_POSTGRES_TIMEOUT: {
    retriable: true,
    message: (d) => `Postgres at ${d.address} did not finish ${d.operation} within ${d.deadlineMs} ms`,
    remedy: `${unknownOutcome} Look for blocked statements (pg_stat_activity, pg_locks), a paused server or a broken network.`,
  },
  TM_POSTGRES_CLOSED: {
    retriable: false,
    message: (d) => `${d.operation} was called after the store or database was closed`,
    remedy: 'Create a new store; a closed one does not open again.',
  },
  TM_POSTGRES_READ_ONLY: {
    retriable: false,
    message: failed,
    remedy: 'Connect to the primary with a role that may write; after a failover restart the projection.',
  },
  TM_POSTGRES_PERMISSION_DENIED: {
    retriable: false,
    message: failed,
    remedy: 'Grant the role USAGE on the schemas and SELECT, INSERT, UPDATE, DELETE on the tables the README lists.',
  },
  TM_POSTGRES_TABLES_MISSING: {
    retriable: false,
    message: failed,
    remedy: 'Run ensurePostgresTables with the same schema names and a role that may create tables.',
  },
  TM_POSTGRES_TABLES_WRONG: {
    retriable: false,
    message: failed,
    remedy: 'Compare the tables with the README; something else changed their columns or keys. Nothing was written.',
  },
  TM_POSTGRES_TABLES_NEWER: {
    retriable: false,
    message: (d) => `the tables in schema ${d.schema} have layout ${d.found}; this version knows ${d.known}`,
    remedy: 'Upgrade @tidemark/postgres, or use a schema of its own.',
  },
  TM_POSTGRES_SERIALIZATION_FAILED: {
    retriable: true,
    message: failed,
    remedy: 'Nothing was written. Repeat it; frequent ones mean that other transactions write the same rows.',
  },
  TM_POSTGRES_DEADLOCK: {
    retriable: true,
    message: failed,
    remedy: 'Nothing was written. Repeat it; frequent ones mean statements that lock the same rows in another order.',
  },
  TM_POSTGRES_LOCK_TIMEOUT: {
    retriable: true,
    message: failed,
    remedy: 'Nothing was written. Find the transaction that holds the row (pg_blocking_pids).',
  },
  TM_POSTGRES_RESOURCES_EXHAUSTED: {
    retriable: false,
    message: failed,
    remedy: 'Free disk space or memory on the server, then restart the projection; nothing of the step was kept.',
  },
  TM_POSTGRES_DATA_CORRUPTED: {
    retriable: false,
    message: failed,
    remedy: 'The server found damaged files. Restore the whole database, checkpoints and data together.',
  },
  TM_POSTGRES_STATEMENT_FAILED: {
    retriable: false,
    message: failed,
    remedy: 'Read the reply; nothing of the transaction was kept.',
  },
  TM_POSTGRES_TRANSACTION_ABORTED: {
    retriable: false,
    message: (d) => `${d.operation} at ${d.address}: the server rolled back what was to be committed`,
    remedy: 'A statement failed and its error was swallowed; let errors of statements reach the store.',
  },
  TM_POSTGRES_REPLY_MALFORMED: {
    retriable: false,
    message: (d) => `${d.operation}: Postgres answered ${d.found} where ${d.expected} is due`,
    remedy: 'Check for a proxy or an incompatible server in between; an answer of another shape is never guessed at.',
  },
  TM_POSTGRES_WRONG_KIND: {
    retriable: false,
    message: (d) => `${d.operation}: key "${d.key}" holds a ${d.found} where a ${d.due} is due`,
    remedy: 'Find out who else writes that key; give the projection a data prefix or a schema of its own.',
  },
  TM_POSTGRES_VALUE_NOT_A_NUMBER: {
    retriable: false,
    message: (d) => `key "${d.key}" holds "${d.found}", which setIfGreater cannot compare`,
    remedy: 'Keep other values out of keys written by setIfGreater; they hold canonical decimal numbers only.',
  },
  TM_POSTGRES_BUFFER_FOREIGN: {
    retriable: false,
    message: (d) => `a write buffer that ${d.store} did not make was passed to it`,
    remedy: 'Pass a buffer from newWrites() of the same store.',
  },
  TM_POSTGRES_IS_EMPTY_FAILED: {
    retriable: false,
    message: (d) => `isEmpty of the projection failed: ${d.reason}`,
    remedy: 'Repair the question; a first start needs a clear answer, and nothing was created.',
  },
  TM_POSTGRES_DIRECTORY_LOCKED: {
    retriable: false,
    message: (d) => `${d.file} is held by ${d.owner}: ${d.reason}`,
    remedy: 'One process per directory. Stop the owner; remove the file by hand only if you know that it is gone.',
  },
  TM_POSTGRES_DIRECTORY_UNUSABLE: {
    retriable: false,
    message: (d) => `the directory ${d.directory} cannot be used: ${d.reason}`,
    remedy:
      'Name an empty directory that this process may write, or restore the old one as a whole, its marks included.',
  },
  TM_POSTGRES_DIRECTORY_LOST: {
    retriable: false,
    message: (d) => `the lock file ${d.file} no longer names this process`,
    remedy: 'Somebody removed or replaced the lock. Stop both processes, restore the directory, start one.',
  },
})
