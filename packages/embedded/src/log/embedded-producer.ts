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
import type { EmbeddedDurability } from '../files/framed-file.ts'
import { createSerialQueue } from '../files/serial-queue.ts'
import { requireDurability } from '../store/embedded-storage.ts'
import { NO_TRANSACTION } from './batch-codec.ts'
import type { TransactionId } from './batch-codec.ts'
import { openDecisionLog } from './decision-log.ts'
import type { DecisionLog } from './decision-log.ts'
import { allSettled, beginTransaction } from './embedded-transaction.ts'
import type { EmbeddedTransaction } from './embedded-transaction.ts'
import { clusterFile, LOG_LOCK } from './log-layout.ts'
import { groupRecords } from './new-record.ts'
import type { AppendedRecord, NewRecord } from './new-record.ts'
import type { PartitionLog } from './partition-log.ts'
import { encodeClusterFile, readClusterId } from './topic-file.ts'
import { createLogDirectories, createTopic, deleteTopic, openTopics } from './topic-store.ts'
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
    return openedProducer({ options, clusterId, lock, defaults, topics, decisions })
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

function openedProducer(opened: OpenedProducer): EmbeddedProducer {
  const { options, clusterId, lock, defaults, topics, decisions } = opened
  const { directory, clock = systemClock } = options
  const queue = createSerialQueue()
  const transactions = new Set<EmbeddedTransaction>()
  let closed = false
  const run = <T>(job: () => Promise<T>): Promise<T> =>
    queue.run(async () => {
      if (closed) throw embeddedErrors.create('TM_EMBEDDED_CLOSED', { what: 'the embedded producer' })
      lock.verify()
      return job()
    })
  const append = async (
    topic: string,
    records: readonly NewRecord[],
    transactionId: TransactionId,
    touched?: Set<PartitionLog>,
  ): Promise<readonly AppendedRecord[]> => {
    const { partitions } = requireTopic(topics, topic)
    const groups = groupRecords(topic, partitions.length, records, clock.wallMs())
    const appended: AppendedRecord[] = []
    await allSettled(
      groups.map(async (group) => {
        const log = partitions[group.partition]!
        touched?.add(log)
        const base = await log.append(group.records, transactionId)
        group.indexes.forEach((index, position) => {
          appended[index] = { partition: group.partition, offset: (base + BigInt(position)) as Offset }
        })
      }),
    )
    return appended
  }
  const create = async (topic: string, settings: TopicSettingsRequest): Promise<LogIdentity> => {
    topicNameOf(topic)
    checkLimit('partitionCount', settings.partitionCount, { min: 1, max: PARTITION_COUNT_MAX })
    if (topics.has(topic)) throw embeddedErrors.create('TM_EMBEDDED_TOPIC_EXISTS', { topic })
    const created = await createTopic(directory, clusterId, topic, settings, defaults)
    topics.set(topic, created)
    return created.description.identity
  }
  const remove = async (topic: string): Promise<OpenTopic> => {
    const found = requireTopic(topics, topic)
    topics.delete(topic)
    await deleteTopic(directory, found, defaults.durability)
    return found
  }
  return {
    clusterId,
    createTopic: (topic, settings) => run(() => create(topic, settings)),
    describeTopic: (topic) => run(async () => topics.get(topic)?.description.identity),
    deleteTopic: (topic) => run(async () => void (await remove(topic))),
    recreateTopic: (topic) =>
      run(async () => {
        const { description } = await remove(topic)
        const { retentionMs, cleanupPolicy } = description
        return create(topic, { partitionCount: description.identity.partitionCount, retentionMs, cleanupPolicy })
      }),
    append: (topic, records) => run(() => append(topic, records, NO_TRANSACTION)),
    beginTransaction() {
      const transaction = beginTransaction({
        run,
        append,
        decisions,
        isLive: (log) => [...topics.values()].some(({ partitions }) => partitions.includes(log)),
        ended: () => void transactions.delete(transaction),
      })
      transactions.add(transaction)
      return transaction
    },
    deleteRecordsBefore: (topic, partition, low) =>
      run(() => requirePartition(topics, topic, partition, low).deleteBefore(low)),
    truncate: (topic, partition, end) => run(() => requirePartition(topics, topic, partition, end).truncate(end)),
    skipOffsets: (topic, partition, count) =>
      run(() => {
        checkLimit('count', count, { min: 1, max: 2 ** 31 })
        return requirePartition(topics, topic, partition, undefined).skip(count)
      }),
    async close() {
      if (closed) return
      // What cannot be aborted here is aborted at the next opening; the directory is released either way.
      for (const transaction of [...transactions]) await transaction.abort().catch(() => undefined)
      await queue.run(async () => {
        closed = true
        for (const { partitions } of topics.values()) for (const each of partitions) await each.close()
        await decisions.close()
        lock.release()
      })
    },
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
