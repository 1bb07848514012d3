import { randomUUID } from 'node:crypto'
import { coreErrors, systemClock } from '@tidemark/core'
import type { CancelSignal } from '@tidemark/core'
import { conditionOf, eventConditionOf, GROUP_HINT } from './client-conditions.ts'
import type { ClientCondition } from './client-conditions.ts'
import { loadConfluentClient } from '../client-packages.ts'
import type {
  ConfluentAdmin,
  ConfluentClient,
  ConfluentConsumer,
  ConfluentError,
  ConfluentMessage,
  ConfluentPartition,
  ConfluentPosition,
  ConfluentTopic,
} from './confluent-client.ts'
import { brokersText } from '../connection-options.ts'
import type { CheckedConnection } from '../connection-options.ts'
import { kafkaErrors } from '../errors.ts'
import { guardedSettings } from './safe-consumer-options.ts'
import type { ClientTuning } from './safe-consumer-options.ts'
import { secretsRemover } from '../security.ts'

/** What one pull of everything that is ready brought. */
export type Pull =
  | {
      readonly kind: 'pulled'
      readonly messages: readonly ConfluentMessage[]
      readonly ends: readonly ConfluentPosition[]
    }
  | { readonly kind: 'error'; readonly error: ConfluentError }

/** A trouble the client told beside a pull. */
export type ClientTrouble =
  | { readonly kind: 'condition'; readonly condition: ClientCondition; readonly message: string }
  /** The client moved a position by itself, which its settings forbid. */
  | { readonly kind: 'reset'; readonly message: string }

/** What the fetching client learnt of the topic from a broker. */
export type TopicDescription =
  | { readonly kind: 'topic'; readonly topic: ConfluentTopic }
  | { readonly kind: 'condition'; readonly condition: ClientCondition; readonly message: string }

/** The official client, reduced to what cannot lose or move a position. */
export interface GuardedConsumer {
  /** Assigns explicit positions; can be called once. */
  assign(positions: readonly ConfluentPosition[]): void
  /** Takes what is ready, without waiting. Never rejects. */
  pull(messagesMax: number): Promise<Pull>
  pause(partitions: readonly ConfluentPartition[]): void
  resume(partitions: readonly ConfluentPartition[]): void
  /** Asks a broker, over this client's own connections, what the topic is. Never rejects, settles by the deadline. */
  describe(topic: string, deadlineMs: number): Promise<TopicDescription>
  /** The last trouble told beside pulls. */
  trouble(): ClientTrouble | undefined
  /** Called with every statistics text. */
  onStatistics(listener: (text: string) => void): void
  /** Called with how long a broker lets this client wait, because of a quota. */
  onThrottle(listener: (restMs: number) => void): void
  /** Removes secrets from a text of the client. */
  clean(text: string): string
  /** Releases the client. Settles by its own deadline even when the client hangs. */
  close(): Promise<void>
}

/** What opening a consumer needs. */
export interface GuardedConsumerRequest {
  readonly connection: CheckedConnection
  readonly tuning: ClientTuning
  /** Only for messages. */
  readonly topic: string
  readonly partitionCount: number
  readonly deadlineMs: number
  readonly signal?: CancelSignal
  /** Takes the release of a client that could not be opened, so that a close can wait for it. */
  readonly onRelease: (release: Promise<void>) => void
}

/** How long releasing a client may take before its caller stops waiting. */
export const CLOSE_DEADLINE_MS = 10_000

/** How long the client's failing connection waits for its own release, less some for a late timer. Source: its lib/client.js. */
const OWN_RELEASE_MS_MAX = 9_500

/** Events are served by pulls, so the connection phase pulls this often to hear of a refused login. */
const OPENING_PULL_MS = 20

/**
 * Connects a client whose settings were built here.
 *
 * @throws {TidemarkError} TM_KAFKA_UNREACHABLE, TM_KAFKA_AUTHENTICATION_FAILED, TM_KAFKA_AUTHORIZATION_FAILED,
 *   TM_KAFKA_CLIENT_MISSING, TM_KAFKA_CLIENT_FAILED, TM_CORE_CANCELLED; the client is released before any of them.
 */
