import type { CommutingWriter, IdempotentWriter, ProjectionStore } from '@tidemark/checkpoint'
import type { SafeRedisOptions, SafeRedisSource } from '@tidemark/redis/checkpoint'
import { cliErrors } from '../errors.ts'
import { loadClient } from './load-client.ts'
import type { RedisPlace } from './redis-place.ts'
import { hasWitness, redisServerKind, requireKind, standingKeys } from './redis-server-kind.ts'
import type { ServerAddress } from './server-address.ts'
import { splitHint } from './split-hint.ts'
import type { OpenStorePlace, StoreAccess } from './store-access.ts'

type Adapter = typeof import('@tidemark/redis/checkpoint')
type Place<Kind extends RedisPlace['kind']> = Extract<RedisPlace, { kind: Kind }>

/** What every place on Redis is opened with. */
interface Opening {
  readonly adapter: Adapter
  readonly access: StoreAccess
  readonly shared: Pick<SafeRedisOptions, 'connectionName' | 'commandDeadlineMs'>
}

/**
 * Opens a store's place on Redis, once it is known that what runs there is of the kind that was named.
 *
 * @throws {TidemarkError} TM_CLI_CLIENT_MISSING, TM_CLI_PLACE_OF_OTHER_KIND, and what the adapter says of its options.
 */
export async function openRedisPlace(
  place: RedisPlace,
  access: StoreAccess,
  deadlineMs: number,
): Promise<OpenStorePlace> {
  const adapter = await loadClient(flagOf(place), () => import('@tidemark/redis/checkpoint'))
  const shared = { connectionName: 'tidemark-command', commandDeadlineMs: deadlineMs }
  const opening = { adapter, access, shared }
  switch (place.kind) {
    case 'redis':
      return openServer(place, opening)
    case 'redis-sentinel':
      return openBehindSentinels(place, opening)
    case 'redis-cluster':
      return openCluster(place, opening)
    case 'redis-split':
      return openSplit(place, opening)
  }
}

function flagOf({ kind }: RedisPlace): string {
  return kind === 'redis-split' ? '--redis-data' : `--${kind}`
}

async function openServer(place: Place<'redis'>, opening: Opening): Promise<OpenStorePlace> {
  const redis = sourceAt(place, opening)
  requireKind(place.said, redis.address, 'server', await redisServerKind(redis))
  return onePrimary(redis, place.said, `redis at ${redis.address}/${redis.database}`, opening)
}

async function openBehindSentinels(place: Place<'redis-sentinel'>, opening: Opening): Promise<OpenStorePlace> {
  const { said, hosts, name, database, sentinelUsername, sentinelPassword } = place
  const { adapter, shared } = opening
  const tls = hosts.tls ? { tls: true } : {}
  const login = loginOf({ username: sentinelUsername, password: sentinelPassword })
  const asked = hosts.nodes.map((node) => adapter.createSafeRedis({ ...node, ...tls, ...shared, ...login }))
  const found = await Promise.all(asked.map(redisServerKind))
  asked.forEach(({ address }, index) => requireKind(said, address, 'sentinel', found[index]))
  const redis = adapter.createSafeRedisSentinel({
    ...{ sentinels: hosts.nodes, name, db: database, ...tls, ...shared, ...loginOf(hosts) },
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
  })
  return onePrimary(redis, said, `redis behind sentinels ${redis.address}/${redis.database}`, opening)
}

/** A place whose data and checkpoints stand side by side on one server at a time. */
function onePrimary(redis: SafeRedisSource, said: string, name: string, { adapter, access }: Opening): OpenStorePlace {
  const { kept, close } = keeper()
  return {
    name,
    store(namespace, dataPrefix = '') {
      const shared = { redis, namespace, dataPrefix }
      if (access.form !== 'two-step') return kept(adapter.createRedisProjectionStore({ ...shared, form: 'atomic' }))
      return kept(ofAnyWrite(adapter.createRedisProjectionStore({ ...shared, form: 'two-step' })))
    },
    data: (dataPrefix) => kept(adapter.createRedisDataReader({ redis, dataPrefix })),
    inspector: (namespace) => kept(adapter.createRedisStoreInspector({ redis, namespace })),
    hint: splitHint,
    async requireForm(namespace) {
      const [meta, twin] = (await standingKeys(redis, sidesOf(namespace))) ?? []
      if (meta !== false || twin !== true) return
      throw otherForm(said, redis.address, 'the data of a split store', '--redis-data and --redis-checkpoints')
    },
    close,
  }
}

async function openCluster(place: Place<'redis-cluster'>, opening: Opening): Promise<OpenStorePlace> {
  const { said, hosts } = place
  const { adapter, access, shared } = opening
  const tls = hosts.tls ? { tls: true } : {}
  const cluster = adapter.createSafeRedisCluster({ nodes: hosts.nodes, ...tls, ...shared, ...loginOf(hosts) })
  const asked = hosts.nodes.map((node) => cluster.sourceOf(node))
  const found = await Promise.all(asked.map(redisServerKind))
  asked.forEach(({ address }, index) => requireKind(said, address, 'cluster', found[index]))
  const { kept, close } = keeper()
  return {
    name: `redis cluster at ${cluster.address}`,
    store(namespace, dataPrefix = '') {
      const parts = { cluster, namespace, dataPrefix }
      // What the two-step form keeps beside its data is absent from the atomic one, so that it reads either; not the reverse.
      if (access.form === 'atomic') return kept(adapter.createRedisClusterProjectionStore({ ...parts, form: 'atomic' }))
      return kept(ofAnyWrite(adapter.createRedisClusterProjectionStore({ ...parts, form: 'two-step' })))
    },
    data: (dataPrefix) => kept(adapter.createRedisClusterDataReader({ cluster, dataPrefix })),
    inspector: (namespace) => kept(adapter.createRedisClusterStoreInspector({ cluster, namespace })),
    close,
  }
}

