import { waitUntilReady } from '../process/wait-until-ready.ts'
import { askRedis } from './ask-redis.ts'
import { startRedis } from './redis-server.ts'
import type { RedisServer } from './redis-server.ts'

/** How a primary with a replica and a sentinel is configured. */
export interface RedisFailoverOptions {
  /** Lines of redis.conf of both data servers. */
  readonly config?: Readonly<Record<string, string>>
  /** Where the replica fetches from, for example a proxy in front of the primary; the primary itself unless said. */
  readonly replicateFrom?: (primary: RedisServer) => Promise<{ readonly host: string; readonly port: number }>
  /** How long the primary may be silent before it counts as down. Default 500. */
  readonly downAfterMs?: number
}

/** A primary, its replica, and a sentinel that promotes the replica when the primary is gone. */
export interface RedisFailover {
  /** The server that was started as the primary, whatever it is by now. */
  readonly primary: RedisServer
  readonly replica: RedisServer
  readonly sentinel: RedisServer
  /** The name under which the sentinel knows them. */
  readonly primaryName: string
  /** Resolves once the replica holds everything that the primary has, and the primary knows. */
  replicated(): Promise<void>
  /** Resolves once the sentinel names the replica as the primary and the replica says so too. */
  failedOver(): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts the three servers; ready when the replica is in step and the sentinel knows it. */
export async function startRedisFailover(options: RedisFailoverOptions = {}): Promise<RedisFailover> {
  const servers: RedisServer[] = []
  const close = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.close())))
  const own = (server: RedisServer): RedisServer => {
    servers.push(server)
    return server
  }
  const primaryName = 'tidemark-primary'
  try {
    const primary = own(await startRedis({ config: { ...options.config, 'repl-diskless-sync-delay': '0' } }))
    const source = (await options.replicateFrom?.(primary)) ?? primary
    const replica = own(
      await startRedis({
        config: { ...options.config, replicaof: `${source.host} ${source.port}`, 'repl-timeout': '600' },
      }),
    )
    const replicated = (): Promise<void> => untilInStep(primary, replica)
    await replicated()
    // At offset 0 nothing was streamed yet, and nothing acknowledged. A message is streamed and changes no data.
    await askRedis(primary, 'PUBLISH', 'tidemark:started', '')
    await replicated()
    const sentinel = own(await startRedis({ isSentinel: true, config: sentinelLines(primaryName, primary, options) }))
    const failedOver = (): Promise<void> => untilPromoted(sentinel, primaryName, replica)
    await untilKnown(sentinel, primaryName)
    return { primary, replica, sentinel, primaryName, replicated, failedOver, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

function sentinelLines(
  name: string,
  primary: RedisServer,
  options: RedisFailoverOptions,
): Readonly<Record<string, string>> {
  return {
    [`sentinel monitor ${name}`]: `${primary.host} ${primary.port} 1`,
    [`sentinel down-after-milliseconds ${name}`]: String(options.downAfterMs ?? 500),
    [`sentinel failover-timeout ${name}`]: '5000',
  }
}

const offsetIn = (info: string, field: string): string | undefined => new RegExp(`${field}:(\\d+)`).exec(info)?.[1]

function untilInStep(primary: RedisServer, replica: RedisServer): Promise<void> {
  const probe = async (): Promise<string | undefined> => {
    const [sent, received] = await Promise.all([
      askRedis(primary, 'INFO', 'replication').catch(String),
      askRedis(replica, 'INFO', 'replication').catch(String),
    ])
    const offset = offsetIn(sent, 'master_repl_offset')
    const inStep = offset === offsetIn(received, 'slave_repl_offset') && received.includes('master_link_status:up')
    // A primary streams to a new replica only from its first acknowledgement on, up to a second after the link is up.
    const acknowledged = new RegExp(`^slave0:.*state=online,offset=${offset},`, 'm').test(sent)
    return inStep && acknowledged ? undefined : `${sent.slice(0, 200)} ${received.slice(0, 200)}`
  }
  return waitUntilReady({ service: 'Redis replica', address: `127.0.0.1:${replica.port}`, timeoutMs: 20_000, probe })
}

function untilKnown(sentinel: RedisServer, name: string): Promise<void> {
  const probe = async (): Promise<string | undefined> => {
    const known = await askRedis(sentinel, 'SENTINEL', 'REPLICAS', name).catch(String)
    return known.includes('runid') && !known.startsWith('*0') ? undefined : known.slice(0, 200)
  }
  return waitUntilReady({ service: 'Redis sentinel', address: `127.0.0.1:${sentinel.port}`, timeoutMs: 20_000, probe })
}

function untilPromoted(sentinel: RedisServer, name: string, replica: RedisServer): Promise<void> {
  const probe = async (): Promise<string | undefined> => {
    const named = await askRedis(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name).catch(String)
    const role = await askRedis(replica, 'ROLE').catch(String)
    return named.includes(String(replica.port)) && role.includes('master')
      ? undefined
      : `${named} ${role}`.slice(0, 200)
  }
  return waitUntilReady({ service: 'Redis failover', address: `127.0.0.1:${replica.port}`, timeoutMs: 30_000, probe })
}