export async function openGuardedConsumer(
  request: GuardedConsumerRequest,
  client: ConfluentClient = loadConfluentClient(),
): Promise<GuardedConsumer> {
  const { connection, tuning, partitionCount } = request
  const groupName = `${connection.clientName}.${randomUUID()}`
  const settings = guardedSettings(connection, tuning, groupName, partitionCount)
  const clean = secretsRemover(connection.security)
  let raw: ConfluentConsumer
  try {
    raw = new client.KafkaConsumer({ ...settings.global }, { ...settings.topic })
  } catch (error) {
    throw failed('creating the client', error as ConfluentError, clean)
  }
  const running: NativeCalls = new Set()
  const consumer = wrap(raw, () => client.AdminClient.createFrom(raw), running, clean)
  try {
    await connect(raw, consumer, running, request)
  } catch (error) {
    // Released behind the caller's back: a blocked connect must not hold up the error beyond the deadline.
    request.onRelease(consumer.close())
    throw error
  }
  return consumer
}

/**
 * Calls of a client that have not returned. Releasing it beside one of them is a crash of the process: each runs in a
 * thread of its own, and none holds the client's native handle alive for the other.
 */
type NativeCalls = Set<Promise<unknown>>

function wrap(
  raw: ConfluentConsumer,
  createAdmin: () => ConfluentAdmin,
  running: NativeCalls,
  clean: (text: string) => string,
): GuardedConsumer {
  let ends: ConfluentPosition[] = []
  let trouble: ClientTrouble | undefined
  let assigned = false
  let admin: ConfluentAdmin | undefined
  let closing: Promise<void> | undefined
  raw.on('partition.eof', (event) => void ends.push(event))
  const tell = (told: ClientTrouble): void => {
    // A lost connection is noise that comes again and again; it must not cover what cannot heal.
    if (trouble === undefined || (trouble.kind === 'condition' && trouble.condition === 'connection')) trouble = told
  }
  raw.on('event.error', (error) => {
    tell({ kind: 'condition', condition: eventConditionOf(error), message: clean(error.message) })
  })
  for (const event of ['warning', 'error'] as const) {
    raw.on(event, (error) => tell({ kind: 'condition', condition: 'other', message: clean(String(error.message)) }))
  }
  raw.on('event.log', ({ fac, message }) => {
    // The one log line about a moved position. It cannot be written while auto.offset.reset is `error`.
    if (fac === 'OFFSET' && message.includes('offset reset')) tell({ kind: 'reset', message: clean(message) })
  })
  // Zero makes a pull take what is ready and nothing else: a waiting pull would start its wait anew at every message
  // and every end of partition, without bound.
  raw.setDefaultConsumeTimeout(0)
  return {
    assign(positions) {
      if (assigned)
        throw failed('assigning partitions twice', { code: -172, message: 'one assignment a client' }, clean)
      assigned = true
      raw.assign(positions)
    },
    pull(messagesMax) {
      const pull = new Promise<Pull>((resolve) => {
        try {
          raw.consume(messagesMax, (error, messages) => {
            const pulledEnds = ends
            if (pulledEnds.length > 0) ends = []
            if (error !== null && error !== undefined) resolve({ kind: 'error', error })
            else resolve({ kind: 'pulled', messages: messages ?? [], ends: pulledEnds })
          })
        } catch (error) {
          resolve({ kind: 'error', error: { code: -172, message: String((error as Error).message) } })
        }
      })
      addCall(running, pull)
      return pull
    },
    pause: (partitions) => raw.pause(partitions),
    resume: (partitions) => raw.resume(partitions),
    async describe(topic, deadlineMs) {
      if (closing !== undefined) return { kind: 'condition', condition: 'closed', message: 'the client was closed' }
      const call = startDescribe((admin ??= createAdmin()), topic, deadlineMs, clean)
      addCall(running, call.returned)
      return call.description
    },
    trouble: () => trouble,
    onStatistics: (listener) => raw.on('event.stats', (event) => listener(event.message)),
    onThrottle: (listener) => raw.on('event.throttle', (event) => listener(event.throttleTime)),
    clean,
    close: () => (closing ??= release(raw, running)),
  }
}

function addCall(running: NativeCalls, returned: Promise<unknown>): void {
  running.add(returned)
  void returned.then(() => running.delete(returned))
}

async function release(raw: ConfluentConsumer, running: NativeCalls): Promise<void> {
  const disconnect = async (): Promise<void> => {
    // Each of them ends by the deadline it was given.
    await Promise.all(running)
    await new Promise<void>((resolve) => {
      try {
        raw.disconnect(resolve)
      } catch {
        resolve()
      }
    })
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_DEADLINE_MS)
  })
  await Promise.race([disconnect(), expired])
  clearTimeout(timer)
}

