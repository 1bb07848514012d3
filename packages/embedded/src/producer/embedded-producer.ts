import { randomBytes } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { topicNameOf } from '@tidemark/checkpoint'
import { checkLimit, systemClock } from '@tidemark/core'
import type { Clock, Offset } from '@tidemark/core'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import type { LogIdentity } from '@tidemark/log'
import { embeddedErrors } from '../errors.ts'
import { replaceFile, TEMPORARY_SUFFIX } from '../files/atomic-file.ts'
import { acquireDirectoryLock } from '../files/directory-lock.ts'
import type { DirectoryLock } from '../files/directory-lock.ts'
import { ioFailed } from '../files/framed-file.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import { createSerialQueue } from '../files/serial-queue.ts'
import type { SerialQueue } from '../files/serial-queue.ts'
import { requireDurability } from '../files/durability.ts'
import { NO_TRANSACTION } from '../log/batch-codec.ts'
import type { TransactionId } from '../log/batch-codec.ts'
import { openDecisionLog } from './decision-log.ts'
import type { DecisionLog } from './decision-log.ts'
import { allSettled, beginTransaction } from './embedded-transaction.ts'
import type { EmbeddedTransaction, TransactionHost } from './embedded-transaction.ts'
import { clusterFile, LOG_LOCK } from '../log/log-layout.ts'
import { groupRecords } from '../log/new-record.ts'
import type { AppendedRecord, NewRecord, PartitionRecords } from '../log/new-record.ts'
import type { PartitionLog } from './partition-log.ts'
import { encodeClusterFile, readClusterId } from '../log/topic-file.ts'
import { closeTopics, createLogDirectories, createTopic, deleteTopic, openTopics } from './topic-store.ts'
import type { OpenTopic, PartitionDefaults, TopicSettingsRequest } from './topic-store.ts'

/** How to open a log directory for writing. */
export interface EmbeddedProducerOptions {
  /** A directory of its own; the log is created there when absent. */
  readonly directory: string
  readonly durability: EmbeddedDurability
  readonly clock?: Clock
  /** When a segment has this size, the next append begins another. */
  readonly segmentBytesMax?: number
  /**
   * What to do when records that were acknowledged are gone (a power cut under `server` durability, a restored copy):
   * `refuse` to open, which is the default, or `accept` the shorter log as another leader epoch.
   */
  readonly lostRecords?: 'refuse' | 'accept'
}

/** The one writer of an embedded log. Calls run one after another, in the order made. */
export interface EmbeddedProducer {
  readonly clusterId: string
  createTopic(topic: string, settings: TopicSettingsRequest): Promise<LogIdentity>
  /** The topic's identity, or `undefined` when there is no such topic. */
  describeTopic(topic: string): Promise<LogIdentity | undefined>
  deleteTopic(topic: string): Promise<void>
  /** Deletes a topic and creates it again with the same settings: another id, an empty log. */
  recreateTopic(topic: string): Promise<LogIdentity>
  /** Appends records, one batch a partition. Answers in the order of the records, once they are as durable as declared. */
  append(topic: string, records: readonly NewRecord[]): Promise<readonly AppendedRecord[]>
  beginTransaction(): EmbeddedTransaction
  /** Removes every record below an offset, as retention does. */
  deleteRecordsBefore(topic: string, partition: number, low: Offset): Promise<void>
  /** Removes every record at and above an offset, as an unclean election does: same ids, next leader epoch. */
  truncate(topic: string, partition: number, end: Offset): Promise<void>
  /** Takes offsets that hold nothing, as compaction leaves them. */
  skipOffsets(topic: string, partition: number, count: number): Promise<void>
  /** Aborts open transactions and releases the directory. */
  close(): Promise<void>
}

/**
 * Opens a log directory for writing, creating the log where there is none.
 *
 * Transactions that a crash left open are aborted, decided ones finished.
 * Promises: EMB-3, EMB-10 to EMB-18.
 * @throws {TidemarkError} TM_EMBEDDED_LOCKED, TM_EMBEDDED_DAMAGED, TM_EMBEDDED_RECORDS_LOST,
 *   TM_EMBEDDED_DIRECTORY_FOREIGN, TM_EMBEDDED_OPTION_INVALID
 */