async function openSplit(place: Place<'redis-split'>, opening: Opening): Promise<OpenStorePlace> {
  const { adapter } = opening
  const [data, checkpoints] = [sourceAt(place.data, opening), sourceAt(place.checkpoints, opening)]
  const found = await Promise.all([redisServerKind(data), redisServerKind(checkpoints)])
  const instead = '--redis-data and --redis-checkpoints, which take two single servers only'
  requireKind(place.data.said, data.address, 'server', found[0], instead)
  requireKind(place.checkpoints.said, checkpoints.address, 'server', found[1], instead)
  const isOne = found[0] !== undefined && found[0].runId !== '' && found[0].runId === found[1]?.runId
  if (isOne && data.database === checkpoints.database) {
    const reason = `${place.data.said} and ${place.checkpoints.said} name one server; a store on one server is --redis`
    throw cliErrors.create('TM_CLI_USAGE', { reason })
  }
  const { kept, close } = keeper()
  const at = ({ address, database }: SafeRedisSource): string => `${address}/${database}`
  return {
    name: `redis, split: data at ${at(data)}, checkpoints at ${at(checkpoints)}`,
    store: (namespace, dataPrefix = '') =>
      kept(adapter.createRedisSplitProjectionStore({ data, checkpoints, namespace, dataPrefix })),
    data: (dataPrefix) => kept(adapter.createRedisDataReader({ redis: data, dataPrefix })),
    inspector(namespace) {
      const own = kept(adapter.createRedisStoreInspector({ redis: checkpoints, namespace }))
      // What is set aside is set aside with the data; what a start may take for a checkpoint stands with the checkpoints.
      const beside = kept(adapter.createRedisStoreInspector({ redis: data, namespace: `${namespace}:twin` }))
      return {
        readQuarantine: (request) => beside.readQuarantine(request),
        scanKeys: (signal) => own.scanKeys(signal),
        close: async () => void (await Promise.all([own.close(), beside.close()])),
      }
    },
    requireForm: (namespace) => requireHalves(place, data, checkpoints, namespace),
    close,
  }
}

/** Refuses two servers that hold a split store the other way round, or the whole of a store where the checkpoints should be. */
async function requireHalves(
  place: Place<'redis-split'>,
  data: SafeRedisSource,
  checkpoints: SafeRedisSource,
  namespace: string,
): Promise<void> {
  const keys = sidesOf(namespace)
  const [atData, atCheckpoints] = await Promise.all([standingKeys(data, keys), standingKeys(checkpoints, keys)])
  if (atData === undefined || atCheckpoints === undefined || atData[1] === true) return
  const { said } = place.checkpoints
  if (atCheckpoints[0] === false && atCheckpoints[1] === true) {
    throw otherForm(said, checkpoints.address, 'the data of the split store', `${place.data.said}, the two exchanged`)
  }
  // A split store keeps its witnesses with the data, and the server of the data knows nothing of this one.
  if (atCheckpoints[0] === true && (await hasWitness(checkpoints, namespace)) === true) {
    throw otherForm(said, checkpoints.address, 'the whole of a store on one server', '--redis')
  }
}

function sourceAt({ url, password }: ServerAddress, { adapter, shared }: Opening): SafeRedisSource {
  return adapter.createSafeRedis(url, { ...shared, ...(password === undefined ? {} : { password }) })
}

type Login = { readonly username: string | undefined; readonly password: string | undefined }

function loginOf({ username, password }: Login): Pick<SafeRedisOptions, 'username' | 'password'> {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) }
}

/** What stands on a server that keeps checkpoints, and what on one that keeps the data of a split store. */
function sidesOf(namespace: string): readonly [string, string] {
  return [`${namespace}:meta`, `${namespace}:twin:meta`]
}

function otherForm(said: string, address: string, found: string, instead: string): Error {
  const details = { said, due: 'where the checkpoints stand', address, found, instead }
  return cliErrors.create('TM_CLI_PLACE_OF_OTHER_KIND', details)
}

/** The project module comes without types; a write that does not commute is refused when it is made. */
function ofAnyWrite(store: ProjectionStore<CommutingWriter>): ProjectionStore<IdempotentWriter> {
  return store as unknown as ProjectionStore<IdempotentWriter>
}

/** Keeps what was opened, to close it together. */
function keeper(): { readonly kept: <T extends { close(): Promise<void> }>(each: T) => T; close(): Promise<void> } {
  const opened: { close(): Promise<void> }[] = []
  return {
    kept: (each) => (opened.push(each), each),
    close: async () => void (await Promise.allSettled(opened.map((each) => each.close()))),
  }
}
