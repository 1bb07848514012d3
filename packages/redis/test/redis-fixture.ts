import { Redis } from 'ioredis'
import { checkpointKey, metaKey, namespaceOf } from '@tidemark/checkpoint'
import type {
  AdvanceOutcome,
  AdvanceRequest,
  CommutingWriter,
  ProjectionStore,
  QuarantineEntry,
} from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import type { Fence, LogIdentity, TailWitness } from '@tidemark/log'
import { createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisStepForm, SafeRedisOptions } from '@tidemark/redis/checkpoint'

/** The log the tests pretend to read from. */
export const identity: LogIdentity = {
  clusterId: 'kP0Zb6cXQx-redis',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 3,
}

export const readRequest = { topic: identity.topic, partitionCount: identity.partitionCount }

let namespaces = 0

/** A namespace no other test uses. */
export function freshNamespace(): string {
  namespaces += 1
  return `ns${namespaces}_${process.pid}`
}

/** A plain client for looking and damaging, as an operator's shell would. */
export async function adminClient(url: string): Promise<Redis> {
  const admin = new Redis(url, { lazyConnect: true })
  admin.on('error', () => undefined)
  await admin.connect()
  return admin
}

/** A store of either form, seen through the writes both have. */
export function openStore(
  url: string,
  form: RedisStepForm,
  namespace: string,
  more: { readonly redis?: SafeRedisOptions; readonly dataPrefix?: string } = {},
): ProjectionStore<CommutingWriter> {
  const redis = createSafeRedis(url, { commandDeadlineMs: 2_000, ...more.redis })
  const shared = { redis, namespace, ...(more.dataPrefix === undefined ? {} : { dataPrefix: more.dataPrefix }) }
  return form === 'atomic'
    ? createRedisProjectionStore({ ...shared, form: 'atomic' })
    : createRedisProjectionStore({ ...shared, form: 'two-step' })
}

/** A store with claimed fences. */
export interface Claimed<Writer = CommutingWriter> {
  readonly store: ProjectionStore<Writer>
  readonly fences: ReadonlyMap<number, Fence>
  readonly process: string
}

export async function claim<Writer>(store: ProjectionStore<Writer>): Promise<Claimed<Writer>> {
  const { fences } = await store.claim(readRequest)
  const { incarnation } = await store.read(readRequest)
  return { store, fences, process: incarnation.process }
}

export async function start<Writer>(store: ProjectionStore<Writer>): Promise<Claimed<Writer>> {
  const claimed = await claim(store)
  const { fences } = claimed
  const outcome = await store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
  if (outcome.kind !== 'created') throw new Error(`bootstrap: ${JSON.stringify(outcome)}`)
  return claimed
}

export interface StepWords<Writer = CommutingWriter> {
  readonly from: number | bigint
  readonly to: number | bigint
  readonly partition?: number
  readonly write?: (writer: Writer) => void
  readonly witness?: TailWitness
  readonly quarantine?: readonly QuarantineEntry[]
  readonly process?: string
}

export function request<Writer>(claimed: Claimed<Writer>, step: StepWords<Writer>): AdvanceRequest<Writer> {
  const partition = step.partition ?? 0
  const writes = claimed.store.newWrites()
  step.write?.(writes.writer)
  return {
    identity,
    partition,
    fence: claimed.fences.get(partition)!,
    process: step.process ?? claimed.process,
    from: offsetOf(step.from),
    to: offsetOf(step.to),
    writes,
    witness: step.witness ?? witnessAt(BigInt(step.to) - 1n),
    quarantine: step.quarantine ?? [],
  }
}

export function advance<Writer>(claimed: Claimed<Writer>, step: StepWords<Writer>): Promise<AdvanceOutcome> {
  return claimed.store.advance(request(claimed, step))
}

export function witnessAt(offset: bigint): TailWitness {
  const digest = offset.toString(16).padStart(64, '0')
  return { offset: offsetOf(offset < 0n ? 0n : offset), leaderEpoch: 3, digest }
}

export function keysOf(namespace: string, partition: number = 0): Readonly<Record<KeyKind, string>> {
  const name = namespaceOf(namespace)
  const side = (kind: string): string => `${namespace}:${kind}:${identity.topic}:${partition}`
  return {
    meta: metaKey(name),
    checkpoint: checkpointKey(name, identity.topic, partition),
    fence: side('fence'),
    witness: side('witness'),
    quarantine: side('quarantine'),
    incarnation: `${namespace}:incarnation`,
    partitions: `${namespace}:partitions`,
  }
}

/** What a key of a store is for. */
export type KeyKind = 'meta' | 'checkpoint' | 'fence' | 'witness' | 'quarantine' | 'incarnation' | 'partitions'

/** Every key of a server with its bytes and expiry, as one text. */
export async function fingerprint(admin: Redis, pattern: string = '*'): Promise<string> {
  const keys = (await admin.keys(pattern)).sort()
  const lines = await Promise.all(
    keys.map(async (key) => {
      const type = await admin.type(key)
      const content =
        type === 'string'
          ? await admin.get(key)
          : type === 'hash'
            ? Object.entries(await admin.hgetall(key)).sort(([a], [b]) => (a < b ? -1 : 1))
            : type === 'set'
              ? (await admin.smembers(key)).sort()
              : type === 'zset'
                ? await admin.zrange(key, '0', '-1', 'WITHSCORES')
                : await admin.lrange(key, 0, -1)
      return JSON.stringify([key, type, content, (await admin.pttl(key)) >= 0])
    }),
  )
  return lines.join('\n')
}
