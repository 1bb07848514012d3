import { cliErrors } from '../errors.ts'
import type { PlaceOptions, PlaceSources } from './place-sources.ts'
import { namesSeveralHosts, parseRedisHosts } from './redis-hosts.ts'
import type { RedisHosts } from './redis-hosts.ts'
import { readServer } from './server-address.ts'
import type { ServerAddress } from './server-address.ts'

/** Where a store on Redis is. */
export type RedisPlace =
  | ({ readonly kind: 'redis' } & ServerAddress)
  | { readonly kind: 'redis-cluster'; readonly said: string; readonly hosts: RedisHosts }
  | {
      readonly kind: 'redis-sentinel'
      readonly said: string
      readonly hosts: RedisHosts
      /** The name under which the sentinels know the primary. */
      readonly name: string
      readonly database: number
      /** Of the sentinels themselves; that of the hosts is of the servers they watch. */
      readonly sentinelUsername: string | undefined
      readonly sentinelPassword: string | undefined
    }
  | { readonly kind: 'redis-split'; readonly data: ServerAddress; readonly checkpoints: ServerAddress }

/** The kinds of places on Redis. */
export type RedisKind = RedisPlace['kind']

/** A place on Redis, as options or the environment say; several hosts where one is due, and the reverse, are refused. */
export function readRedisPlace(kind: RedisKind, options: PlaceOptions, sources: PlaceSources): RedisPlace {
  switch (kind) {
    case 'redis':
      return { kind, ...oneServer(readServer('redis', options.redis, sources)) }
    case 'redis-cluster':
      return clusterPlace(readServer('redisCluster', options.redisCluster, sources))
    case 'redis-sentinel':
      return sentinelPlace(readServer('redisSentinel', options.redisSentinel, sources), sources)
    case 'redis-split':
      return splitPlace(options, sources)
  }
}

function oneServer(address: ServerAddress): ServerAddress {
  if (!namesSeveralHosts(address.url)) return address
  throw usage(`${address.said} names one server; several are --redis-cluster or --redis-sentinel`)
}

function clusterPlace({ said, url, password }: ServerAddress): RedisPlace {
  const hosts = withPassword(parseRedisHosts(url, said, 6379), password)
  const [database, ...more] = hosts.path
  if (more.length > 0 || (database !== undefined && database !== '0')) {
    throw usage(`${said}: a Cluster has database 0 only; leave out what stands behind its hosts`)
  }
  return { kind: 'redis-cluster', said, hosts }
}

function sentinelPlace({ said, url, password }: ServerAddress, { env, secrets }: PlaceSources): RedisPlace {
  const hosts = withPassword(parseRedisHosts(url, said, 26379), password)
  const [name = '', database = '0', ...more] = hosts.path
  if (name === '' || !/^(?:0|[1-9][0-9]{0,5})$/.test(database) || more.length > 0) {
    throw usage(`${said}: behind the sentinels stands the name of the primary, then its database: /name or /name/2`)
  }
  const sentinelUsername = set(env['REDIS_SENTINEL_USERNAME'])
  const sentinelPassword = set(env['REDIS_SENTINEL_PASSWORD'])
  secrets.add(sentinelPassword)
  // Credentials that nothing uses would look as if they were in force.
  if (sentinelUsername !== undefined && sentinelPassword === undefined) {
    throw usage('REDIS_SENTINEL_USERNAME is set without REDIS_SENTINEL_PASSWORD')
  }
  return { kind: 'redis-sentinel', said, hosts, name, database: Number(database), sentinelUsername, sentinelPassword }
}

function splitPlace(options: PlaceOptions, sources: PlaceSources): RedisPlace {
  const { redisData, redisCheckpoints } = options
  // One half from the command line and the other from a variable set long ago would be a pair that nobody named.
  if ((redisData === undefined) !== (redisCheckpoints === undefined)) {
    throw usage('--redis-data and --redis-checkpoints name the two servers of one store; say both')
  }
  const { env } = sources
  const [inData, inCheckpoints] = [set(env['REDIS_DATA_URL']), set(env['REDIS_CHECKPOINTS_URL'])]
  if (redisData === undefined && (inData === undefined || inCheckpoints === undefined)) {
    throw usage('REDIS_DATA_URL and REDIS_CHECKPOINTS_URL name the two servers of one store; set both')
  }
  const data = oneServer(readServer('redisData', redisData, sources))
  const checkpoints = oneServer(readServer('redisCheckpoints', redisCheckpoints, sources))
  if (data.url === checkpoints.url) {
    throw usage(`${data.said} and ${checkpoints.said} name one server; a store on one server is --redis`)
  }
  return { kind: 'redis-split', data, checkpoints }
}

function withPassword(hosts: RedisHosts, password: string | undefined): RedisHosts {
  return password === undefined ? hosts : { ...hosts, password }
}

/** An empty variable is one that is not set. */
function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

function usage(reason: string): Error {
  return cliErrors.create('TM_CLI_USAGE', { reason })
}
