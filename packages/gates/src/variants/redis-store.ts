import { createProjection } from '@tidemark/checkpoint'
import type { ProjectionStore, CommutingWriter } from '@tidemark/checkpoint'
import { createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import type { StoreDamage } from '@tidemark/testkit/contract'
import { createCuttingProxy, sharedRedisUrl } from '@tidemark/testkit/service'
import type { CommandAction } from '@tidemark/testkit/service'
import { Redis } from 'ioredis'
import { dispatchOf } from '../dispatch.ts'
import type { ProjectionParts, StoreLine, StorePlace, StoreSide, StoreWorld } from './store-side.ts'

/** Where a write to Redis can be cut. */
const cuts = {
  'before the server sees it': { kind: 'cut-before-forward' },
  'inside the request': { kind: 'cut-in-request', bytes: 40 },
  'after the server ran it': { kind: 'cut-before-reply' },
  'inside the reply': { kind: 'cut-in-reply', bytes: 1 },
} as const satisfies Record<string, CommandAction>

/** A standalone Redis, in one of its two forms. */
export function redisStore(form: RedisStepForm): StoreSide {
  return {
    name: `redis ${form}`,
    writeModel: 'idempotent',
    keyed: true,
    cuts: Object.keys(cuts),
    open: (place) => openRedisWorld(form, place),
  }
}

async function openRedisWorld(form: RedisStepForm, place: StorePlace): Promise<StoreWorld> {
  const { namespace, topic, users } = place
  const url = place.address ?? (await sharedRedisUrl())
  const redis = new Redis(url)
  // A gate may kill the server; whatever is asked of it afterwards fails by itself.
  redis.on('error', () => undefined)
  const checkpointKey = (partition: number): string => `${namespace}:checkpoint:${topic}:${partition}`
  return {
    projection: (parts) => redisProjection(form, place, url, parts),
    async sessions(user) {
      const flat = await redis.zrange(`convs:${users}${user}`, '0', '-1', 'WITHSCORES')
      return Object.fromEntries(
        flat.flatMap((member, index) => (index % 2 === 0 ? [[member, Number(flat[index + 1])]] : [])),
      )
    },
    userCount: async () => (await redis.keys(`convs:${users}*`)).length,
    metaFields: () => redis.hgetall(`${namespace}:meta`),
    checkpointFields: (partition) => redis.hgetall(checkpointKey(partition)),
    checkpoint: async (partition) => (await redis.hget(checkpointKey(partition), 'next_offset')) ?? undefined,
    async storedBytes() {
      const keys = [...(await redis.keys(`${namespace}:*`)), ...(await redis.keys(`convs:${users}*`))].sort()
      const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)))
      return Object.fromEntries(keys.map((key, index) => [key, dumps[index]!.toString('hex')]))
    },
    damage: redisDamage(redis, namespace),
    async expireCheckpoint(partition) {
      await redis.expire(checkpointKey(partition), 3_600)
    },
    openLine: () => openRedisLine(url),
    async close() {
      redis.disconnect()
    },
  }
}

function redisProjection(
  form: RedisStepForm,
  { namespace, users }: StorePlace,
  url: string,
  parts: ProjectionParts,
): ReturnType<typeof createProjection> {
  const { storeAddress = url, commandDeadlineMs, ...options } = parts
  const redis = createSafeRedis(storeAddress, commandDeadlineMs === undefined ? {} : { commandDeadlineMs })
  const store: ProjectionStore<CommutingWriter> =
    form === 'atomic'
      ? createRedisProjectionStore({ redis, namespace, form })
      : createRedisProjectionStore({ redis, namespace, form })
  return createProjection<CommutingWriter>({
    ...options,
    store,
    project(record, write) {
      const dispatch = dispatchOf(record)
      if (dispatch.kind === 'undecodable') return dispatch
      for (const user of dispatch.users) {
        write.zadd(`convs:${users}${user}`, 'GT', dispatch.createdAt, dispatch.conversation)
      }
      return undefined
    },
  })
}

async function openRedisLine(url: string): Promise<StoreLine> {
  const { hostname, port } = new URL(url)
  const proxy = await createCuttingProxy({ target: { host: hostname, port: Number(port) }, framing: 'resp' })
  const program = (ahead: number, action: CommandAction): void => {
    const sent = proxy.connections()[0]!.commands.length
    proxy.program({ on: 'command', command: sent + ahead, connection: 1, action })
  }
  return {
    address: `redis://${proxy.host}:${proxy.port}`,
    markStep() {},
    cutNextStep: (cut) => program(1, cuts[cut as keyof typeof cuts]),
    cutMidStep: () => program(2, { kind: 'cut-before-forward' }),
    silence: () => proxy.silence(),
    close: () => proxy.close(),
  }
}

function redisDamage(redis: Redis, namespace: string): StoreDamage {
  const meta = `${namespace}:meta`
  const keyOf = (kind: string, topic: string, partition: number): string => `${namespace}:${kind}:${topic}:${partition}`
  const setField = async (key: string, field: string, text: string | undefined): Promise<void> => {
    await (text === undefined ? redis.hdel(key, field) : redis.hset(key, field, text))
  }
  const setText = async (key: string, text: string | undefined): Promise<void> => {
    await (text === undefined ? redis.del(key) : redis.set(key, text))
  }
  return {
    setMetaField: (field, text) => setField(meta, field, text),
    removeMeta: () => setText(meta, undefined),
    setCheckpointField: (topic, partition, field, text) => setField(keyOf('checkpoint', topic, partition), field, text),
    removeCheckpoint: (topic, partition) => setText(keyOf('checkpoint', topic, partition), undefined),
    setFence: (topic, partition, text) => setText(keyOf('fence', topic, partition), text),
    setWitness: (topic, partition, text) => setText(keyOf('witness', topic, partition), text),
    async putWrongKind(target) {
      const key = target === 'meta' ? meta : keyOf('checkpoint', target.topic, target.partition)
      await redis.del(key)
      await redis.set(key, 'not a hash')
      return key
    },
    putString: (key, text) => setText(key, text),
  }
}
