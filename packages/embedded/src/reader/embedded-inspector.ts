import { isTidemarkError, messageOf, withDeadline } from '@tidemark/core'
import type { Clock } from '@tidemark/core'
import type { BoundsReading, IdentityStatement, PartitionBounds, TopicInspector } from '@tidemark/log'
import { partitionDirectory } from '../log/log-layout.ts'
import { readBounds } from './partition-cursor.ts'
import { readTopic } from '../log/topic-file.ts'
import type { TopicDescription } from '../log/topic-file.ts'

/** The one broker an embedded log has: its directory. */
const brokerId = 0

/** Answers from the files, as a broker answers from its metadata. Promises: EMB-11. */
export function createEmbeddedInspector(directory: string, clock: Clock): TopicInspector {
  return {
    async surveyIdentity(topic, { deadlineMs }) {
      const statement = await withDeadline(
        clock,
        'reading the topic file',
        deadlineMs,
        describe(directory, topic),
      ).catch((error: unknown): IdentityStatement => {
        const isLate = isTidemarkError(error, 'TM_CORE_DEADLINE_EXCEEDED')
        return { kind: 'no-answer', reason: isLate ? 'timeout' : 'unreachable', message: messageOf(error) }
      })
      const listedBrokerIds = statement.kind === 'described' ? [brokerId] : []
      return { topic, answers: [{ brokerId, statement, listedBrokerIds }] }
    },
    readBounds(topic, partitionCount, { deadlineMs }) {
      const reading = readAllBounds(directory, topic, partitionCount)
      return withDeadline(clock, 'reading the bounds files', deadlineMs, reading).catch(
        (error: unknown): BoundsReading => ({ kind: 'unreadable', partition: undefined, message: messageOf(error) }),
      )
    },
    async readSettings(topic, { deadlineMs }) {
      const reading = await withDeadline(
        clock,
        'reading the topic file',
        deadlineMs,
        readTopic(directory, topic),
      ).catch((error: unknown) => ({ kind: 'no-answer' as const, message: messageOf(error) }))
      if (reading.kind === 'no-answer') return { kind: 'unreadable', message: reading.message }
      const { retentionMs, cleanupPolicy } = reading.topic
      const compacted = cleanupPolicy !== 'delete'
      return { kind: 'settings', settings: { retentionMs, cleanupPolicy, compacted } }
    },
  }
}

async function describe(directory: string, topic: string): Promise<IdentityStatement> {
  const reading = await readTopic(directory, topic)
  if (reading.kind === 'no-answer') return reading
  const { clusterId, topicId, partitionCount } = reading.topic.identity
  return { kind: 'described', clusterId, topicId, partitionCount }
}

/**
 * Whether the files of a partition must be there: a topic's own file appears after them and goes before them, so one
 * that still stands once they were missed tells that nobody is deleting it.
 */
async function isDue(directory: string, { identity }: TopicDescription, partition: number): Promise<boolean> {
  const again = await readTopic(directory, identity.topic)
  return (
    again.kind === 'described' &&
    again.topic.identity.topicId === identity.topicId &&
    partition < identity.partitionCount
  )
}

const damaged = { reason: 'damaged' } as const

async function readAllBounds(directory: string, topic: string, partitionCount: number): Promise<BoundsReading> {
  const reading = await readTopic(directory, topic)
  if (reading.kind === 'no-answer') {
    const why = reading.reason === 'damaged' ? damaged : {}
    return { kind: 'unreadable', partition: undefined, message: reading.message, ...why }
  }
  const { topicId } = reading.topic.identity
  const partitions: PartitionBounds[] = []
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const bounds = await readBounds(partitionDirectory(directory, topicId, partition))
    if (bounds === undefined || bounds === 'damaged') {
      const message = `the bounds of partition ${partition} are ${bounds === undefined ? 'missing' : 'damaged'}`
      const why = bounds === 'damaged' || (await isDue(directory, reading.topic, partition)) ? damaged : {}
      return { kind: 'unreadable', partition, message, ...why }
    }
    const { low, lastStableOffset, highWatermark } = bounds
    partitions.push({ partition, low, lastStableOffset, highWatermark })
  }
  return { kind: 'bounds', partitions }
}
