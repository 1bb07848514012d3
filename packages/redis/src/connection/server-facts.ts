import type { Durability, EvictionFact } from '@tidemark/checkpoint'
import { malformed, textReply } from './reply-shape.ts'

/** What a server says of itself and of our connection to it. */
export interface ServerFacts {
  /** Changes at every restart and failover: run id and replication id. */
  readonly process: string
  readonly runId: string
  readonly isPrimary: boolean
  readonly isLoaded: boolean
  readonly isCluster: boolean
  readonly eviction: EvictionFact
  readonly durability: Durability
  /** The logical database the connection is really on. */
  readonly database: string
}

/**
 * The facts in the replies to INFO, CLIENT INFO and CONFIG GET appendfsync.
 *
 * `appendFsync` is absent where CONFIG is blocked; then the weaker durability is reported.
 * @throws {TidemarkError} TM_REDIS_REPLY_MALFORMED when a fact that decides correctness is missing.
 */
export function readServerFacts(info: unknown, clientInfo: unknown, appendFsync: string | undefined): ServerFacts {
  const facts = parseInfo(textReply('INFO', info))
  const required = (field: string): string => {
    const value = facts.get(field)
    if (value === undefined || value === '') throw malformed('INFO', `the field ${field}`, info)
    return value
  }
  const runId = required('run_id')
  const database = /(?:^| )db=([0-9]+)(?: |$)/.exec(textReply('CLIENT INFO', clientInfo).trim())?.[1]
  if (database === undefined) throw malformed('CLIENT INFO', 'the field db', clientInfo)
  return {
    process: `${runId}:${required('master_replid')}`,
    runId,
    isPrimary: required('role') === 'master',
    isLoaded: required('loading') === '0' && (facts.get('async_loading') ?? '0') === '0',
    isCluster: facts.get('cluster_enabled') === '1' || facts.get('redis_mode') === 'cluster',
    eviction: evictionFact(facts.get('maxmemory_policy')),
    durability: facts.get('aof_enabled') === '1' && appendFsync === 'always' ? 'fsync' : 'server',
    database,
  }
}

/** What an eviction policy means for our keys. A policy this version does not know is unknown, not harmless. */
export function evictionFact(policy: string | undefined): EvictionFact {
  if (policy === 'noeviction') return { policy, kind: 'keeps-all' }
  if (policy?.startsWith('allkeys-') === true) return { policy, kind: 'any-key' }
  if (policy?.startsWith('volatile-') === true) return { policy, kind: 'expiring-only' }
  return { policy: policy === undefined || policy === '' ? 'not reported' : policy.slice(0, 64), kind: 'unknown' }
}

function parseInfo(text: string): ReadonlyMap<string, string> {
  const facts = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0 && !line.startsWith('#')) facts.set(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return facts
}
