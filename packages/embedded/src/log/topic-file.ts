import { readFile } from 'node:fs/promises'
import { isCanonicalTopicId } from '@tidemark/core'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import type { LogIdentity, NoAnswerReason } from '@tidemark/log'
import { clusterFile, topicFile } from './log-layout.ts'

/** What a topic is, from its one file. */
export interface TopicDescription {
  readonly identity: LogIdentity
  readonly retentionMs: bigint
  readonly cleanupPolicy: CleanupPolicy
}

/** Kafka's words. `compact` is reported and not performed. */
export type CleanupPolicy = 'delete' | 'compact' | 'compact,delete'

/** A topic, or why nothing usable is known of it. */
export type TopicReading =
  | { readonly kind: 'described'; readonly topic: TopicDescription }
  | { readonly kind: 'no-answer'; readonly reason: NoAnswerReason; readonly message: string }

const policies: readonly string[] = ['delete', 'compact', 'compact,delete'] satisfies readonly CleanupPolicy[]

/** The text of a topic's file. */
export function encodeTopicFile(topic: TopicDescription): string {
  const { clusterId, topicId, partitionCount } = topic.identity
  const { cleanupPolicy } = topic
  const content = {
    format: 1,
    clusterId,
    topic: topic.identity.topic,
    topicId,
    partitionCount,
    retentionMs: String(topic.retentionMs),
    cleanupPolicy,
  }
  return `${JSON.stringify(content, undefined, 2)}\n`
}

/** The text of a log's file. */
export function encodeClusterFile(clusterId: string): string {
  return `${JSON.stringify({ format: 1, clusterId }, undefined, 2)}\n`
}

/** The cluster id of a directory, or why there is none. */
export async function readClusterId(
  directory: string,
): Promise<{ readonly kind: 'cluster-id'; readonly clusterId: string } | Extract<TopicReading, { kind: 'no-answer' }>> {
  const path = clusterFile(directory)
  const text = await readText(path)
  if (text === undefined) return noAnswer('unreachable', `no embedded log stands in ${directory}`)
  const { format, clusterId } = parse(text)
  if (format !== 1) return noAnswer('damaged', `${path} is damaged or of another format`)
  if (typeof clusterId !== 'string' || clusterId === '')
    return noAnswer('missing-cluster-id', `${path} has no cluster id`)
  return { kind: 'cluster-id', clusterId }
}

/** What stands in a topic's file; its cluster id must be the directory's. */
export async function readTopic(directory: string, topic: string): Promise<TopicReading> {
  const cluster = await readClusterId(directory)
  if (cluster.kind === 'no-answer') return cluster
  const path = topicFile(directory, topic)
  const text = await readText(path)
  if (text === undefined) return noAnswer('unknown-topic', `topic ${topic} does not exist`)
  const description = decodeTopic(parse(text), topic)
  if (description === undefined) return noAnswer('damaged', `${path} is damaged or of another format`)
  if (description.identity.clusterId === cluster.clusterId) return { kind: 'described', topic: description }
  return noAnswer('damaged', `${path} belongs to cluster ${description.identity.clusterId}`)
}

function decodeTopic(content: Readonly<Record<string, unknown>>, topic: string): TopicDescription | undefined {
  const { format, clusterId, topicId, partitionCount, retentionMs, cleanupPolicy } = content
  if (format !== 1 || content['topic'] !== topic || typeof clusterId !== 'string') return undefined
  if (typeof topicId !== 'string' || !isCanonicalTopicId(topicId)) return undefined
  if (!Number.isSafeInteger(partitionCount)) return undefined
  const count = partitionCount as number
  if (count < 1 || count > PARTITION_COUNT_MAX) return undefined
  if (typeof retentionMs !== 'string' || !/^(?:-1|0|[1-9][0-9]{0,18})$/.test(retentionMs)) return undefined
  if (typeof cleanupPolicy !== 'string' || !policies.includes(cleanupPolicy)) return undefined
  return {
    identity: { clusterId, topic, topicId, partitionCount: count },
    retentionMs: BigInt(retentionMs),
    cleanupPolicy: cleanupPolicy as CleanupPolicy,
  }
}

/** Any damage reads as an empty object, whose missing fields the caller refuses. */
function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
}

function noAnswer(reason: NoAnswerReason, message: string): Extract<TopicReading, { kind: 'no-answer' }> {
  return { kind: 'no-answer', reason, message }
}
