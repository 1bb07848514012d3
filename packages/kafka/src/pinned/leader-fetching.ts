import { systemClock } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import type { ReadFailure } from '@tidemark/log'
import type { BrokerConnections, Exchange } from '../inspection/broker-connections.ts'
import { UnreadableBatch } from './batch-compression.ts'
import type { FetchAnswer, PartitionAnswer } from './fetch-answer.ts'
import { planFetch } from './fetch-plan.ts'
import type { FetchLimits, FetchPlan } from './fetch-plan.ts'
import { verdictOfAnswer, verdictOfCode, verdictOfSilence } from './fetch-verdict.ts'
import type { FetchVerdict } from './fetch-verdict.ts'
import type { PartitionCursor } from './partition-cursor.ts'
import type { BatchCodecs } from './record-set.ts'
import { sendFetch } from './send-fetch.ts'
import type { PartitionLeader, TopicLeaders } from './topic-leaders.ts'
import { newWakeSignal } from './wake-signal.ts'
import type { WakeSignal } from './wake-signal.ts'

/** What fetching works with. */
export interface FetchingParts {
  readonly topic: string
  readonly topicId: TopicId
  readonly cursors: readonly PartitionCursor[]
  /** Connections for fetches alone: a fetch that waits at the broker holds back whatever comes behind it. */
  readonly connections: BrokerConnections
  readonly leaders: TopicLeaders
  readonly codecs: BatchCodecs
  readonly limits: FetchLimits & {
    /** How much longer than its wait a fetch may take. */
    readonly requestMsMax: number
    /** How long a partition may go without a good answer. */
    readonly unavailableMsMax: number
  }
  /** Something can be handed out, or there is a failure. */
  arrived(): void
}

/** Fetches until stopped or until the first failure. */
export interface Fetching {
  readonly failure: ReadFailure | undefined
  /** As of `ServedReader`. */
  readonly servedUntilMs: number
  fail(failure: ReadFailure): void
  /** Room was made, or a partition was resumed. */
  changed(): void
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>
}

const BACKOFF_MS = { first: 50, most: 1_000 } as const

/** An answer that comes this long after a pause was waited for at the broker, and would only be held; see `accept`. */
const PAUSED_ANSWER_MS = 100

/** How long a leader may not know an id that the topic's name still has; then it does not count as late any more. */
const UNKNOWN_ID_MS_MAX = 10_000

/** How long one question for leaders may take. */
const LOCATE_MS_MAX = 3_000

/** How long after its time an answer is awaited before the others are asked whether that broker still leads. */
const OVERDUE_MS = 2_000

/** An answer that is empty before its time would be empty again at once. */
const EMPTY_ANSWER_PAUSE_MS = 50

/** One loop a leader with one fetch in flight, and one loop that finds leaders. Promises: KAF-20, KAF-24, KAF-26. */
export function startFetching(parts: FetchingParts): Fetching {
  const fetching = new LeaderFetching(parts)
  fetching.changed()
  return fetching
}

class LeaderFetching implements Fetching {
  readonly #parts: FetchingParts
  readonly #signals = new Map<number, WakeSignal>()
  readonly #running = new Set<Promise<void>>()
  readonly #restUntilMs = new Map<number, number>()
  readonly #locateSignal = newWakeSignal()
  #locating = false
  #reservedBytes = 0
  #stopped = false
  /** Served last, asked last: a leader fills its answer in the order of the request. */
  #order: PartitionCursor[]
  failure: ReadFailure | undefined
  servedUntilMs = 0

  constructor(parts: FetchingParts) {
    this.#parts = parts
    this.#order = [...parts.cursors]
  }

