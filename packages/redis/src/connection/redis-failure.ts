import { isTidemarkError, messageOf } from '@tidemark/core'
import type { TidemarkError } from '@tidemark/core'
import { redisErrors } from '../errors.ts'
import type { SafeRedisSource } from './safe-redis.ts'

/** Where something failed: what the store was doing, and with which command on which key. */
export interface FailureSite {
  readonly operation: string
  readonly command: string
  readonly key: string
}

type ReplyCode =
  | 'TM_REDIS_OUT_OF_MEMORY'
  | 'TM_REDIS_READ_ONLY'
  | 'TM_REDIS_PERSISTENCE_FAILED'
  | 'TM_REDIS_LOADING'
  | 'TM_REDIS_MASTER_DOWN'
  | 'TM_REDIS_CLUSTER_DOWN'
  | 'TM_REDIS_CLUSTER_REDIRECT'
  | 'TM_REDIS_BUSY'
  | 'TM_REDIS_PERMISSION_DENIED'
  | 'TM_REDIS_SCRIPT_MISSING'

const replyCodes: Readonly<Record<string, ReplyCode>> = {
  OOM: 'TM_REDIS_OUT_OF_MEMORY',
  READONLY: 'TM_REDIS_READ_ONLY',
  MISCONF: 'TM_REDIS_PERSISTENCE_FAILED',
  NOREPLICAS: 'TM_REDIS_PERSISTENCE_FAILED',
  LOADING: 'TM_REDIS_LOADING',
  MASTERDOWN: 'TM_REDIS_MASTER_DOWN',
  CLUSTERDOWN: 'TM_REDIS_CLUSTER_DOWN',
  TRYAGAIN: 'TM_REDIS_CLUSTER_DOWN',
  MOVED: 'TM_REDIS_CLUSTER_REDIRECT',
  ASK: 'TM_REDIS_CLUSTER_REDIRECT',
  CROSSSLOT: 'TM_REDIS_CLUSTER_REDIRECT',
  BUSY: 'TM_REDIS_BUSY',
  NOPERM: 'TM_REDIS_PERMISSION_DENIED',
  NOSCRIPT: 'TM_REDIS_SCRIPT_MISSING',
}

/** What the client says when a connection is gone; it has no codes for these. */
const connectionGone =
  /^(?:Connection is closed|Stream isn't writeable|Command aborted due to connection close|Socket (?:closed|timeout))/

/**
 * The typed error of anything the client or the server raised.
 *
 * The client's own error is not kept as the cause, since it carries the arguments of the command: credentials and data.
 * Promises: RED-3, RED-17.
 */
export function failureOf(source: SafeRedisSource, site: FailureSite, thrown: unknown): TidemarkError {
  if (isTidemarkError(thrown)) return thrown
  const text = source.redact(messageOf(thrown)).replaceAll(/\s+/g, ' ').slice(0, 300)
  const cause = new Error(text)
  const { address } = source
  if (isConnectionFailure(thrown, text)) {
    const details = { address, operation: site.operation, reason: text }
    return redisErrors.create('TM_REDIS_CONNECTION_LOST', details, { cause })
  }
  if (text === 'Command timed out') {
    const details = { address, operation: site.operation, deadlineMs: source.commandDeadlineMs }
    return redisErrors.create('TM_REDIS_TIMEOUT', details, { cause })
  }
  const word = replyWord(text)
  if (word === 'NOAUTH' || word === 'WRONGPASS' || /invalid password|invalid username-password/i.test(text)) {
    return redisErrors.create('TM_REDIS_AUTH_FAILED', { address, reply: text }, { cause })
  }
  if (word === 'WRONGTYPE') {
    const details = { operation: site.operation, key: site.key, found: text }
    return redisErrors.create('TM_REDIS_WRONG_TYPE', details, { cause })
  }
  const code = word === undefined ? undefined : replyCodes[word]
  return redisErrors.create(code ?? 'TM_REDIS_COMMAND_FAILED', { ...site, reply: text }, { cause })
}

/** Whether a reply says that the server does not know a script by its digest. */
export function isScriptMissing(thrown: unknown): boolean {
  return replyWord(messageOf(thrown)) === 'NOSCRIPT'
}

/** The error word of a reply. Servers before 7 wrap the errors of commands inside scripts in a sentence of their own. */
function replyWord(text: string): string | undefined {
  // Redis 7.0 words a refusal inside a script without the code of one outside.
  if (/user executing the script can't (?:run|access)/.test(text)) return 'NOPERM'
  const words = text.match(/\b[A-Z]{3,}\b/g) ?? []
  const own = ['NOAUTH', 'WRONGPASS', 'WRONGTYPE']
  return words.find((word) => own.includes(word) || Object.hasOwn(replyCodes, word))
}

function isConnectionFailure(thrown: unknown, text: string): boolean {
  if (connectionGone.test(text)) return true
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined
  return typeof code === 'string' && /^E[A-Z]+$/.test(code)
}