interface DescribeCall {
  readonly description: Promise<TopicDescription>
  /** Resolves when the native call has returned, which may be after the description was given up. */
  readonly returned: Promise<void>
}

function startDescribe(
  admin: ConfluentAdmin,
  topic: string,
  deadlineMs: number,
  clean: (text: string) => string,
): DescribeCall {
  const condition = (error: ConfluentError): TopicDescription => ({
    kind: 'condition',
    condition: conditionOf(error),
    message: `${clean(error.message)} (code ${error.code})`,
  })
  let markReturned: () => void
  const returned = new Promise<void>((resolve) => {
    markReturned = resolve
  })
  const description = new Promise<TopicDescription>((resolve) => {
    const timer = setTimeout(() => {
      resolve({ kind: 'condition', condition: 'timeout', message: `no description within ${deadlineMs} ms` })
    }, deadlineMs)
    const settle = (told: TopicDescription): void => {
      clearTimeout(timer)
      markReturned()
      resolve(told)
    }
    try {
      admin.describeTopics([topic], { timeout: Math.max(1, Math.floor(deadlineMs)) }, (error, topics) => {
        if (error !== null && error !== undefined) return settle(condition(error))
        const found = topics?.find((entry) => entry.name === topic)
        if (found === undefined) {
          return settle({ kind: 'condition', condition: 'other', message: 'an answer without the topic' })
        }
        if (found.error !== undefined && found.error.code !== 0) return settle(condition(found.error))
        settle({ kind: 'topic', topic: found })
      })
    } catch (error) {
      // Thrown before anything was sent: the client is not connected.
      settle({ kind: 'condition', condition: 'closed', message: clean(String((error as Error).message)) })
    }
  })
  return { description, returned }
}

async function connect(
  raw: ConfluentConsumer,
  consumer: GuardedConsumer,
  running: NativeCalls,
  request: GuardedConsumerRequest,
): Promise<void> {
  const { connection, deadlineMs, signal } = request
  const until = systemClock.monotonicMs() + deadlineMs
  let outcome: { readonly error: ConfluentError | undefined } | undefined
  const returned = new Promise<void>((resolve) => {
    // A connection that fails releases the client by itself before it returns, but waits only so long for that. Where the
    // wait ran out the release may still run, so the client is given up as it is.
    let ownReleaseFromMs = Infinity
    raw.on('connection.failure', () => (ownReleaseFromMs = systemClock.monotonicMs()))
    raw.connect({ timeout: Math.max(1, Math.floor(deadlineMs)) }, (error) => {
      outcome = { error: error ?? undefined }
      if (systemClock.monotonicMs() - ownReleaseFromMs < OWN_RELEASE_MS_MAX) resolve()
    })
  })
  addCall(running, returned)
  const brokers = brokersText(connection)
  for (;;) {
    if (signal?.aborted === true) throw coreErrors.create('TM_CORE_CANCELLED', { what: 'opening a reader' })
    const trouble = consumer.trouble()
    if (trouble?.kind === 'condition' && trouble.condition === 'authentication') {
      throw kafkaErrors.create('TM_KAFKA_AUTHENTICATION_FAILED', { brokers, reason: trouble.message })
    }
    if (outcome !== undefined && outcome.error === undefined) return
    if (outcome !== undefined || systemClock.monotonicMs() >= until) {
      const reason = trouble?.message ?? consumer.clean(outcome?.error?.message ?? 'no metadata answer')
      throw kafkaErrors.create('TM_KAFKA_UNREACHABLE', { brokers, deadlineMs, reason })
    }
    // Before the native client exists this answers with an error, which says nothing.
    const pull = await consumer.pull(1)
    if (pull.kind === 'error' && conditionOf(pull.error) === 'group-authorization') {
      const reason = `${consumer.clean(pull.error.message)}${GROUP_HINT}`
      throw kafkaErrors.create('TM_KAFKA_AUTHORIZATION_FAILED', { topic: request.topic, reason })
    }
    await systemClock.sleep(OPENING_PULL_MS, signal)
  }
}

function failed(operation: string, error: ConfluentError, clean: (text: string) => string): Error {
  const clientCode = typeof error.code === 'number' ? error.code : -1
  return kafkaErrors.create('TM_KAFKA_CLIENT_FAILED', { operation, clientCode, reason: clean(String(error.message)) })
}
