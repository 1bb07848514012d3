import { systemClock, withDeadline } from '@tidemark/core'
import type { SafeRedisSource } from '@tidemark/redis/checkpoint'
import { cliErrors } from '../errors.ts'

/** What runs at an address of Redis. */
export type RedisServerKind = 'server' | 'cluster' | 'sentinel'

/** What was found at an address, with what tells one process from another. */
export interface FoundServer {
  readonly kind: RedisServerKind
  readonly runId: string
}

const called: Readonly<Record<RedisServerKind, string>> = {
  server: 'a single Redis server',
  cluster: 'a node of a Redis Cluster',
  sentinel: 'a Redis sentinel',
}

const optionOf: Readonly<Record<RedisServerKind, string>> = {
  server: '--redis',
  cluster: '--redis-cluster',
  sentinel: '--redis-sentinel',
}

/** Where there are more, those beyond are as the first ones are. */
const partitionsAsked = 1_000

/**
 * What runs at an address, or nothing where it does not say: then the store, which asks again, says why.
 */
export async function redisServerKind(source: SafeRedisSource): Promise<FoundServer | undefined> {
  return askRedis(source, async (call) => {
    const info = String(await call('INFO', 'server'))
    const mode = fieldOf(info, 'redis_mode')
    const runId = fieldOf(info, 'run_id') ?? ''
    if (mode === 'standalone') return { kind: 'server', runId }
    return mode === 'cluster' || mode === 'sentinel' ? { kind: mode, runId } : undefined
  })
}

/**
 * Refuses an address at which something else runs than the option is for.
 *
 * @throws {TidemarkError} TM_CLI_PLACE_OF_OTHER_KIND
 */
export function requireKind(
  said: string,
  address: string,
  due: RedisServerKind,
  found: FoundServer | undefined,
  instead: string = found === undefined ? '' : optionOf[found.kind],
): void {
  if (found === undefined || found.kind === due) return
  const details = { said, due: called[due], address, found: called[found.kind], instead }
  throw cliErrors.create('TM_CLI_PLACE_OF_OTHER_KIND', details)
}

/** Which of some keys stand there, or nothing where that cannot be asked. */
export function standingKeys(
  source: SafeRedisSource,
  keys: readonly string[],
): Promise<readonly boolean[] | undefined> {
  return askRedis(source, async (call) => {
    const answers = await Promise.all(keys.map((key) => call('EXISTS', key)))
    return answers.map((answer) => answer === 1)
  })
}

/** Whether a tail witness stands beside the checkpoints of a namespace, or nothing where that cannot be asked. */
export function hasWitness(source: SafeRedisSource, namespace: string): Promise<boolean | undefined> {
  return askRedis(source, async (call) => {
    const answer = await call('HMGET', `${namespace}:meta`, 'dispatch_topic', 'partition_count')
    const [topic, count] = Array.isArray(answer) ? (answer as readonly unknown[]) : []
    if (typeof topic !== 'string' || typeof count !== 'string' || !/^[1-9][0-9]{0,5}$/.test(count)) return undefined
    const asked = Math.min(Number(count), partitionsAsked)
    const keys = Array.from({ length: asked }, (_, partition) => `${namespace}:witness:${topic}:${partition}`)
    return Number(await call('EXISTS', ...keys)) > 0
  })
}

/** Asks over a connection of its own; a fault is no answer. */
async function askRedis<T>(
  named: SafeRedisSource,
  ask: (call: (name: string, ...args: string[]) => Promise<unknown>) => Promise<T | undefined>,
): Promise<T | undefined> {
  let close = (): void => undefined
  const asking = async (): Promise<T | undefined> => {
    const source = (await named.locate?.()) ?? named
    const client = source.newClient()
    close = () => client.disconnect()
    // Without a listener the client prints to the console.
    client.on('error', () => undefined)
    await client.connect()
    return ask((name, ...args) => client.call(name, args))
  }
  try {
    return await withDeadline(systemClock, 'asking what runs there', named.connectTimeoutMs, asking())
  } catch {
    return undefined
  } finally {
    close()
  }
}

function fieldOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
}
