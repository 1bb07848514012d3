import { createRequire } from 'node:module'
import { randomUUID } from 'node:crypto'
import type { Offset } from '@tidemark/core'
import { offsetOf } from '@tidemark/core'
import { judgeSurvey } from '@tidemark/log'
import { createKafkaInspector } from '../src/index.ts'
import type { LogReader, LogRecord, PartitionBatch, PollResult, ReadFailure } from '@tidemark/log'

const require = createRequire(import.meta.url)
type Callback<T = unknown> = (error: { code: number; message: string } | null | undefined, value: T) => void

interface RawProducer {
  connect(options: object, done: Callback): void
  disconnect(done: Callback): void
  setPollInterval(intervalMs: number): void
  produce(
    topic: string,
    partition: number,
    value: Buffer | null,
    key: Buffer | string | null,
    timestamp?: number,
    opaque?: unknown,
    headers?: readonly object[],
  ): void
  flush(timeoutMs: number, done: Callback): void
  initTransactions(timeoutMs: number, done: Callback): void
  beginTransaction(done: Callback): void
  commitTransaction(timeoutMs: number, done: Callback): void
  abortTransaction(timeoutMs: number, done: Callback): void
}

interface RawAdmin {
  createTopic(topic: object, timeoutMs: number, done: Callback): void
  deleteTopic(topic: string, timeoutMs: number, done: Callback): void
  createPartitions(topic: string, total: number, timeoutMs: number, done: Callback): void
  deleteRecords(requests: readonly object[], options: object, done: Callback): void
  disconnect(): void
}

interface RawClient {
  readonly Producer: new (global: object, topic?: object) => RawProducer
  readonly KafkaConsumer: new (global: object, topic: object) => RawConsumer
  readonly AdminClient: { create(options: object): RawAdmin }
}

/** The unguarded consumer, for what tests set up behind the library's back. */
export interface RawConsumer {
  connect(options: object, done: Callback<RawMetadata>): void
  disconnect(done: Callback): void
  commitSync(positions: readonly object[]): void
  assign(positions: readonly object[]): void
  consume(max: number, done: Callback<readonly { partition: number; offset: number }[]>): void
  setDefaultConsumeTimeout(timeoutMs: number): void
}

/** Cluster metadata of the unguarded client. */
export interface RawMetadata {
  readonly brokers: readonly { readonly id: number; readonly host: string; readonly port: number }[]
}

/** The unguarded official client. */
export const rawClient = require('@confluentinc/kafka-javascript') as RawClient

/** A callback as a promise. */
export const called = <T>(act: (done: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) =>
    act((error, value) => (error === null || error === undefined ? resolve(value) : reject(error as unknown as Error))),
  )

export const sleep = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs))

/** Waits until a condition of the cluster holds, at most 30 s. */
export async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + 30_000
  while (!(await condition())) {
    if (performance.now() > until) throw new Error('the cluster did not get there in 30 s')
    await sleep(50)
  }
}

export const at = (value: number): Offset => offsetOf(value)

/** Sets up topics and records on one cluster; `close` releases its clients. */
export interface KafkaFixture {
  readonly brokers: readonly string[]
  createTopic(
    partitions?: number,
    config?: Readonly<Record<string, string>>,
    name?: string,
    replicas?: number,
  ): Promise<string>
  deleteTopic(topic: string): Promise<void>
  recreateTopic(topic: string, partitions?: number): Promise<void>
  addPartitions(topic: string, total: number): Promise<void>
  deleteRecordsBelow(topic: string, partition: number, offset: number): Promise<void>
  /** Appends records named `<prefix><i>` outside transactions. */
  append(topic: string, partition: number, count: number, prefix?: string): Promise<void>
  /** Appends records in one transaction; `open` leaves it open and returns how to end it. */
  transaction(topic: string, partition: number, count: number, end: 'commit' | 'abort'): Promise<void>
  openTransaction(
    topic: string,
    partition: number,
    count: number,
  ): Promise<{ commit(): Promise<void>; abort(): Promise<void> }>
  producer(): Promise<RawProducer>
  close(): Promise<void>
}