export async function createEmbeddedProducer(options: EmbeddedProducerOptions): Promise<EmbeddedProducer> {
  const { directory, durability, lostRecords = 'refuse' } = options
  requireDurability(durability)
  const segmentBytesMax = checkLimit('segmentBytesMax', options.segmentBytesMax ?? 16 * 1024 * 1024, {
    min: 1024,
    max: 2 ** 30,
  })
  await mkdir(directory, { recursive: true }).catch((cause: unknown) => {
    throw ioFailed('creating', directory, cause)
  })
  const lock = acquireDirectoryLock(directory, LOG_LOCK)
  try {
    const clusterId = await openCluster(directory, durability)
    const defaults: PartitionDefaults = { durability, segmentBytesMax, lostRecords }
    const topics = await openTopics(directory, defaults)
    const decisions = await openDecisionLog(directory, durability)
    await endOpenTransactions(topics, decisions)
    return new OpenProducer({ options, clusterId, lock, defaults, topics, decisions })
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openCluster(directory: string, durability: EmbeddedDurability): Promise<string> {
  const found = await readClusterId(directory)
  if (found.kind === 'cluster-id') {
    await createLogDirectories(directory)
    return found.clusterId
  }
  const file = clusterFile(directory)
  if (found.reason !== 'unreachable') {
    throw embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file, position: 0, reason: found.message })
  }
  const isOurs = (name: string): boolean => name.startsWith(LOG_LOCK) || name.endsWith(TEMPORARY_SUFFIX)
  const foreign = (await readdir(directory)).find((name) => !isOurs(name))
  // Records without the cluster's file are not a new log: giving them another identity would hide the loss.
  if (foreign !== undefined) throw embeddedErrors.create('TM_EMBEDDED_DIRECTORY_FOREIGN', { directory, found: foreign })
  const clusterId = randomBytes(16).toString('base64url')
  await replaceFile(file, durability, (write) => write(Buffer.from(encodeClusterFile(clusterId))))
  await createLogDirectories(directory)
  return clusterId
}

async function endOpenTransactions(topics: ReadonlyMap<string, OpenTopic>, decisions: DecisionLog): Promise<void> {
  for (const { partitions } of topics.values()) {
    for (const partition of partitions) {
      for (const transactionId of [...partition.openTransactions.keys()]) {
        await partition.mark(decisions.committed.has(transactionId) ? 'commit' : 'abort', transactionId)
      }
    }
  }
  if (decisions.committed.size > 0) await decisions.forget()
}

interface OpenedProducer {
  readonly options: EmbeddedProducerOptions
  readonly clusterId: string
  readonly lock: DirectoryLock
  readonly defaults: PartitionDefaults
  readonly topics: Map<string, OpenTopic>
  readonly decisions: DecisionLog
}

class OpenProducer implements EmbeddedProducer, TransactionHost {
  readonly clusterId: string
  readonly decisions: DecisionLog
  readonly #opened: OpenedProducer
  readonly #clock: Clock
  readonly #queue: SerialQueue = createSerialQueue()
  readonly #transactions = new Set<EmbeddedTransaction>()
  #closed = false

  constructor(opened: OpenedProducer) {
    this.#opened = opened
    this.clusterId = opened.clusterId
    this.decisions = opened.decisions
    this.#clock = opened.options.clock ?? systemClock
  }

