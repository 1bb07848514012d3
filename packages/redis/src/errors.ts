import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

/** Where a command failed; `key` is the first key it named, or empty. Never holds an argument's value. */
type CommandDetails = {
  readonly operation: string
  readonly command: string
  readonly key: string
  readonly reply: string
}

interface RedisErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_REDIS_UNSAFE_OPTION: ErrorSpec<{
    readonly option: string
    readonly reason: string
    readonly remedy: string
  }>
  readonly TM_REDIS_ADDRESS_INVALID: ErrorSpec<{ readonly reason: string }>
  readonly TM_REDIS_CONNECT_FAILED: ErrorSpec<{ readonly address: string; readonly reason: string }>
  readonly TM_REDIS_AUTH_FAILED: ErrorSpec<{ readonly address: string; readonly reply: string }>
  readonly TM_REDIS_DATABASE_WRONG: ErrorSpec<{
    readonly address: string
    readonly expected: string
    readonly found: string
  }>
  readonly TM_REDIS_CLUSTER_UNSUPPORTED: ErrorSpec<{ readonly address: string }>
  readonly TM_REDIS_CLUSTER_EXPECTED: ErrorSpec<{ readonly address: string }>
  readonly TM_REDIS_CLUSTER_DISAGREES: ErrorSpec<{ readonly address: string; readonly reason: string }>
  readonly TM_REDIS_SLOT_FOREIGN: ErrorSpec<{
    readonly key: string
    readonly slot: number
    readonly partition: number
    readonly tag: string
  }>
  readonly TM_REDIS_PRIMARY_UNKNOWN: ErrorSpec<{
    readonly address: string
    readonly name: string
    readonly reason: string
  }>
  readonly TM_REDIS_CONNECTION_LOST: ErrorSpec<{
    readonly address: string
    readonly operation: string
    readonly reason: string
  }>
  readonly TM_REDIS_TIMEOUT: ErrorSpec<{
    readonly address: string
    readonly operation: string
    readonly deadlineMs: number
  }>
  readonly TM_REDIS_CLOSED: ErrorSpec<{ readonly operation: string }>
  readonly TM_REDIS_WRONG_TYPE: ErrorSpec<{
    readonly operation: string
    readonly key: string
    readonly found: string
  }>
  readonly TM_REDIS_VALUE_NOT_A_NUMBER: ErrorSpec<{ readonly key: string; readonly found: string }>
  readonly TM_REDIS_OUT_OF_MEMORY: ErrorSpec<CommandDetails>
  readonly TM_REDIS_READ_ONLY: ErrorSpec<CommandDetails>
  readonly TM_REDIS_PERSISTENCE_FAILED: ErrorSpec<CommandDetails>
  readonly TM_REDIS_LOADING: ErrorSpec<CommandDetails>
  readonly TM_REDIS_MASTER_DOWN: ErrorSpec<CommandDetails>
  readonly TM_REDIS_CLUSTER_DOWN: ErrorSpec<CommandDetails>
  readonly TM_REDIS_CLUSTER_REDIRECT: ErrorSpec<CommandDetails>
  readonly TM_REDIS_BUSY: ErrorSpec<CommandDetails>
  readonly TM_REDIS_PERMISSION_DENIED: ErrorSpec<CommandDetails>
  readonly TM_REDIS_SCRIPT_MISSING: ErrorSpec<CommandDetails>
  readonly TM_REDIS_COMMAND_FAILED: ErrorSpec<CommandDetails>
  readonly TM_REDIS_REPLY_MALFORMED: ErrorSpec<{
    readonly operation: string
    readonly expected: string
    readonly found: string
  }>
  readonly TM_REDIS_WRITE_NOT_COMMUTING: ErrorSpec<{ readonly op: string; readonly key: string }>
  readonly TM_REDIS_BUFFER_FOREIGN: ErrorSpec<{ readonly store: string }>
}

const failed = (d: CommandDetails): string =>
  `${d.operation}: ${d.command}${d.key === '' ? '' : ` on "${d.key}"`} failed: ${d.reply}`

