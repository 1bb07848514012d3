import { readTopicId, systemClock } from '@tidemark/core'
import type { ClientStatement, PartitionPosition, PollRequest, PollResult, ReadFailure } from '@tidemark/log'
import { newAssignmentProgress } from './assignment-progress.ts'
import type { AssignmentProgress } from './assignment-progress.ts'
import { noAnswerReasonOf, readFailureOf } from './client-conditions.ts'
import type { ConfluentPartition } from './confluent-client.ts'
import { newFetchProgress, newStoppedFetchWatch, readFetchStates } from './fetch-states.ts'
import type { GuardedConsumer, TopicDescription } from './guarded-consumer.ts'
import type { ServedReader } from './served-reader.ts'

/** The longest pause between two looks at an empty queue: the price in latency of never blocking in the client. */
const IDLE_PULL_MS_MAX = 8

/** The most records one pull takes, whatever the caller asks for: a pull is one task of the client's worker threads. */
const PULLED_RECORDS_MAX = 100_000

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
): ServedReader {
  return new KafkaReader(consumer, topic, positions, onClose)
}

class KafkaReader implements ServedReader {
  readonly #consumer: GuardedConsumer
  readonly #topic: string
  readonly #assigned: ReadonlySet<number>
  readonly #progress: AssignmentProgress
  readonly #onClose: () => void
  #failure: ReadFailure | undefined
  #closed = false
  #polling = false
  #servedUntilMs = 0

  constructor(consumer: GuardedConsumer, topic: string, positions: readonly PartitionPosition[], onClose: () => void) {
    this.#consumer = consumer
    this.#topic = topic
    this.#assigned = new Set(positions.map(({ partition }) => partition))
    this.#progress = newAssignmentProgress(topic, positions)
    this.#onClose = onClose
    const watch = newStoppedFetchWatch(this.#assigned)
    const fetched = newFetchProgress(positions)
    consumer.onStatistics((text) => {
      const states = readFetchStates(text, topic)
      if (fetched.moved(states)) this.#served(0)
      const stopped = watch.report(states)
      if (stopped !== undefined) this.#failure ??= stoppedFailure(topic, stopped)
    })
    consumer.onThrottle((restMs) => this.#served(restMs))
  }

  #served(restMs: number): void {
    this.#servedUntilMs = Math.max(this.#servedUntilMs, systemClock.monotonicMs() + restMs)
  }

  servedUntilMs(): number {
    return this.#servedUntilMs
  }

  async poll({ recordsMax, waitMs }: PollRequest): Promise<PollResult> {
    if (this.#polling) return failed({ reason: 'other', partition: undefined, message: 'two polls at a time' })
    this.#polling = true
    try {
      const until = systemClock.monotonicMs() + waitMs
      const pulledMax = Math.min(PULLED_RECORDS_MAX, Math.max(1, Math.floor(recordsMax)))
      for (let idleMs = 1; ; idleMs = Math.min(idleMs * 2, IDLE_PULL_MS_MAX)) {
        const result = await this.#pull(pulledMax)
        const remainingMs = until - systemClock.monotonicMs()
        if (result.kind === 'failed' || result.batches.length > 0 || remainingMs <= 0) return result
        await systemClock.sleep(Math.min(idleMs, remainingMs))
      }
    } finally {
      this.#polling = false
    }
  }

  pause(partitions: readonly number[]): void {
    this.#steer((chosen) => this.#consumer.pause(chosen), partitions)
  }

  resume(partitions: readonly number[]): void {
    this.#steer((chosen) => this.#consumer.resume(chosen), partitions)
  }

  async describeTopic(deadlineMs: number): Promise<ClientStatement> {
    return statementOf(await this.#consumer.describe(this.#topic, deadlineMs))
  }

  async close(): Promise<void> {
    const first = !this.#closed
    this.#closed = true
    await this.#consumer.close()
    if (first) this.#onClose()
  }

  async #pull(recordsMax: number): Promise<PollResult> {
    if (this.#closed) return failed({ reason: 'closed', partition: undefined, message: 'the reader was closed' })
    const known = this.#knownFailure()
    if (known !== undefined) return failed(known)
    const pulled = await this.#consumer.pull(recordsMax)
    if (pulled.kind === 'error') {
      // The binding does not say which partition an error concerns, so it is known only where there is no choice.
      const partition = this.#assigned.size === 1 ? [...this.#assigned][0] : undefined
      return failed(
        (this.#failure ??= readFailureOf(pulled.error, this.#consumer.clean(pulled.error.message), partition)),
      )
    }
    // Told while the pull ran: what it brought may already be from a moved position.
    const told = this.#knownFailure()
    if (told !== undefined) return failed(told)
    const accepted = this.#progress.accept(pulled.messages, pulled.ends)
    if (accepted.kind === 'batches') return { kind: 'fetched', batches: accepted.batches }
    return failed((this.#failure = accepted.failure))
  }

  #knownFailure(): ReadFailure | undefined {
    return (this.#failure ??= troubleFailure(this.#consumer))
  }

  /** A client that refuses to pause or resume has lost the partition; the next poll says so. */
  #steer(act: (chosen: readonly ConfluentPartition[]) => void, partitions: readonly number[]): void {
    if (this.#closed || this.#failure !== undefined) return
    const topic = this.#topic
    const chosen = partitions.filter((partition) => this.#assigned.has(partition))
    if (chosen.length === 0) return
    try {
      act(chosen.map((partition) => ({ topic, partition })))
    } catch (error) {
      const message = this.#consumer.clean(String((error as Error).message))
      this.#failure = { reason: 'other', partition: undefined, message }
    }
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
