import { readTopicId } from '@tidemark/core'
import type { IdentityStatement, NoAnswerReason } from '@tidemark/log'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import type { AnswerCallback, Send } from './broker-connections.ts'
import type { BrokerAddress } from '../connection-options.ts'

/** One Metadata answer about one topic, as the wire carries it. Source: KIP-516. */
export interface MetadataAnswer {
  readonly clusterId: string | null | undefined
  readonly brokers: readonly {
    readonly nodeId: number
    readonly host: string | null | undefined
    readonly port: number
  }[]
  readonly topics: readonly TopicMetadata[]
}

/** What a Metadata answer says of a topic. */
export interface TopicMetadata {
  readonly errorCode: number
  readonly name: string | null | undefined
  readonly topicId?: string | null
  readonly partitions: readonly PartitionMetadata[]
}

/** What a Metadata answer says of a partition. */
export interface PartitionMetadata {
  readonly errorCode: number
  readonly partitionIndex: number
  readonly leaderId: number
  readonly leaderEpoch: number
}

/** The sentence a broker without topic ids is refused with. */
export const NO_TOPIC_IDS =
  'a broker without topic ids is refused: it cannot prove that the topic is still the same one'

/** Kafka's error codes that a Metadata answer can carry. */
const code = { none: 0, unknownTopic: 3, leaderNotAvailable: 5, replicaNotAvailable: 9, invalidTopic: 17 } as const
const authorizationCodes: ReadonlySet<number> = new Set([29, 31])
const unknownTopicCodes: ReadonlySet<number> = new Set([code.unknownTopic, code.invalidTopic, 100])

/** What one broker's Metadata answer proves of a topic; ids, count and leaders come from this one answer. Promises: KAF-9. */
export function identityOfAnswer(topic: string, answer: MetadataAnswer): IdentityStatement {
  const none = (reason: NoAnswerReason, message: string): IdentityStatement => ({ kind: 'no-answer', reason, message })
  const found = answer.topics.find((entry) => entry.name === topic)
  if (found === undefined || answer.topics.length !== 1) return none('malformed', `the answer is not about ${topic}`)
  const { errorCode, partitions } = found
  if (authorizationCodes.has(errorCode)) return none('authorization', `no permission to describe ${topic}`)
  if (unknownTopicCodes.has(errorCode)) return none('unknown-topic', `the broker knows no topic ${topic}`)
  if (errorCode === code.leaderNotAvailable) return none('no-leader', `${topic} has no leaders`)
  if (errorCode !== code.none) return none('malformed', `error code ${errorCode} for ${topic}`)
  const reading = readTopicId(found.topicId ?? '')
  if (found.topicId === undefined || found.topicId === null || reading.kind === 'zero') {
    return none('zero-topic-id', NO_TOPIC_IDS)
  }
  if (reading.kind === 'unreadable') return none('malformed', `topic id of ${topic}: ${reading.reason}`)
  if (answer.clusterId === null || answer.clusterId === undefined || answer.clusterId === '')
    return none('missing-cluster-id', 'the answer has no cluster id')
  const partitionCount = partitions.length
  const shape = partitionFault(topic, partitions)
  if (shape !== undefined) return none('malformed', shape)
  const leaderless = partitions.find(isLeaderless)
  if (leaderless !== undefined) return none('no-leader', `${topic}[${leaderless.partitionIndex}] has no leader`)
  return { kind: 'described', clusterId: answer.clusterId, topicId: reading.topicId, partitionCount }
}

/** Whether nobody answers for a partition. A replica that is away does not make it leaderless. */
export function isLeaderless(partition: PartitionMetadata): boolean {
  return (
    partition.leaderId < 0 || (partition.errorCode !== code.none && partition.errorCode !== code.replicaNotAvailable)
  )
}

function partitionFault(topic: string, partitions: readonly PartitionMetadata[]): string | undefined {
  if (partitions.length === 0) return `${topic} has no partitions`
  if (partitions.length > PARTITION_COUNT_MAX) return `${topic} has ${partitions.length} partitions`
  const seen = new Set(partitions.map(({ partitionIndex }) => partitionIndex))
  for (let partition = 0; partition < partitions.length; partition += 1) {
    if (!seen.has(partition)) return `${topic}[${partition}] is missing from the answer`
  }
  return undefined
}

/** The brokers an answer lists, by id. */
export function brokersOfAnswer(answer: MetadataAnswer): ReadonlyMap<number, BrokerAddress> {
  return new Map(
    answer.brokers.flatMap(({ nodeId, host, port }) =>
      nodeId >= 0 && typeof host === 'string' && host !== '' && port > 0 ? [[nodeId, { host, port }] as const] : [],
    ),
  )
}

const METADATA_KEY = 3

/** Asks one broker for one topic's metadata, never creating it; fails with `UNSUPPORTED_VERSION` below version 10. */
export function askMetadata(topic: string): Send<MetadataAnswer> {
  return (link, done) => {
    const { client, connection } = link
    const answered: AnswerCallback<MetadataAnswer> = (error, answer) => {
      // An error inside an answer is part of what the broker says; the client throws it with the answer attached.
      const partial = answerOf<MetadataAnswer>(error)
      if (partial === undefined) done(error, answer)
      else done(null, partial)
    }
    switch (link.newest(METADATA_KEY, [10, 11, 12])) {
      case 12:
        return client.metadataV12.api(connection, [topic], false, false, answered)
      case 11:
        return client.metadataV11.api(connection, [topic], false, false, answered)
      case 10:
        return client.metadataV10.api(connection, [topic], false, false, answered)
      default:
        return done(Object.assign(new Error(NO_TOPIC_IDS), { code: 'UNSUPPORTED_VERSION' }))
    }
  }
}

/** The answer a client's response error carries. */
export function answerOf<T>(error: Error | null): T | undefined {
  const response = (error as { readonly response?: T } | null)?.response
  return typeof response === 'object' && response !== null ? response : undefined
}
