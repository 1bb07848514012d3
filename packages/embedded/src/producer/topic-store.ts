import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { topicIdOf } from '@tidemark/core'
import type { LogIdentity } from '@tidemark/log'
import { embeddedErrors } from '../errors.ts'
import { replaceFile, syncDirectory, TEMPORARY_SUFFIX } from '../files/atomic-file.ts'
import { partitionDirectory, recordsDirectory, topicFile, topicsDirectory } from '../log/log-layout.ts'
import { createPartition, openPartitionLog } from './partition-log.ts'
import type { PartitionLog, PartitionLogOptions } from './partition-log.ts'
import { encodeTopicFile, readTopic } from '../log/topic-file.ts'
import type { CleanupPolicy, TopicDescription } from '../log/topic-file.ts'

/** A topic open for writing. */
export interface OpenTopic {
  readonly description: TopicDescription
  readonly partitions: readonly PartitionLog[]
}

/** What a topic keeps and how it is split. */
export interface TopicSettingsRequest {
  readonly partitionCount: number
  /** Milliseconds, -1 for ever (the default). Reported; records go only by `deleteRecordsBefore`. */
  readonly retentionMs?: bigint
  /** Reported; nothing is compacted. `delete` unless said. */
  readonly cleanupPolicy?: CleanupPolicy
}

/** How partitions of this log are opened. */
export type PartitionDefaults = Omit<PartitionLogOptions, 'directory'>

/** Opens every topic the directory names, and removes records that no topic names any more. */
export async function openTopics(directory: string, defaults: PartitionDefaults): Promise<Map<string, OpenTopic>> {
  const topics = new Map<string, OpenTopic>()
  try {
    for (const name of await readdir(topicsDirectory(directory))) {
      const topic = name.replace(/\.json$/, '')
      if (name.endsWith(TEMPORARY_SUFFIX)) await rm(join(topicsDirectory(directory), name), { force: true })
      else topics.set(topic, await openNamedTopic(directory, topic, defaults))
    }
  } catch (error) {
    await closeTopics(topics.values())
    throw error
  }
  const ids = new Set<string>([...topics.values()].map(({ description }) => description.identity.topicId))
  // A topic's file comes last at creation and goes first at deletion, so records without one are rubbish.
  for (const id of await readdir(recordsDirectory(directory))) {
    if (!ids.has(id)) await rm(join(recordsDirectory(directory), id), { recursive: true, force: true })
  }
  return topics
}

/** Closes the files of topics. */
export async function closeTopics(topics: Iterable<OpenTopic>): Promise<void> {
  for (const { partitions } of topics) for (const partition of partitions) await partition.close()
}

async function openNamedTopic(directory: string, topic: string, defaults: PartitionDefaults): Promise<OpenTopic> {
  const reading = await readTopic(directory, topic)
  if (reading.kind === 'described') return openTopic(directory, reading.topic, defaults)
  const file = topicFile(directory, topic)
  throw embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file, position: 0, reason: reading.message })
}

/** Creates a topic with a fresh random id; it appears to readers in one step. */
export async function createTopic(
  directory: string,
  clusterId: string,
  topic: string,
  settings: TopicSettingsRequest,
  defaults: PartitionDefaults,
): Promise<OpenTopic> {
  const { partitionCount, retentionMs = -1n, cleanupPolicy = 'delete' } = settings
  const identity: LogIdentity = { clusterId, topic, topicId: topicIdOf(randomUUID()), partitionCount }
  for (let partition = 0; partition < partitionCount; partition += 1) {
    await createPartition(partitionDirectory(directory, identity.topicId, partition), defaults.durability)
  }
  if (defaults.durability === 'fsync') {
    await syncDirectory(join(recordsDirectory(directory), identity.topicId))
    await syncDirectory(recordsDirectory(directory))
  }
  const description: TopicDescription = { identity, retentionMs, cleanupPolicy }
  await replaceFile(topicFile(directory, topic), defaults.durability, (write) =>
    write(Buffer.from(encodeTopicFile(description))),
  )
  return openTopic(directory, description, defaults)
}

/** Removes a topic: first its name, then its records. */
export async function deleteTopic(
  directory: string,
  topic: OpenTopic,
  durability: PartitionDefaults['durability'],
): Promise<void> {
  await rm(topicFile(directory, topic.description.identity.topic))
  if (durability === 'fsync') await syncDirectory(topicsDirectory(directory))
  await closeTopics([topic])
  await rm(join(recordsDirectory(directory), topic.description.identity.topicId), { recursive: true, force: true })
}

/** Makes the folders of a log. */
export async function createLogDirectories(directory: string): Promise<void> {
  await mkdir(topicsDirectory(directory), { recursive: true })
  await mkdir(recordsDirectory(directory), { recursive: true })
}

async function openTopic(
  directory: string,
  description: TopicDescription,
  defaults: PartitionDefaults,
): Promise<OpenTopic> {
  const { topicId, partitionCount } = description.identity
  const partitions: PartitionLog[] = []
  try {
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const own = partitionDirectory(directory, topicId, partition)
      partitions.push(await openPartitionLog({ ...defaults, directory: own }))
    }
  } catch (error) {
    await closeTopics([{ description, partitions }])
    throw error
  }
  return { description, partitions }
}
