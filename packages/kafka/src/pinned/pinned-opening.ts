import { coreErrors, OFFSET_MAX, systemClock } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import type { PartitionPosition, ReaderRequest } from '@tidemark/log'
import { brokersText } from '../connection-options.ts'
import type { CheckedConnection } from '../connection-options.ts'
import { kafkaErrors } from '../errors.ts'
import type { LeadersReading, TopicLeaders } from './topic-leaders.ts'

/** How soon a topic whose leaders are being elected is asked for again. */
const LEADERLESS_PAUSE_MS = 100

/**
 * The id to read under: the caller's, or the one brokers tell, with every requested partition led by someone.
 *
 * @throws {TidemarkError} within the deadline, saying why nothing can be read.
 */
export async function openTopic(
  connection: CheckedConnection,
  leaders: TopicLeaders,
  request: ReaderRequest,
): Promise<TopicId> {
  const { topic, positions, deadlineMs, signal, identity } = request
  checkPositions(topic, positions)
  const untilMs = systemClock.monotonicMs() + deadlineMs
  for (;;) {
    if (signal?.aborted === true) throw coreErrors.create('TM_CORE_CANCELLED', { what: `opening a reader of ${topic}` })
    const remainingMs = untilMs - systemClock.monotonicMs()
    const reading = await leaders.ask(topic, Math.max(1, remainingMs))
    const fault = openingFault(connection, topic, positions, reading, deadlineMs)
    if (reading.kind === 'described' && identity !== undefined && reading.topicId !== identity.topicId) {
      const { topicId: held } = identity
      throw kafkaErrors.create('TM_KAFKA_TOPIC_ID_CHANGED', { topic, held, found: reading.topicId })
    }
    if (reading.kind === 'described' && fault === undefined) return reading.topicId
    if (fault?.final === true || remainingMs <= LEADERLESS_PAUSE_MS) throw fault!.error
    await systemClock.sleep(LEADERLESS_PAUSE_MS, signal)
  }
}

/** The wire carries 64-bit offsets, so every offset that is one may be asked for. */
function checkPositions(topic: string, positions: readonly PartitionPosition[]): void {
  if (topic === '') throw kafkaErrors.create('TM_KAFKA_OPTION_INVALID', { option: 'topic', reason: 'it is empty' })
  if (positions.length === 0) {
    throw kafkaErrors.create('TM_KAFKA_OPTION_INVALID', { option: 'positions', reason: 'no partition is named' })
  }
  const seen = new Set<number>()
  for (const { partition, nextOffset } of positions) {
    const refuse = (reason: string): Error =>
      kafkaErrors.create('TM_KAFKA_POSITION_INVALID', { topic, partition, reason })
    if (!Number.isSafeInteger(partition) || partition < 0 || partition >= PARTITION_COUNT_MAX) {
      throw refuse('the partition is not a whole number in range')
    }
    if (seen.has(partition)) throw refuse('the partition is named twice')
    seen.add(partition)
    if (nextOffset < 0n || nextOffset > OFFSET_MAX)
      throw refuse(`offset ${nextOffset} is not between 0 and ${OFFSET_MAX}`)
  }
}

interface OpeningFault {
  readonly error: Error
  /** Whether asking again within the deadline is of no use. */
  readonly final: boolean
}

function openingFault(
  connection: CheckedConnection,
  topic: string,
  positions: readonly PartitionPosition[],
  reading: LeadersReading,
  deadlineMs: number,
): OpeningFault | undefined {
  const brokers = brokersText(connection)
  const unreachable = (reason: string, final: boolean): OpeningFault => ({
    error: kafkaErrors.create('TM_KAFKA_UNREACHABLE', { brokers, deadlineMs, reason }),
    final,
  })
  switch (reading.kind) {
    case 'gone':
      return { error: kafkaErrors.create('TM_KAFKA_UNKNOWN_TOPIC', { topic, reason: reading.message }), final: true }
    case 'unread':
      if (reading.reason === 'authorization') {
        const reason = reading.message
        const error = reading.isLoginRefused
          ? kafkaErrors.create('TM_KAFKA_AUTHENTICATION_FAILED', { brokers, reason })
          : kafkaErrors.create('TM_KAFKA_AUTHORIZATION_FAILED', { topic, reason })
        return { error, final: true }
      }
      if (reading.reason === 'unsupported' || reading.reason === 'zero-topic-id') {
        const reason = reading.message
        return { error: kafkaErrors.create('TM_KAFKA_PINNING_UNSUPPORTED', { brokers, reason }), final: true }
      }
      return unreachable(reading.message, reading.reason !== 'no-leader')
    case 'described': {
      const { partitionCount } = reading
      const absent = positions.find(({ partition }) => partition >= partitionCount)
      if (absent !== undefined) {
        const { partition } = absent
        const error = kafkaErrors.create('TM_KAFKA_UNKNOWN_PARTITION', { topic, partition, partitionCount })
        return { error, final: true }
      }
      const leaderless = positions.find(({ partition }) => !reading.leaders.has(partition))
      return leaderless === undefined
        ? undefined
        : unreachable(`${topic}[${leaderless.partition}] has no leader`, false)
    }
  }
}
