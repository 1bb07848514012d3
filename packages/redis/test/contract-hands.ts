import type { ProjectedValue } from '@tidemark/checkpoint'
import type { StoreCapability, StoreDamage } from '@tidemark/testkit/contract'
import type { Redis } from 'ioredis'
import { identity } from './redis-fixture.ts'
import type { KeyKind } from './redis-fixture.ts'

/** What a store on Redis lets its test do; what differs by form and topology is said beside each. */
export const redisCapabilities: Readonly<Record<StoreCapability, boolean>> = {
  damage: true,
  fingerprint: true,
  restart: true,
  'empty-restart': true,
  'full-vocabulary': true,
  'fenced-writes': true,
  // Lua does not roll back: what cannot be checked beforehand may leave repeatable writes behind.
  rollback: false,
  expiry: true,
  'quarantine-reading': true,
  'whole-bootstrap': true,
  'fenced-meta': true,
  'shared-keys': true,
  'one-process': true,
  'data-apart': false,
}

/** Where a store keeps its keys: how they are named, and which client reaches each. */
export interface StorePlace {
  keysOf(partition?: number): Readonly<Record<KeyKind, string>>
  clientOf(key: string): Redis
}

/** The places of a store: one, or two where the data has keys of its own beside it. */
export interface StorePlaces {
  /** Where positions lie; they are damaged in all of these alike. */
  readonly positions: readonly StorePlace[]
  /** Where meta, fences and keys of another kind are damaged. */
  readonly struck: readonly StorePlace[]
  /** Where data and witnesses lie. */
  readonly data: StorePlace
  /** The name a data key has on the server. */
  dataKey(key: string): string
}

/** Changes behind the store's back, made as an operator's shell would. */
export function redisDamage({ positions, struck, data, dataKey }: StorePlaces): StoreDamage {
  type NameOf = (place: StorePlace) => string
  const inAll = async (places: readonly StorePlace[], nameOf: NameOf, change: Change): Promise<readonly string[]> =>
    Promise.all(
      places.map(async (place) => {
        const key = nameOf(place)
        await change(place.clientOf(key), key)
        return key
      }),
    )
  return {
    setMetaField: async (field, text) =>
      void (await inAll(struck, (place) => place.keysOf().meta, setField(field, text))),
    removeMeta: async () => void (await inAll(struck, (place) => place.keysOf().meta, setText(undefined))),
    setCheckpointField: async (_topic, partition, field, text) =>
      void (await inAll(positions, (place) => place.keysOf(partition).checkpoint, setField(field, text))),
    removeCheckpoint: async (_topic, partition) =>
      void (await inAll(positions, (place) => place.keysOf(partition).checkpoint, setText(undefined))),
    setFence: async (_topic, partition, text) =>
      void (await inAll(struck, (place) => place.keysOf(partition).fence, setText(text))),
    setWitness: async (_topic, partition, text) =>
      void (await inAll([data], (place) => place.keysOf(partition).witness, setText(text))),
    putWrongKind: (target) =>
      inAll(
        struck,
        (place) => (target === 'meta' ? place.keysOf().meta : place.keysOf(target.partition).checkpoint),
        async (client, key) => {
          await client.del(key)
          await client.rpush(key, 'not a hash')
        },
      ),
    putString: async (key, text) => void (await inAll([data], () => dataKey(key), setText(text))),
  }
}

type Change = (client: Redis, key: string) => Promise<void>

/** Sets a field of a hash, or removes it. */
export function setField(field: string, text: string | undefined): Change {
  return async (client, key) =>
    void (await (text === undefined ? client.hdel(key, field) : client.hset(key, field, text)))
}

/** Sets a string, or removes the key. */
export function setText(text: string | undefined): Change {
  return async (client, key) => void (await (text === undefined ? client.del(key) : client.set(key, text)))
}

/** Data keys read by plain commands, without anything of ours in between. */
export function readPlainly(place: StorePlace, names: readonly string[]): Promise<readonly ProjectedValue[]> {
  return Promise.all(names.map((name) => readValue(place.clientOf(name), name)))
}

async function readValue(client: Redis, key: string): Promise<ProjectedValue> {
  const type = await client.type(key)
  switch (type) {
    case 'none':
      return { kind: 'absent' }
    case 'string':
      return { kind: 'string', value: (await client.get(key))! }
    case 'hash':
      return { kind: 'hash', fields: new Map(Object.entries(await client.hgetall(key))) }
    case 'set':
      return { kind: 'set', members: new Set(await client.smembers(key)) }
    case 'zset': {
      const flat = await client.zrange(key, '0', '-1', 'WITHSCORES')
      const scores = new Map<string, number>()
      for (let at = 0; at < flat.length; at += 2) scores.set(flat[at]!, Number(flat[at + 1]))
      return { kind: 'sorted-set', scores }
    }
    default:
      throw new Error(`${key} is a ${type}`)
  }
}

/** The keys of a namespace in a cluster, by the names that lie in one slot with their checkpoint. */
export function clusterKeysOf(namespace: string, partition: number = 0): Readonly<Record<KeyKind, string>> {
  const meta = `${namespace}:meta`
  const checkpoint = `${namespace}:checkpoint:${identity.topic}:${partition}`
  return {
    meta,
    checkpoint,
    fence: `{${checkpoint}}:fence`,
    witness: `{${checkpoint}}:witness`,
    quarantine: `{${checkpoint}}:quarantine`,
    incarnation: `{${meta}}:incarnation`,
    partitions: `{${meta}}:partitions`,
  }
}
