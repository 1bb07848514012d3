import { Redis } from 'ioredis'
import { createProjection } from '@tidemark/checkpoint'
import type { CommutingWriter, Projection, ProjectionObserver } from '@tidemark/checkpoint'
import { createKafkaLog } from '@tidemark/kafka'
import type { CommittedLog, LogRecord } from '@tidemark/log'
import { createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import { readDispatch } from './dispatch-records.ts'
import { openRawConsumer } from './raw-consumer.ts'
import type { RawConsumer, RawMessage, RawStart } from './raw-consumer.ts'

/** Where the services are, and what is read. */
export interface Place {
  readonly brokers: readonly string[]
  readonly redisUrl: string
  readonly topic: string
  readonly partitions: number
}

/** Told of every confirmed piece of work: a partition, how many records, the next offset. */
export type Confirmed = (partition: number, records: number, next: number) => void

/** Our projection of the dispatches: the atomic form, every check on, as the guides show it. */
export function newProjection(
  place: Place,
  batch: number,
  options: { readonly log?: CommittedLog; readonly leaseMs?: number; readonly observer?: ProjectionObserver } = {},
): Projection {
  const { log = createKafkaLog({ brokers: place.brokers }), leaseMs = 1_000, observer } = options
  return createProjection<CommutingWriter>({
    topic: place.topic,
    log,
    store: createRedisProjectionStore({
      redis: createSafeRedis(place.redisUrl),
      namespace: 'session_projection',
      form: 'atomic',
    }),
    project: projectDispatch,
    readyTarget: 'hw',
    undecodable: 'stop',
    leaseMs,
    limits: { batchRecordsMax: batch, stallMsMax: 30_000 },
    ...(observer === undefined ? {} : { observer }),
  })
}

function projectDispatch(record: LogRecord, write: CommutingWriter): void {
  const { conversation, createdAt, users } = readDispatch(record.value!)
  for (const user of users) write.zadd(`convs:${user}`, 'GT', createdAt, conversation)
}

/** A hand-written loop: pull, one pipeline, and perhaps a checkpoint afterwards. */
export interface HandWrittenLoop {
  /** Handles one pull; the number of its records. Rejects when a write failed. */
  step(): Promise<number>
  close(): Promise<void>
}

/** The loop without a checkpoint of its own (its group commits by itself), or with a SET after every pipeline. */
export async function openHandWrittenLoop(
  place: Place,
  batch: number,
  checkpoint: 'none' | 'set',
  start: RawStart,
  confirmed: Confirmed,
): Promise<HandWrittenLoop> {
  const redis = new Redis(place.redisUrl, { lazyConnect: true })
  // A client without a listener prints every lost connection.
  redis.on('error', () => {})
  await redis.connect()
  const consumer = await openRawConsumer(place.brokers, place.topic, start)
  return {
    async step() {
      const messages = await consumer.pull(batch)
      if (messages.length === 0) return 0
      await writePipeline(redis, messages)
      const next = nextByPartition(messages)
      for (const [partition, { offset, records }] of next) confirmed(partition, records, offset)
      if (checkpoint === 'set') {
        const values = [...next].flatMap(([partition, { offset }]) => [`checkpoint:${partition}`, String(offset)])
        await redis.mset(...values)
      }
      return messages.length
    },
    close: () => closeBoth(consumer, redis),
  }
}

async function closeBoth(consumer: RawConsumer, redis: Redis): Promise<void> {
  await consumer.close()
  redis.disconnect()
}

async function writePipeline(redis: Redis, messages: readonly RawMessage[]): Promise<void> {
  const pipeline = redis.pipeline()
  for (const { value } of messages) {
    const { conversation, createdAt, users } = readDispatch(value!)
    for (const user of users) pipeline.zadd(`convs:${user}`, 'GT', createdAt, conversation)
  }
  const replies = await pipeline.exec()
  if (replies?.some(([error]) => error !== null) !== false) throw new Error('a write failed')
}

function nextByPartition(messages: readonly RawMessage[]): ReadonlyMap<number, { offset: number; records: number }> {
  const next = new Map<number, { offset: number; records: number }>()
  for (const { partition, offset } of messages) {
    const known = next.get(partition)
    if (known === undefined) next.set(partition, { offset: offset + 1, records: 1 })
    else {
      known.offset = offset + 1
      known.records += 1
    }
  }
  return next
}
