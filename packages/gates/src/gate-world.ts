import { randomUUID } from 'node:crypto'
import { createProjection, undecodable } from '@tidemark/checkpoint'
import type { CommutingWriter, Projection, ProjectionOptions, ProjectionStatus } from '@tidemark/checkpoint'
import { createKafkaLog } from '@tidemark/kafka'
import type { LogRecord } from '@tidemark/log'
import { createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import { sharedKafkaBrokers, sharedRedisUrl } from '@tidemark/testkit/service'
import { Redis } from 'ioredis'
import { createKafkaAdmin } from './kafka-admin.ts'
import type { KafkaAdmin } from './kafka-admin.ts'

/** One topic on a real broker, one namespace on a real Redis, and projections between the two. */
export interface GateWorld {
  readonly topic: string
  readonly namespace: string
  readonly kafka: KafkaAdmin
  /** A plain client on the same Redis, for looking and for damaging. */
  readonly redis: Redis
  readonly users: string
  projection(overrides?: ProjectionOverrides): Projection
  /** `convs:<user>` as scores by conversation. */
  sessions(user: string): Promise<Readonly<Record<string, number>>>
  checkpoint(partition: number): Promise<string | null>
  /** Everything under the namespace and the users' keys, as stored bytes. */
  storedBytes(): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}

/** What a gate changes about a projection. */
export interface ProjectionOverrides extends Partial<Omit<ProjectionOptions<CommutingWriter>, 'topic'>> {
  readonly form?: RedisStepForm
  /** Another way to the same Redis, for example through a proxy. */
  readonly redisUrl?: string
  readonly brokers?: readonly string[]
  readonly commandDeadlineMs?: number
}

/** Where the services are. */
export interface GateServices {
  readonly brokers: readonly string[]
  readonly redisUrl: string
}

/** A dispatch of one conversation to several users. */
export function dispatch(conversation: string, createdAt: number, ...users: readonly string[]): string {
  return JSON.stringify({ conversation, createdAt, users })
}

/** The services every gate of a run shares. */
export async function sharedServices(): Promise<GateServices> {
  const [brokers, redisUrl] = await Promise.all([sharedKafkaBrokers(), sharedRedisUrl()])
  return { brokers, redisUrl }
}

/** A world of its own on shared services: fresh topic, fresh namespace, users nobody else writes. */
export async function openGateWorld(
  services: GateServices,
  partitions: number = 1,
  config: Readonly<Record<string, string>> = {},
): Promise<GateWorld> {
  const kafka = createKafkaAdmin(services.brokers)
  const topic = await kafka.createTopic(partitions, config)
  const id = randomUUID().slice(0, 8)
  const namespace = `session_projection_${id}`
  const users = `${id}-`
  const redis = new Redis(services.redisUrl)
  return {
    topic,
    namespace,
    kafka,
    redis,
    users,
    projection(overrides = {}) {
      const {
        form = 'atomic',
        redisUrl = services.redisUrl,
        brokers = services.brokers,
        commandDeadlineMs,
        ...rest
      } = overrides
      const source = createSafeRedis(redisUrl, commandDeadlineMs === undefined ? {} : { commandDeadlineMs })
      return createProjection<CommutingWriter>({
        topic,
        log: createKafkaLog({ brokers }),
        store:
          form === 'atomic'
            ? createRedisProjectionStore({ redis: source, namespace, form })
            : createRedisProjectionStore({ redis: source, namespace, form }),
        project: (record, write) => projectDispatch(record, write, users),
        readyTarget: 'hw',
        undecodable: 'stop',
        leaseMs: 500,
        limits: { batchRecordsMax: 100, stallMsMax: 8_000 },
        ...rest,
      })
    },
    async sessions(user) {
      const flat = await redis.zrange(`convs:${users}${user}`, '0', '-1', 'WITHSCORES')
      return Object.fromEntries(
        flat.flatMap((member, index) => (index % 2 === 0 ? [[member, Number(flat[index + 1])]] : [])),
      )
    },
    checkpoint: (partition) => redis.hget(`${namespace}:checkpoint:${topic}:${partition}`, 'next_offset'),
    async storedBytes() {
      const keys = [...(await redis.keys(`${namespace}:*`)), ...(await redis.keys(`convs:${users}*`))].sort()
      const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)))
      return Object.fromEntries(keys.map((key, index) => [key, dumps[index]!.toString('hex')]))
    },
    async close() {
      redis.disconnect()
      await kafka.close()
    },
  }
}

function projectDispatch(
  record: LogRecord,
  write: CommutingWriter,
  users: string,
): ReturnType<typeof undecodable> | void {
  const text = record.value === null ? '' : new TextDecoder().decode(record.value)
  if (!text.startsWith('{')) return undecodable('a JSON object is due')
  const parsed = JSON.parse(text) as { conversation: string; createdAt: number; users: readonly string[] }
  for (const user of parsed.users) write.zadd(`convs:${users}${user}`, 'GT', parsed.createdAt, parsed.conversation)
}

/** Waits until a status holds, at most 30 s. */
export async function untilStatus(projection: Projection, holds: (status: ProjectionStatus) => boolean): Promise<void> {
  const untilMs = performance.now() + 30_000
  while (!holds(projection.status())) {
    if (performance.now() > untilMs) throw new Error(`not reached in 30 s: ${JSON.stringify(projection.status())}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
