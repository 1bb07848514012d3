import { randomUUID } from 'node:crypto'
import { createKafkaTopics } from './kafka-topics.ts'
import type { KafkaTopics } from './kafka-topics.ts'
import { called, rawClient, rawTimeoutMs } from './raw-kafka.ts'
import type { RawProducer } from './raw-kafka.ts'

/** A transaction left open until it is ended. */
export interface OpenTransaction {
  commit(): Promise<void>
  abort(): Promise<void>
}

/** What gates do to a cluster from outside: topics and records, by the official client, unguarded. */
export interface KafkaAdmin extends KafkaTopics {
  append(topic: string, partition: number, values: readonly (string | null)[]): Promise<void>
  /** Writes the values in one transaction and ends it as said. */
  transaction(topic: string, partition: number, values: readonly string[], end: 'commit' | 'abort'): Promise<void>
  openTransaction(topic: string, partition: number, values: readonly string[]): Promise<OpenTransaction>
  close(): Promise<void>
}

/** Connects to a cluster. */
export function createKafkaAdmin(brokers: readonly string[]): KafkaAdmin {
  const servers = { 'bootstrap.servers': brokers.join(',') }
  const topics = createKafkaTopics(brokers)
  const producers = new Set<RawProducer>()
  const connect = async (options: object): Promise<RawProducer> => {
    const producer = new rawClient.Producer({ ...servers, ...options })
    await called((done) => producer.connect({ timeout: rawTimeoutMs }, done))
    producer.setPollInterval(20)
    producers.add(producer)
    return producer
  }
  const retire = async (producer: RawProducer): Promise<void> => {
    producers.delete(producer)
    await called((done) => producer.disconnect(done))
  }
  let plain: Promise<RawProducer> | undefined
  const begin = async (topic: string, partition: number, values: readonly string[]): Promise<RawProducer> => {
    const producer = await connect({ 'transactional.id': randomUUID(), 'transaction.timeout.ms': 120_000 })
    await beginWith(producer, topic, partition, values)
    return producer
  }
  const end = async (producer: RawProducer, how: 'commit' | 'abort'): Promise<void> => {
    if (how === 'commit') await called((done) => producer.commitTransaction(rawTimeoutMs, done))
    else await called((done) => producer.abortTransaction(rawTimeoutMs, done))
    await retire(producer)
  }
  return {
    ...topics,
    async append(topic, partition, values) {
      const producer = await (plain ??= connect({ 'linger.ms': 2, 'topic.metadata.refresh.interval.ms': 500 }))
      for (const value of values) producer.produce(topic, partition, value === null ? null : Buffer.from(value), null)
      await called((done) => producer.flush(rawTimeoutMs, done))
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
      await topics.close()
    },
  }
}

async function beginWith(
  producer: RawProducer,
  topic: string,
  partition: number,
  values: readonly string[],
): Promise<void> {
  await called((done) => producer.initTransactions(rawTimeoutMs, done))
  await called((done) => producer.beginTransaction(done))
  for (const value of values) producer.produce(topic, partition, Buffer.from(value), null)
  await called((done) => producer.flush(rawTimeoutMs, done))
}
