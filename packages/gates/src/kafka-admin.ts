import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

type Done<T = unknown> = (error: Error | null | undefined, value: T) => void

/** The part of the official client's raw producer that gates write with. */
interface RawProducer {
  connect(options: object, done: Done): void
  disconnect(done: Done): void
  setPollInterval(intervalMs: number): void
  produce(topic: string, partition: number, value: Buffer | null, key: string | null): void
  flush(timeoutMs: number, done: Done): void
  initTransactions(timeoutMs: number, done: Done): void
  beginTransaction(done: Done): void
  commitTransaction(timeoutMs: number, done: Done): void
  abortTransaction(timeoutMs: number, done: Done): void
}

interface RawAdmin {
  createTopic(topic: object, timeoutMs: number, done: Done): void
  deleteTopic(topic: string, timeoutMs: number, done: Done): void
  createPartitions(topic: string, total: number, timeoutMs: number, done: Done): void
  deleteRecords(requests: readonly object[], options: object, done: Done): void
  describeTopics(topics: readonly string[], options: object, done: Done<readonly TopicDescription[]>): void
  disconnect(): void
}

interface TopicDescription {
  readonly error?: { readonly code: number }
  readonly partitions: readonly { readonly leader?: unknown }[]
}

const client = require('@confluentinc/kafka-javascript') as {
  readonly Producer: new (options: object) => RawProducer
  readonly AdminClient: { create(options: object): RawAdmin }
}

const timeoutMs = 20_000

/** A transaction left open until it is ended. */
export interface OpenTransaction {
  commit(): Promise<void>
  abort(): Promise<void>
}

/** What gates do to a cluster from outside: topics and records, by the official client, unguarded. */
export interface KafkaAdmin {
  createTopic(partitions: number, config?: Readonly<Record<string, string>>): Promise<string>
  recreateTopic(topic: string, partitions: number): Promise<void>
  addPartitions(topic: string, total: number): Promise<void>
  deleteRecordsBelow(topic: string, partition: number, offset: number): Promise<void>
  append(topic: string, partition: number, values: readonly (string | null)[]): Promise<void>
  /** Writes the values in one transaction and ends it as said. */
  transaction(topic: string, partition: number, values: readonly string[], end: 'commit' | 'abort'): Promise<void>
  openTransaction(topic: string, partition: number, values: readonly string[]): Promise<OpenTransaction>
  close(): Promise<void>
}

/** Connects to a cluster. */
export function createKafkaAdmin(brokers: readonly string[]): KafkaAdmin {
  const servers = { 'bootstrap.servers': brokers.join(',') }
  const admin = client.AdminClient.create(servers)
  const producers = new Set<RawProducer>()
  const connect = async (options: object): Promise<RawProducer> => {
    const producer = new client.Producer({ ...servers, ...options })
    await called((done) => producer.connect({ timeout: timeoutMs }, done))
    producer.setPollInterval(20)
    producers.add(producer)
    return producer
  }
  const retire = async (producer: RawProducer): Promise<void> => {
    producers.delete(producer)
    await called((done) => producer.disconnect(done))
  }
  let plain: Promise<RawProducer> | undefined
  const create = async (topic: string, partitions: number, config: object): Promise<void> => {
    const spec = { topic, num_partitions: partitions, replication_factor: 1, config }
    await called((done) => admin.createTopic(spec, timeoutMs, done))
    await untilTopic(admin, topic, (count) => count === partitions)
  }
  const begin = async (topic: string, partition: number, values: readonly string[]): Promise<RawProducer> => {
    const producer = await connect({ 'transactional.id': randomUUID(), 'transaction.timeout.ms': 120_000 })
    await beginWith(producer, topic, partition, values)
    return producer
  }
  const end = async (producer: RawProducer, how: 'commit' | 'abort'): Promise<void> => {
    if (how === 'commit') await called((done) => producer.commitTransaction(timeoutMs, done))
    else await called((done) => producer.abortTransaction(timeoutMs, done))
    await retire(producer)
  }
  return {
    async createTopic(partitions, config = {}) {
      const topic = `dispatch-${randomUUID()}`
      await create(topic, partitions, config)
      return topic
    },
    async recreateTopic(topic, partitions) {
      await called((done) => admin.deleteTopic(topic, timeoutMs, done))
      await untilTopic(admin, topic, (count) => count === 0)
      await create(topic, partitions, {})
    },
    async addPartitions(topic, total) {
      await called((done) => admin.createPartitions(topic, total, timeoutMs, done))
      await untilTopic(admin, topic, (count) => count === total)
    },
    async deleteRecordsBelow(topic, partition, offset) {
      const options = { timeout: timeoutMs, operation_timeout: timeoutMs }
      await called((done) => admin.deleteRecords([{ topic, partition, offset }], options, done))
    },
    async append(topic, partition, values) {
      const producer = await (plain ??= connect({ 'linger.ms': 2, 'topic.metadata.refresh.interval.ms': 500 }))
      for (const value of values) producer.produce(topic, partition, value === null ? null : Buffer.from(value), null)
      await called((done) => producer.flush(timeoutMs, done))
    },
    async transaction(topic, partition, values, how) {
      await end(await begin(topic, partition, values), how)
    },
    async openTransaction(topic, partition, values) {
      const producer = await begin(topic, partition, values)
      return { commit: () => end(producer, 'commit'), abort: () => end(producer, 'abort') }
    },
    async close() {
      await Promise.all([...producers].map(retire))
      admin.disconnect()
    },
  }
}

async function beginWith(
  producer: RawProducer,
  topic: string,
  partition: number,
  values: readonly string[],
): Promise<void> {
  await called((done) => producer.initTransactions(timeoutMs, done))
  await called((done) => producer.beginTransaction(done))
  for (const value of values) producer.produce(topic, partition, Buffer.from(value), null)
  await called((done) => producer.flush(timeoutMs, done))
}

/** Waits until the topic shows so many partitions with leaders; 0 means it is gone. */
async function untilTopic(admin: RawAdmin, topic: string, holds: (partitions: number) => boolean): Promise<void> {
  const untilMs = performance.now() + 30_000
  for (;;) {
    const [description] = await called<readonly TopicDescription[]>((done) =>
      admin.describeTopics([topic], { timeout: timeoutMs }, done),
    )
    const known = description?.error === undefined || description.error.code === 0
    const led = known ? (description?.partitions.filter(({ leader }) => leader !== undefined).length ?? 0) : 0
    if (holds(led)) return
    if (performance.now() > untilMs) throw new Error(`topic ${topic} did not get there in 30 s`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function called<T>(act: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => act((error, value) => (error ? reject(error) : resolve(value))))
}
