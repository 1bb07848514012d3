import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** A callback of the official client. */
export type Done<T = unknown> = (error: Error | null | undefined, value: T) => void

/** The part of the official client's raw producer that gates write with. */
export interface RawProducer {
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

/** The part of its raw admin client that gates shape a cluster with. */
export interface RawAdmin {
  createTopic(topic: object, timeoutMs: number, done: Done): void
  deleteTopic(topic: string, timeoutMs: number, done: Done): void
  createPartitions(topic: string, total: number, timeoutMs: number, done: Done): void
  deleteRecords(requests: readonly object[], options: object, done: Done): void
  describeTopics(topics: readonly string[], options: object, done: Done<readonly TopicDescription[]>): void
  disconnect(): void
}

/** A broker as the client describes it. */
export interface NodeDescription {
  readonly id: number
}

/** A topic as the client describes it. */
export interface TopicDescription {
  readonly error?: { readonly code: number }
  readonly partitions: readonly {
    readonly partition: number
    readonly leader?: NodeDescription | null
    readonly isr: readonly NodeDescription[]
    readonly replicas: readonly NodeDescription[]
  }[]
}

/** The official client, unguarded. */
export const rawClient = require('@confluentinc/kafka-javascript') as {
  readonly Producer: new (options: object) => RawProducer
  readonly AdminClient: { create(options: object): RawAdmin }
}

/** How long one call of it may take. */
export const rawTimeoutMs = 20_000

/** One call of it as a promise. */
export function called<T>(act: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => act((error, value) => (error ? reject(error) : resolve(value))))
}