  fail(failure: ReadFailure): void {
    if (this.failure !== undefined || this.#stopped) return
    this.failure = failure
    this.#ringAll()
    this.#parts.arrived()
  }

  changed(): void {
    if (this.#isOver) return
    for (const { leaderId } of this.#order) {
      if (leaderId < 0) this.#startLocating()
      else if (!this.#signals.has(leaderId)) this.#startLeader(leaderId)
    }
    for (const signal of this.#signals.values()) signal.ring()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#ringAll()
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  get #isOver(): boolean {
    return this.#stopped || this.failure !== undefined
  }

  #ringAll(): void {
    for (const signal of this.#signals.values()) signal.ring()
    this.#locateSignal.ring()
  }

  #run(loop: Promise<void>): void {
    const guarded = loop
      .catch((error: unknown) => this.fail({ reason: 'other', partition: undefined, message: String(error) }))
      .then(() => void this.#running.delete(guarded))
    this.#running.add(guarded)
  }

  #startLeader(leaderId: number): void {
    const signal = newWakeSignal()
    this.#signals.set(leaderId, signal)
    this.#run(this.#fetchFrom(leaderId, signal))
  }

  async #fetchFrom(leaderId: number, signal: WakeSignal): Promise<void> {
    while (!this.#isOver) {
      const led = this.#order.filter((cursor) => cursor.leaderId === leaderId)
      if (led.length === 0) {
        // In the same step as the look: a partition that comes back a moment later must find no loop that is ending.
        this.#signals.delete(leaderId)
        return
      }
      const nowMs = systemClock.monotonicMs()
      const restMs = (this.#restUntilMs.get(leaderId) ?? 0) - nowMs
      if (restMs > 0) {
        await signal.wait(restMs)
        continue
      }
      const plan = planFetch(led, this.#parts.limits, this.#freeBytes(), nowMs)
      if (plan.kind === 'fetch') await this.#fetch(leaderId, plan)
      else if (plan.kind === 'wait') await signal.wait(plan.waitMs)
      else if (!this.#dropPaused()) await signal.wait(BACKOFF_MS.most)
    }
  }

  #freeBytes(): number {
    let buffered = 0
    for (const cursor of this.#order) buffered += cursor.bufferedBytes
    return this.#parts.limits.bufferedBytesMax - buffered - this.#reservedBytes
  }

  /** What paused partitions hold must not starve the others: it is fetched again when they go on. */
  #dropPaused(): boolean {
    let dropped = false
    for (const cursor of this.#order) {
      if (!cursor.paused || cursor.bufferedBytes === 0) continue
      cursor.dropBuffer()
      dropped = true
    }
    return dropped
  }

  async #fetch(leaderId: number, plan: Extract<FetchPlan, { kind: 'fetch' }>): Promise<void> {
    const { topicId, connections, leaders, limits } = this.#parts
    const { maxWaitMs, bytesMax, cursors } = plan
    const address = leaders.addressOf(leaderId)
    if (address === undefined) {
      return this.#troubleAll(cursors, { kind: 'locate', message: `broker ${leaderId} is not listed` })
    }
    const request = {}
    const isAwaited = (cursor: PartitionCursor): boolean => cursor.request === request
    for (const cursor of cursors) cursor.request = request
    this.#reservedBytes += bytesMax
    const startedMs = systemClock.monotonicMs()
    const overdue = this.#whenOverdue(maxWaitMs + OVERDUE_MS, () => cursors.filter(isAwaited))
    const send = sendFetch({ topicId, maxWaitMs, minBytes: 1, bytesMax, partitions: cursors.map(partitionOf) })
    const exchange = await connections.exchange(address, maxWaitMs + limits.requestMsMax, send)
    overdue.end()
    this.#reservedBytes -= bytesMax
    if (this.#isOver) return
    const earlyMs = startedMs + maxWaitMs - systemClock.monotonicMs()
    this.#take(leaderId, cursors.filter(isAwaited), exchange, earlyMs)
  }

  #take(leaderId: number, cursors: readonly PartitionCursor[], exchange: Exchange<FetchAnswer>, earlyMs: number): void {
    if (exchange.kind === 'silence') {
      return this.#troubleAll(cursors, verdictOfSilence(exchange.reason, exchange.message))
    }
    const { throttleMs, errorCode, partitions } = exchange.answer
    if (throttleMs > 0) this.#restLeader(leaderId, throttleMs)
    if (errorCode !== 0) return this.#troubleAll(cursors, verdictOfCode(errorCode, `broker ${leaderId}`))
    if (throttleMs > 0) this.#served(throttleMs)
    const answers = new Map(partitions.map((answer) => [answer.partition, answer]))
    const served = new Set<PartitionCursor>()
    for (const cursor of cursors) {
      const answer = answers.get(cursor.partition)
      cursor.request = undefined
      // A broker over its quota answers about no partition at all: it serves, and is only to be waited for.
      if (answer === undefined && throttleMs > 0) cursor.settled()
      else if (answer === undefined) this.#trouble(cursor, { kind: 'again', message: `broker ${leaderId} left it out` })
      else if (this.#accept(cursor, answer)) served.add(cursor)
    }
    if (served.size > 0) {
      this.#served(0)
      this.#order = [...this.#order.filter((cursor) => !served.has(cursor)), ...served]
    } else if (earlyMs > 0) this.#restLeader(leaderId, Math.min(earlyMs, EMPTY_ANSWER_PAUSE_MS))
    if (cursors.some((cursor) => cursor.isReady)) this.#parts.arrived()
  }

  #served(restMs: number): void {
    this.servedUntilMs = Math.max(this.servedUntilMs, systemClock.monotonicMs() + restMs)
  }

  #restLeader(leaderId: number, restMs: number): void {
    // A shorter rest does not end a longer one that the broker asked for.
    const untilMs = systemClock.monotonicMs() + restMs
    this.#restUntilMs.set(leaderId, Math.max(untilMs, this.#restUntilMs.get(leaderId) ?? 0))
  }

  /** Takes the answer about one partition; says whether it brought batches. */
  #accept(cursor: PartitionCursor, answer: PartitionAnswer): boolean {
    const { topic, topicId, codecs } = this.#parts
    const where = `${topic}[${cursor.partition}]`
    const verdict = verdictOfAnswer(answer, cursor.fetchOffset, where)
    if (verdict.kind !== 'good') {
      this.#trouble(cursor, verdict)
      return false
    }
    if (answer.topicId !== topicId) {
      const message = `${where} was served as topic ${answer.topicId ?? 'without an id'}, not as ${topicId}`
      this.fail({ reason: 'unknown-topic', partition: cursor.partition, message })
      return false
    }
    cursor.settled()
    // Pausing ends fetching. What was on its way is kept; what a broker was still waiting for is not wanted any more.
    if (cursor.paused && systemClock.monotonicMs() - cursor.pausedAtMs > PAUSED_ANSWER_MS) return false
    try {
      return cursor.accept(answer, topicId, codecs)
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error
      this.fail({ reason: 'other', partition: cursor.partition, message: `${where}: ${error.message}` })
      return false
    }
  }

  #troubleAll(cursors: readonly PartitionCursor[], verdict: FetchVerdict): void {
    for (const cursor of cursors) this.#trouble(cursor, verdict)
  }

