import type { TopicId } from '@tidemark/core'

/**
 * What makes a log the same log: the cluster, the topic's name and never-reused id, and its partition count.
 *
 * A position is only meaningful together with the identity of the log it was read from.
 * Source: KIP-516 (topic ids), KIP-78 (cluster id).
 */
export interface LogIdentity {
  readonly clusterId: string
  readonly topic: string
  readonly topicId: TopicId
  readonly partitionCount: number
}

/** A part of a log's identity. */
export type IdentityField = 'clusterId' | 'topic' | 'topicId' | 'partitionCount'

/** One way in which two identities differ. */
export interface IdentityDifference {
  readonly field: IdentityField
  readonly expected: string
  readonly found: string
}

const fields: readonly IdentityField[] = ['clusterId', 'topic', 'topicId', 'partitionCount']

const noDifferences: readonly IdentityDifference[] = []

function isSameLog(a: LogIdentity, b: LogIdentity): boolean {
  return (
    a.topicId === b.topicId &&
    a.clusterId === b.clusterId &&
    a.topic === b.topic &&
    a.partitionCount === b.partitionCount
  )
}

/** Every way in which a found identity differs from the expected one; empty when they are the same log. */
export function identityDifferences(expected: LogIdentity, found: LogIdentity): readonly IdentityDifference[] {
  // The usual answer is asked for every partition of a start, so it costs nothing.
  if (isSameLog(expected, found)) return noDifferences
  return fields
    .filter((field) => expected[field] !== found[field])
    .map((field) => ({ field, expected: String(expected[field]), found: String(found[field]) }))
}

/** The largest partition count this library plans for; Kafka itself sets no limit. */
export const PARTITION_COUNT_MAX = 100_000