export async function openFixture(brokers: readonly string[]): Promise<KafkaFixture> {
  const servers = { 'bootstrap.servers': brokers.join(',') }
  const admin = rawClient.AdminClient.create({ ...servers })
  const inspector = createKafkaInspector({ brokers })
  const producers: RawProducer[] = []
  const connectProducer = async (extra: object): Promise<RawProducer> => {
    const producer = new rawClient.Producer({ ...servers, ...extra })
    await called((done) => producer.connect({ timeout: 20_000 }, done))
    producer.setPollInterval(20)
    producers.push(producer)
    return producer
  }
  let plain: Promise<RawProducer> | undefined
  const begin = async (topic: string, partition: number, count: number): Promise<RawProducer> => {
    const producer = await connectProducer({ 'transactional.id': randomUUID(), 'transaction.timeout.ms': 120_000 })
    await called((done) => producer.initTransactions(20_000, done))
    await called((done) => producer.beginTransaction(done))
    for (let i = 0; i < count; i += 1) producer.produce(topic, partition, Buffer.from(`t${i}`), 'k')
    await called((done) => producer.flush(20_000, done))
    return producer
  }
  const retire = async (producer: RawProducer): Promise<void> => {
    producers.splice(producers.indexOf(producer), 1)
    await called((done) => producer.disconnect(done))
  }
  const createTopic: KafkaFixture['createTopic'] = async (
    partitions = 1,
    config = {},
    name = `t-${randomUUID()}`,
    replicas = 1,
  ) => {
    const spec = { topic: name, num_partitions: partitions, replication_factor: replicas, config }
    await called((done) => admin.createTopic(spec, 20_000, done))
    // The controller has it; a test begins when every broker shows it with leaders.
    await waitFor(async () => {
      const verdict = judgeSurvey(await inspector.surveyIdentity(name, { deadlineMs: 5000 }), undefined)
      return verdict.kind === 'proven' && verdict.identity.partitionCount === partitions
    })
    return name
  }
  const deleteTopic = async (topic: string): Promise<void> => {
    await called((done) => admin.deleteTopic(topic, 20_000, done))
    await waitFor(async () => {
      const verdict = judgeSurvey(await inspector.surveyIdentity(topic, { deadlineMs: 5000 }), undefined)
      return verdict.kind === 'unproven' && verdict.reason === 'unknown-topic'
    })
  }
  return {
    brokers,
    createTopic,
    deleteTopic,
    async recreateTopic(topic, partitions = 1) {
      await deleteTopic(topic)
      await createTopic(partitions, {}, topic)
    },
    async addPartitions(topic, total) {
      await called((done) => admin.createPartitions(topic, total, 20_000, done))
      await waitFor(async () => {
        const verdict = judgeSurvey(await inspector.surveyIdentity(topic, { deadlineMs: 5000 }), undefined)
        return verdict.kind === 'proven' && verdict.identity.partitionCount === total
      })
    },
    async deleteRecordsBelow(topic, partition, offset) {
      const options = { timeout: 20_000, operation_timeout: 20_000 }
      await called((done) => admin.deleteRecords([{ topic, partition, offset }], options, done))
    },
    async append(topic, partition, count, prefix = 'v') {
      const producer = await (plain ??= connectProducer({ 'linger.ms': 5, 'topic.metadata.refresh.interval.ms': 500 }))
      for (let i = 0; i < count; i += 1) {
        producer.produce(topic, partition, Buffer.from(`${prefix}${i}`), 'k')
        if (i % 20_000 === 19_999) await called((done) => producer.flush(30_000, done))
      }
      await called((done) => producer.flush(30_000, done))
    },
    async transaction(topic, partition, count, end) {
      const producer = await begin(topic, partition, count)
      if (end === 'commit') await called((done) => producer.commitTransaction(20_000, done))
      else await called((done) => producer.abortTransaction(20_000, done))
      await retire(producer)
      // The end is acknowledged before its marker is in the log; later records would come before the marker.
      await waitFor(async () => {
        const verdict = judgeSurvey(await inspector.surveyIdentity(topic, { deadlineMs: 5000 }), undefined)
        if (verdict.kind !== 'proven') return false
        const reading = await inspector.readBounds(topic, verdict.identity.partitionCount, { deadlineMs: 5000 })
        if (reading.kind !== 'bounds') return false
        const { lastStableOffset, highWatermark } = reading.partitions[partition]!
        return lastStableOffset === highWatermark
      })
    },
    async openTransaction(topic, partition, count) {
      const producer = await begin(topic, partition, count)
      return {
        async commit() {
          await called((done) => producer.commitTransaction(20_000, done))
          await retire(producer)
        },
        async abort() {
          await called((done) => producer.abortTransaction(20_000, done))
          await retire(producer)
        },
      }
    },
    producer: () => (plain ??= connectProducer({ 'linger.ms': 5 })),
    async close() {
      await Promise.all(producers.map((producer) => called((done) => producer.disconnect(done))))
      admin.disconnect()
      await inspector.close()
    },
  }
}

/** Everything a reader delivered until a condition held. */
export interface Delivered {
  readonly records: readonly LogRecord[]
  readonly ends: ReadonlyMap<number, Offset>
  readonly failure: ReadFailure | undefined
}

/** Polls until `enough`, a failure or the time is up; never throws for what the log does. */
export async function readUntil(
  reader: LogReader,
  enough: (delivered: Delivered) => boolean,
  timeoutMs: number = 15_000,
  recordsMax: number = 500,
): Promise<Delivered> {
  const records: LogRecord[] = []
  const ends = new Map<number, Offset>()
  let failure: ReadFailure | undefined
  const until = performance.now() + timeoutMs
  const delivered = (): Delivered => ({ records, ends, failure })
  while (performance.now() < until && !enough(delivered())) {
    const result: PollResult = await reader.poll({ recordsMax, waitMs: 100 })
    if (result.kind === 'failed') {
      failure = result.failure
      break
    }
    for (const batch of result.batches as readonly PartitionBatch[]) {
      records.push(...batch.records)
      if (batch.endOffset !== undefined) ends.set(batch.partition, batch.endOffset)
    }
  }
  return delivered()
}

/** Ends of partitions as plain numbers, for short expectations. */
export const endsOf = (delivered: Delivered): Record<number, number> =>
  Object.fromEntries([...delivered.ends].map(([partition, end]) => [partition, Number(end)]))

/** Offsets of one partition's records as plain numbers. */
export const offsetsOf = (delivered: Delivered, partition: number = 0): readonly number[] =>
  delivered.records.filter((record) => record.partition === partition).map((record) => Number(record.offset))