  /** Bounded by time: a partition that nobody serves for so long ends the reader, its position untouched. */
  #trouble(cursor: PartitionCursor, verdict: FetchVerdict): void {
    if (verdict.kind === 'good') return
    const { topic, limits } = this.#parts
    const { partition } = cursor
    const { message } = verdict
    if (verdict.kind === 'failed') return this.fail({ reason: verdict.reason, partition, message })
    const nowMs = systemClock.monotonicMs()
    cursor.troubleSinceMs ??= nowMs
    if (verdict.kind === 'unknown-id') cursor.unknownIdSinceMs ??= nowMs
    const lastsMs = Math.round(nowMs - cursor.troubleSinceMs)
    if (cursor.unknownIdSinceMs !== undefined && nowMs - cursor.unknownIdSinceMs > UNKNOWN_ID_MS_MAX) {
      return this.fail({ reason: 'unknown-topic', partition, message: `${message}, for ${lastsMs} ms` })
    }
    if (lastsMs > limits.unavailableMsMax) {
      const text = `${topic}[${partition}] was not served for ${lastsMs} ms: ${message}`
      return this.fail({ reason: 'connection', partition, message: text })
    }
    cursor.notBeforeMs = nowMs + Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** Math.min(cursor.attempts, 10))
    cursor.attempts += 1
    if (verdict.kind === 'again') return
    cursor.leaderId = -1
    this.#startLocating()
  }

  #startLocating(): void {
    if (this.#locating || this.#isOver) return
    this.#locating = true
    this.#run(this.#locate())
  }

  async #locate(): Promise<void> {
    for (let waitMs: number = BACKOFF_MS.first; !this.#isOver; waitMs = Math.min(waitMs * 2, BACKOFF_MS.most)) {
      const leaders = await this.#askLeaders()
      if (this.#isOver) return
      for (const cursor of this.#order.filter(({ leaderId }) => leaderId < 0)) {
        // Metadata can be older than what is known; a leader of an earlier epoch would refuse.
        const isFound = leaders.kind === 'leaders' && this.#follow(cursor, leaders.of, cursor.leaderEpoch)
        if (!isFound) this.#unlocated(cursor, leaders.kind === 'none' ? leaders.message : 'it has no leader')
      }
      this.#locating = this.#order.some(({ leaderId }) => leaderId < 0)
      this.changed()
      if (!this.#locating) return
      await this.#locateSignal.wait(waitMs)
    }
  }

  /** Asks again and again, while a leader keeps silent beyond its time, whether another one has taken its place. */
  #whenOverdue(afterMs: number, awaited: () => readonly PartitionCursor[]): { end(): void } {
    let timer: ReturnType<typeof setTimeout> | undefined
    let ended = false
    const look = async (): Promise<void> => {
      if (this.#isOver) return
      const leaders = await this.#askLeaders()
      const silent = awaited()
      // While leaders were asked for, the answer may have come, or the end of it all: nobody would stop another timer.
      if (ended || this.#isOver || silent.length === 0) return
      for (const cursor of silent) {
        if (leaders.kind === 'leaders' && this.#follow(cursor, leaders.of, cursor.leaderEpoch + 1)) {
          cursor.request = undefined
        }
      }
      this.changed()
      lookIn(OVERDUE_MS)
    }
    const lookIn = (delayMs: number): void => {
      timer = setTimeout(() => this.#run(look()), delayMs)
    }
    lookIn(afterMs)
    return {
      end() {
        ended = true
        clearTimeout(timer)
      },
    }
  }

  #follow(cursor: PartitionCursor, leaders: ReadonlyMap<number, PartitionLeader>, epochMin: number): boolean {
    const leader = leaders.get(cursor.partition)
    if (leader === undefined || leader.leaderEpoch < epochMin) return false
    cursor.leaderId = leader.leaderId
    cursor.leaderEpoch = leader.leaderEpoch
    return true
  }

  /** The leaders as brokers tell them; a topic that is gone or is another one ends the reader. */
  async #askLeaders(): Promise<
    | { readonly kind: 'leaders'; readonly of: ReadonlyMap<number, PartitionLeader> }
    | { readonly kind: 'none'; readonly message: string }
  > {
    const { topic, topicId, leaders } = this.#parts
    const reading = await leaders.ask(topic, LOCATE_MS_MAX)
    const partition = undefined
    if (reading.kind === 'described') {
      if (reading.topicId === topicId) return { kind: 'leaders', of: reading.leaders }
      // The name has another id: ours was deleted. Another id is never adopted.
      const message = `topic ${topic} has the id ${reading.topicId}; ${topicId} is read`
      this.fail({ reason: 'unknown-topic', partition, message })
    } else if (reading.kind === 'gone') {
      this.fail({ reason: 'unknown-topic', partition, message: reading.message })
    } else if (reading.reason === 'authorization') {
      this.fail({ reason: 'authorization', partition, message: reading.message })
    }
    return { kind: 'none', message: reading.kind === 'described' ? '' : reading.message }
  }

  #unlocated(cursor: PartitionCursor, message: string): void {
    const { topic, limits } = this.#parts
    const nowMs = systemClock.monotonicMs()
    cursor.troubleSinceMs ??= nowMs
    const lastsMs = Math.round(nowMs - cursor.troubleSinceMs)
    if (lastsMs <= limits.unavailableMsMax) return
    const text = `${topic}[${cursor.partition}] was not served for ${lastsMs} ms: ${message}`
    this.fail({ reason: 'connection', partition: cursor.partition, message: text })
  }
}

function partitionOf(cursor: PartitionCursor) {
  const { partition, leaderEpoch, fetchOffset, lastFetchedEpoch, bytesMax } = cursor
  return { partition, leaderEpoch, fetchOffset, lastFetchedEpoch, bytesMax }
}