/** Every error the redis package can raise. Lost races (fenced, conflict, another server process) are values. */
export const redisErrors: ErrorCatalogue<RedisErrorSpecs> = defineErrors<RedisErrorSpecs>('REDIS', {
  TM_REDIS_UNSAFE_OPTION: {
    retriable: false,
    message: (d) => `Redis option ${d.option}: ${d.reason}; ${d.remedy}`,
    remedy: 'Remove the option; the factory sets every option that decides how a command is sent or repeated.',
  },
  TM_REDIS_ADDRESS_INVALID: {
    retriable: false,
    message: (d) => `the Redis address is not usable: ${d.reason}`,
    remedy: 'Use redis://host:port/database or rediss:// for TLS, and percent-encode user and password.',
  },
  TM_REDIS_CONNECT_FAILED: {
    retriable: true,
    message: (d) => `cannot connect to Redis at ${d.address}: ${d.reason}`,
    remedy: 'Check that the server runs, that host and port are right, and that a firewall or TLS is not in between.',
  },
  TM_REDIS_AUTH_FAILED: {
    retriable: false,
    message: (d) => `Redis at ${d.address} refused the credentials: ${d.reply}`,
    remedy: 'Check user and password against the server (ACL WHOAMI, requirepass).',
  },
  TM_REDIS_DATABASE_WRONG: {
    retriable: false,
    message: (d) => `the connection to Redis at ${d.address} is on database ${d.found}, not ${d.expected}`,
    remedy: 'Name a database the server has (its "databases" setting); nothing is written to another one.',
  },
  TM_REDIS_CLUSTER_UNSUPPORTED: {
    retriable: false,
    message: (d) => `Redis at ${d.address} runs in cluster mode, which this store does not support`,
    remedy: 'Use createRedisClusterProjectionStore, or a standalone Redis or its primary.',
  },
  TM_REDIS_CLUSTER_EXPECTED: {
    retriable: false,
    message: (d) => `Redis at ${d.address} does not run in cluster mode`,
    remedy: 'Use createRedisProjectionStore for a standalone Redis, or name nodes of the cluster.',
  },
  TM_REDIS_CLUSTER_DISAGREES: {
    retriable: true,
    message: (d) => `the cluster at ${d.address} has no one answer: ${d.reason}`,
    remedy:
      'Wait until the failover or the migration of slots is over (CLUSTER INFO, CLUSTER SLOTS), then start again.',
  },
  TM_REDIS_SLOT_FOREIGN: {
    retriable: false,
    message: (d) => `key "${d.key}" is in slot ${d.slot}, not in that of partition ${d.partition}`,
    remedy: 'Begin data keys with partitionTag(...) of their partition, or use the two-step form.',
  },
  TM_REDIS_PRIMARY_UNKNOWN: {
    retriable: true,
    message: (d) => `no sentinel of ${d.address} says where the primary "${d.name}" is: ${d.reason}`,
    remedy: 'Check the name (SENTINEL MASTERS) and that a sentinel can be reached; wait until a failover is over.',
  },
  TM_REDIS_CONNECTION_LOST: {
    retriable: true,
    message: (d) => `the connection to Redis at ${d.address} was lost during ${d.operation}: ${d.reason}`,
    remedy: 'Nothing to repair in the store: what was in flight may or may not have happened, and a restart finds out.',
  },
  TM_REDIS_TIMEOUT: {
    retriable: true,
    message: (d) => `Redis at ${d.address} did not answer ${d.operation} within ${d.deadlineMs} ms`,
    remedy:
      'Look for slow scripts (SLOWLOG), a paused server or a broken network; raise the deadline only for a reason.',
  },
  TM_REDIS_CLOSED: {
    retriable: false,
    message: (d) => `${d.operation} was called after the store was closed`,
    remedy: 'Create a new store; a closed one does not open again.',
  },
  TM_REDIS_WRONG_TYPE: {
    retriable: false,
    message: (d) => `${d.operation}: key "${d.key}" holds another type: ${d.found}`,
    remedy: 'Find out who else writes that key; give the projection a data prefix or namespace of its own.',
  },
  TM_REDIS_VALUE_NOT_A_NUMBER: {
    retriable: false,
    message: (d) => `key "${d.key}" holds "${d.found}", which setIfGreater cannot compare`,
    remedy: 'Keep other values out of keys written by setIfGreater; they hold canonical decimal numbers only.',
  },
  TM_REDIS_OUT_OF_MEMORY: {
    retriable: false,
    message: failed,
    remedy: 'Raise maxmemory or remove data; nothing of the step was checkpointed.',
  },
  TM_REDIS_READ_ONLY: {
    retriable: false,
    message: failed,
    remedy: 'Connect to the primary; after a failover restart the projection, so that it re-reads everything first.',
  },
  TM_REDIS_PERSISTENCE_FAILED: {
    retriable: false,
    message: failed,
    remedy: 'The server cannot save to disk: read its log, free disk space, then restart the projection.',
  },
  TM_REDIS_LOADING: {
    retriable: true,
    message: failed,
    remedy: 'Wait until the server has loaded its data, then start again.',
  },
  TM_REDIS_MASTER_DOWN: {
    retriable: true,
    message: failed,
    remedy: 'The server is a replica without its primary; connect to the primary.',
  },
  TM_REDIS_CLUSTER_DOWN: {
    retriable: true,
    message: failed,
    remedy: 'Repair the cluster (CLUSTER INFO), then start again.',
  },
  TM_REDIS_CLUSTER_REDIRECT: {
    retriable: false,
    message: failed,
    remedy: 'Slots are being moved, or another node serves the key: restart the projection when the move is over.',
  },
  TM_REDIS_BUSY: {
    retriable: true,
    message: failed,
    remedy: 'Another script blocks the server; find it (SLOWLOG, SCRIPT KILL).',
  },
  TM_REDIS_PERMISSION_DENIED: {
    retriable: false,
    message: failed,
    remedy: 'Grant the user the commands and key patterns that the README of the package lists.',
  },
  TM_REDIS_SCRIPT_MISSING: {
    retriable: false,
    message: failed,
    remedy: 'The server lost a script although its whole text was sent; check proxies in between.',
  },
  TM_REDIS_COMMAND_FAILED: {
    retriable: false,
    message: failed,
    remedy: 'Read the reply; a server older than 6.2 or a proxy that hides commands is the usual cause.',
  },
  TM_REDIS_REPLY_MALFORMED: {
    retriable: false,
    message: (d) => `${d.operation}: Redis answered ${d.found} where ${d.expected} is due`,
    remedy: 'Check for a proxy or an incompatible server between; an answer of another shape is never guessed at.',
  },
  TM_REDIS_WRITE_NOT_COMMUTING: {
    retriable: false,
    message: (d) => `${d.op} on "${d.key}" does not commute; the two-step form cannot fence it`,
    remedy: 'Use the atomic form, or only zadd GT/LT, sadd and setIfGreater.',
  },
  TM_REDIS_BUFFER_FOREIGN: {
    retriable: false,
    message: (d) => `a write buffer that ${d.store} did not make was passed to it`,
    remedy: 'Pass a buffer from newWrites() of the same store.',
  },
})
