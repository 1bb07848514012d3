import { readTopicId, systemClock } from '@tidemark/core'
import type { ClientStatement, LogReader, PartitionPosition, PollRequest, PollResult, ReadFailure } from '@tidemark/log'
import { newAssignmentProgress } from './assignment-progress.ts'
import { noAnswerReasonOf, readFailureOf } from './client-conditions.ts'
import type { ConfluentPartition } from './confluent-client.ts'
import { newStoppedFetchWatch, readFetchStates } from './fetch-states.ts'
import type { GuardedConsumer, TopicDescription } from './guarded-consumer.ts'

/** The longest pause between two looks at an empty queue: the price in latency of never blocking in the client. */
const IDLE_PULL_MS_MAX = 8

/**
 * Reads assigned partitions from explicit positions until it is closed or fails once.
 *
 * Promises: KAF-3 to KAF-7.
 */
export function newKafkaReader(
  consumer: GuardedConsumer,
  topic: string,
  positions: readonly PartitionPosition[],
  onClose: () => void,
): LogReader {
  const progress = newAssignmentProgress(topic, positions)
  const assigned = new Set(positions.map(({ partition }) => partition))
  const watch = newStoppedFetchWatch(assigned)
  // The binding does not say which partition an error concerns, so it is known only where there is no choice.
  const onlyPartition = positions.length === 1 ? positions[0]!.partition : undefined
  let failure: ReadFailure | undefined
  let closed = false
  let polling = false
  let pulling: Promise<unknown> = Promise.resolve()

  consumer.onStatistics((text) => {
    const stopped = watch.report(readFetchStates(text, topic))
    if (stopped !== undefined) failure ??= stoppedFailure(topic, stopped)
  })

  const partitionsOf = (partitions: readonly number[]): readonly ConfluentPartition[] =>
    partitions.filter((partition) => assigned.has(partition)).map((partition) => ({ topic, partition }))

  /** A client that refuses to pause or resume has lost the partition; the next poll says so. */
  const steer = (act: () => void): void => {
    if (closed || failure !== undefined) return
    try {
      act()
    } catch (error) {
      failure = { reason: 'other', partition: undefined, message: consumer.clean(String((error as Error).message)) }
    }
  }

  const pullOnce = async (recordsMax: number): Promise<PollResult> => {
    if (closed) return failed({ reason: 'closed', partition: undefined, message: 'the reader was closed' })
    failure ??= troubleFailure(consumer)
    if (failure !== undefined) return failed(failure)
    const pull = consumer.pull(recordsMax)
    pulling = pull
    const pulled = await pull
    if (pulled.kind === 'error') {
      failure ??= readFailureOf(pulled.error, consumer.clean(pulled.error.message), onlyPartition)
      return failed(failure)
    }
    // Told while the pull ran: what it brought may already be from a moved position.
    failure ??= troubleFailure(consumer)
    if (failure !== undefined) return failed(failure)
    const accepted = progress.accept(pulled.messages, pulled.ends)
    if (accepted.kind === 'batches') return { kind: 'fetched', batches: accepted.batches }
    failure = accepted.failure
    return failed(failure)
  }

  return {
    async poll({ recordsMax, waitMs }: PollRequest): Promise<PollResult> {
      if (polling) return failed({ reason: 'other', partition: undefined, message: 'two polls at a time' })
      polling = true
      try {
        const until = systemClock.monotonicMs() + waitMs
        for (let idleMs = 1; ; idleMs = Math.min(idleMs * 2, IDLE_PULL_MS_MAX)) {
          const result = await pullOnce(Math.max(1, Math.floor(recordsMax)))
          const remainingMs = until - systemClock.monotonicMs()
          if (result.kind === 'failed' || result.batches.length > 0 || remainingMs <= 0) return result
          await systemClock.sleep(Math.min(idleMs, remainingMs))
        }
      } finally {
        polling = false
      }
    },
    pause: (partitions) => steer(() => consumer.pause(partitionsOf(partitions))),
    resume: (partitions) => steer(() => consumer.resume(partitionsOf(partitions))),
    async describeTopic(deadlineMs) {
      if (closed) return { kind: 'no-answer', reason: 'unreachable', message: 'the reader was closed' }
      return statementOf(await consumer.describe(topic, deadlineMs))
    },
    async close() {
      if (closed) return consumer.close()
      closed = true
      // The client must not be destroyed under a running pull; a pull never waits.
      await pulling
      await consumer.close()
      onClose()
    },
  }
}

function failed(failure: ReadFailure): PollResult {
  return { kind: 'failed', failure }
}

function troubleFailure(consumer: GuardedConsumer): ReadFailure | undefined {
  const trouble = consumer.trouble()
  if (trouble === undefined) return undefined
  const { message } = trouble
  if (trouble.kind === 'reset') return { reason: 'out-of-range', partition: undefined, message }
  switch (trouble.condition) {
    case 'authentication':
    case 'authorization':
    case 'group-authorization':
      return { reason: 'authorization', partition: undefined, message }
    case 'unknown-topic':
      return { reason: 'unknown-topic', partition: undefined, message }
    case 'other':
      return { reason: 'other', partition: undefined, message }
    default:
      // A lost connection is repaired by the client without moving a position; the identity lease bounds how long.
      return undefined
  }
}

function stoppedFailure(
  topic: string,
  stopped: { readonly partition: number; readonly unknown: boolean },
): ReadFailure {
  const { partition, unknown } = stopped
  return unknown
    ? { reason: 'unknown-topic', partition, message: `the client's metadata no longer holds ${topic}[${partition}]` }
    : {
        reason: 'out-of-range',
        partition,
        message: `the client stopped fetching ${topic}[${partition}] and lost its position`,
      }
}

/** What the fetching client's description of the topic proves. */
export function statementOf(description: TopicDescription): ClientStatement {
  if (description.kind === 'condition') {
    return { kind: 'no-answer', reason: noAnswerReasonOf(description.condition), message: description.message }
  }
  const { topicId, partitions } = description.topic
  const text = topicId?.base64
  if (typeof text !== 'string')
    return { kind: 'no-answer', reason: 'unsupported', message: 'the client told no topic id' }
  const reading = readTopicId(text)
  if (reading.kind === 'zero') {
    return { kind: 'no-answer', reason: 'zero-topic-id', message: 'a broker without topic ids is refused' }
  }
  if (reading.kind === 'unreadable') return { kind: 'no-answer', reason: 'malformed', message: reading.reason }
  if (partitions.length === 0) return { kind: 'no-answer', reason: 'malformed', message: 'a topic without partitions' }
  return { kind: 'described', topicId: reading.topicId, partitionCount: partitions.length }
}
