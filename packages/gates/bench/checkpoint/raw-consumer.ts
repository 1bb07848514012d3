import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

type Done<T = unknown> = (error: Error | null | undefined, value: T) => void

/** A record as the official client gives it. */
export interface RawMessage {
  readonly partition: number
  readonly offset: number
  readonly value: Buffer | null
}

interface RawClient {
  connect(options: object, done: Done): void
  disconnect(done: Done): void
  assign(positions: readonly object[]): void
  consume(count: number, done: Done<readonly RawMessage[]>): void
  setDefaultConsumeTimeout(timeoutMs: number): void
}

const { KafkaConsumer } = require('@confluentinc/kafka-javascript') as {
  readonly KafkaConsumer: new (global: object, topic: object) => RawClient
}

/** The official client as most programs use it: pull so many records, work, pull again. */
export interface RawConsumer {
  pull(count: number): Promise<readonly RawMessage[]>
  close(): Promise<void>
}

/** Where to start: explicit offsets by partition, or where the group's committed offsets say. */
export type RawStart = readonly number[] | { readonly group: string; readonly partitions: number }

/** Opens the client on every partition of a topic, with the fetch settings that ours has. */
export async function openRawConsumer(
  brokers: readonly string[],
  topic: string,
  start: RawStart,
): Promise<RawConsumer> {
  const byGroup = 'group' in start
  const consumer = new KafkaConsumer(
    {
      'bootstrap.servers': brokers.join(','),
      'group.id': byGroup ? start.group : `bench-${process.pid}-${performance.now()}`,
      'fetch.wait.max.ms': 100,
      'fetch.queue.backoff.ms': 20,
      'enable.auto.commit': byGroup,
      // The client's default of 5 s would make a killed process replay more and lose less.
      ...(byGroup ? { 'auto.commit.interval.ms': 500 } : {}),
    },
    { 'auto.offset.reset': 'earliest' },
  )
  await called((done) => consumer.connect({ timeout: 20_000 }, done))
  consumer.setDefaultConsumeTimeout(200)
  consumer.assign(
    byGroup
      ? Array.from({ length: start.partitions }, (_, partition) => ({ topic, partition }))
      : start.map((offset, partition) => ({ topic, partition, offset })),
  )
  return {
    pull: (count) => called((done) => consumer.consume(count, done)),
    close: async () => void (await called((done) => consumer.disconnect(done))),
  }
}

function called<T>(act: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => act((error, value) => (error ? reject(error) : resolve(value))))
}