  createTopic(topic: string, settings: TopicSettingsRequest): Promise<LogIdentity> {
    return this.run(() => this.#create(topic, settings))
  }

  describeTopic(topic: string): Promise<LogIdentity | undefined> {
    return this.run(async () => this.#opened.topics.get(topic)?.description.identity)
  }

  deleteTopic(topic: string): Promise<void> {
    return this.run(async () => void (await this.#remove(topic)))
  }

  recreateTopic(topic: string): Promise<LogIdentity> {
    return this.run(async () => {
      const { identity, retentionMs, cleanupPolicy } = (await this.#remove(topic)).description
      return this.#create(topic, { partitionCount: identity.partitionCount, retentionMs, cleanupPolicy })
    })
  }

  append(topic: string, records: readonly NewRecord[]): Promise<readonly AppendedRecord[]> {
    return this.run(() => this.appendWithin(topic, records, NO_TRANSACTION, new Set()))
  }

  beginTransaction(): EmbeddedTransaction {
    const transaction = beginTransaction(this, () => void this.#transactions.delete(transaction))
    this.#transactions.add(transaction)
    return transaction
  }

  deleteRecordsBefore(topic: string, partition: number, low: Offset): Promise<void> {
    return this.run(() => requirePartition(this.#opened.topics, topic, partition, low).deleteBefore(low))
  }

  truncate(topic: string, partition: number, end: Offset): Promise<void> {
    return this.run(() => requirePartition(this.#opened.topics, topic, partition, end).truncate(end))
  }

  skipOffsets(topic: string, partition: number, count: number): Promise<void> {
    return this.run(() => {
      checkLimit('count', count, { min: 1, max: 2 ** 31 })
      return requirePartition(this.#opened.topics, topic, partition, undefined).skip(count)
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    // What cannot be aborted here is aborted at the next opening; the directory is released either way.
    for (const transaction of [...this.#transactions]) await transaction.abort().catch(() => undefined)
    await this.#queue.run(async () => {
      if (this.#closed) return
      this.#closed = true
      await closeTopics(this.#opened.topics.values())
      await this.decisions.close()
      this.#opened.lock.release()
    })
  }

  run<T>(job: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      if (this.#closed) throw embeddedErrors.create('TM_EMBEDDED_CLOSED', { what: 'the embedded producer' })
      this.#opened.lock.verify()
      return job()
    })
  }

  isLive(log: PartitionLog): boolean {
    return [...this.#opened.topics.values()].some(({ partitions }) => partitions.includes(log))
  }

  async appendWithin(
    topic: string,
    records: readonly NewRecord[],
    transactionId: TransactionId,
    touched: Set<PartitionLog>,
  ): Promise<readonly AppendedRecord[]> {
    const { partitions } = requireTopic(this.#opened.topics, topic)
    const groups = groupRecords(topic, partitions.length, records, this.#clock.wallMs())
    const appended: AppendedRecord[] = []
    const appendGroup = async (group: PartitionRecords): Promise<void> => {
      const log = partitions[group.partition]!
      touched.add(log)
      const base = await log.append(group.records, transactionId)
      group.indexes.forEach((index, position) => {
        appended[index] = { partition: group.partition, offset: (base + BigInt(position)) as Offset }
      })
    }
    await allSettled(groups.map(appendGroup))
    return appended
  }

  async #create(topic: string, settings: TopicSettingsRequest): Promise<LogIdentity> {
    const { options, topics, defaults } = this.#opened
    topicNameOf(topic)
    checkLimit('partitionCount', settings.partitionCount, { min: 1, max: PARTITION_COUNT_MAX })
    if (topics.has(topic)) throw embeddedErrors.create('TM_EMBEDDED_TOPIC_EXISTS', { topic })
    const created = await createTopic(options.directory, this.clusterId, topic, settings, defaults)
    topics.set(topic, created)
    return created.description.identity
  }

  async #remove(topic: string): Promise<OpenTopic> {
    const { options, topics, defaults } = this.#opened
    const found = requireTopic(topics, topic)
    topics.delete(topic)
    await deleteTopic(options.directory, found, defaults.durability)
    return found
  }
}

function requireTopic(topics: ReadonlyMap<string, OpenTopic>, topic: string): OpenTopic {
  const found = topics.get(topic)
  if (found === undefined) throw embeddedErrors.create('TM_EMBEDDED_TOPIC_UNKNOWN', { topic })
  return found
}

function requirePartition(
  topics: ReadonlyMap<string, OpenTopic>,
  topic: string,
  partition: number,
  offset: Offset | undefined,
): PartitionLog {
  const { partitions } = requireTopic(topics, topic)
  checkLimit('partition', partition, { min: 0, max: partitions.length - 1 })
  const log = partitions[partition]!
  const { low, highWatermark } = log.bounds
  if (offset !== undefined && (offset < low || offset > highWatermark)) {
    const values = { offset: String(offset), low: String(low), highWatermark: String(highWatermark) }
    throw embeddedErrors.create('TM_EMBEDDED_OFFSET_OUT_OF_RANGE', { topic, partition, ...values })
  }
  return log
}
