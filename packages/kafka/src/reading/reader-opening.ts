import { coreErrors, systemClock } from '@tidemark/core'
import type { PartitionPosition, ReaderRequest } from '@tidemark/log'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import type { ConfluentPosition } from './confluent-client.ts'
import { brokersText } from '../connection-options.ts'
import type { CheckedConnection } from '../connection-options.ts'
import { kafkaErrors } from '../errors.ts'
import { openGuardedConsumer } from './guarded-consumer.ts'
import type { GuardedConsumer, TopicDescription } from './guarded-consumer.ts'
import type { ClientTuning } from './safe-consumer-options.ts'

/**
 * Opens a client that is assigned to every requested position, after a broker confirmed that the partitions exist.
 *
 * The confirmation is needed because the client says nothing at all about an assigned partition that is not there.
 *
 * @throws {TidemarkError} within the deadline, with the client released.
 */
export async function openAssignedConsumer(
  connection: CheckedConnection,
  tuning: ClientTuning,
  request: ReaderRequest,
  onRelease: (release: Promise<void>) => void,
): Promise<GuardedConsumer> {
  const { topic, positions, deadlineMs, signal } = request
  const assignment = checkPositions(topic, positions)
  const until = systemClock.monotonicMs() + deadlineMs
  const checkCancelled = (): void => {
    if (signal?.aborted === true) throw coreErrors.create('TM_CORE_CANCELLED', { what: `opening a reader of ${topic}` })
  }
  checkCancelled()
  const consumer = await openGuardedConsumer({
    connection,
    tuning,
    topic,
    partitionCount: positions.length,
    deadlineMs,
    onRelease,
    ...(signal === undefined ? {} : { signal }),
  })
  try {
    const remainingMs = Math.max(1, until - systemClock.monotonicMs())
    const description = await consumer.describe(topic, remainingMs)
    checkCancelled()
    checkDescription(connection, topic, positions, description, deadlineMs)
    consumer.assign(assignment)
    return consumer
  } catch (error) {
    onRelease(consumer.close())
    throw error
  }
}

/** Offsets pass through the client as JavaScript numbers, so a position beyond 2^53-1 would be another position. */
function checkPositions(topic: string, positions: readonly PartitionPosition[]): readonly ConfluentPosition[] {
  if (topic === '') throw kafkaErrors.create('TM_KAFKA_OPTION_INVALID', { option: 'topic', reason: 'it is empty' })
  if (positions.length === 0) {
    throw kafkaErrors.create('TM_KAFKA_OPTION_INVALID', { option: 'positions', reason: 'no partition is named' })
  }
  const seen = new Set<number>()
  return positions.map(({ partition, nextOffset }) => {
    const refuse = (reason: string): Error =>
      kafkaErrors.create('TM_KAFKA_POSITION_INVALID', { topic, partition, reason })
    if (!Number.isSafeInteger(partition) || partition < 0 || partition >= PARTITION_COUNT_MAX) {
      throw refuse('the partition is not a whole number in range')
    }
    if (seen.has(partition)) throw refuse('the partition is named twice')
    seen.add(partition)
    if (nextOffset < 0n || nextOffset > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw refuse(
        `offset ${nextOffset} is not between 0 and ${Number.MAX_SAFE_INTEGER}, the exact range of this client`,
      )
    }
    return { topic, partition, offset: Number(nextOffset) }
  })
}

function checkDescription(
  connection: CheckedConnection,
  topic: string,
  positions: readonly PartitionPosition[],
  description: TopicDescription,
  deadlineMs: number,
): void {
  const brokers = brokersText(connection)
  if (description.kind === 'topic') {
    const present = new Set(description.topic.partitions.map(({ partition }) => partition))
    const partitionCount = present.size
    const absent = positions.find(({ partition }) => !present.has(partition))
    if (absent === undefined) return
    throw kafkaErrors.create('TM_KAFKA_UNKNOWN_PARTITION', { topic, partition: absent.partition, partitionCount })
  }
  const reason = description.message
  switch (description.condition) {
    case 'unknown-topic':
      throw kafkaErrors.create('TM_KAFKA_UNKNOWN_TOPIC', { topic, reason })
    case 'authorization':
    case 'group-authorization':
      throw kafkaErrors.create('TM_KAFKA_AUTHORIZATION_FAILED', { topic, reason })
    case 'authentication':
      throw kafkaErrors.create('TM_KAFKA_AUTHENTICATION_FAILED', { brokers, reason })
    case 'connection':
    case 'timeout':
    case 'no-leader':
      throw kafkaErrors.create('TM_KAFKA_UNREACHABLE', { brokers, deadlineMs, reason })
    default:
      throw kafkaErrors.create('TM_KAFKA_CLIENT_FAILED', { operation: 'describing the topic', clientCode: 0, reason })
  }
}
