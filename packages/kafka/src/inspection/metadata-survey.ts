import { systemClock } from '@tidemark/core'
import type { CancelSignal } from '@tidemark/core'
import type { BrokerAnswer, IdentitySurvey } from '@tidemark/log'
import type { BrokerConnections, Exchange } from './broker-connections.ts'
import { addressText } from '../connection-options.ts'
import type { BrokerAddress } from '../connection-options.ts'
import { askMetadata, brokersOfAnswer, identityOfAnswer } from './topic-metadata.ts'
import type { MetadataAnswer } from './topic-metadata.ts'

/** The most brokers one survey asks; a cluster lists its members, and a longer list is not one cluster. */
export const SURVEYED_BROKERS_MAX = 1000

/** What a survey found: the answers, and the brokers to ask next time. */
export interface SurveyResult {
  readonly survey: IdentitySurvey
  /** Where every listed broker listens. */
  readonly members: ReadonlyMap<number, BrokerAddress>
}

/** What a survey starts from. */
export interface SurveyRequest {
  readonly topic: string
  readonly bootstrap: readonly BrokerAddress[]
  /** Members known from an earlier survey; asked directly, so that a steady cluster costs one round trip a broker. */
  readonly known: ReadonlyMap<number, BrokerAddress>
  readonly deadlineMs: number
  readonly signal?: CancelSignal
}

interface Target {
  readonly address: BrokerAddress
  /** Broker ids this address stands for; empty for a bootstrap address that no answer lists. */
  readonly brokerIds: Set<number>
  exchange: Exchange<MetadataAnswer> | undefined
}

/**
 * Asks every broker any answer lists, in parallel, until no unasked one is left.
 *
 * Ends early when all that is still silent are addresses nobody lists: a dead bootstrap address, or a member that
 * everybody else has dropped. Settles by the deadline. Promises: KAF-9.
 */
export async function surveyBrokers(connections: BrokerConnections, request: SurveyRequest): Promise<SurveyResult> {
  const { topic, deadlineMs, signal } = request
  const until = systemClock.monotonicMs() + deadlineMs
  const targets = new Map<string, Target>()
  const wake = newWake()
  let cancelled = false
  const send = askMetadata(topic)

  const ask = (address: BrokerAddress, brokerId: number | undefined): void => {
    const key = addressText(address)
    const existing = targets.get(key)
    if (existing !== undefined) {
      if (brokerId !== undefined) existing.brokerIds.add(brokerId)
      return
    }
    if (targets.size >= SURVEYED_BROKERS_MAX) return
    const target: Target = {
      address,
      brokerIds: new Set(brokerId === undefined ? [] : [brokerId]),
      exchange: undefined,
    }
    targets.set(key, target)
    const remainingMs = Math.max(0, until - systemClock.monotonicMs())
    void connections.exchange(address, remainingMs, send).then((exchange) => {
      target.exchange = exchange
      if (exchange.kind === 'answer') for (const [id, where] of brokersOfAnswer(exchange.answer)) ask(where, id)
      wake.ring()
    })
  }

  for (const [id, address] of request.known) ask(address, id)
  if (request.known.size === 0) for (const address of request.bootstrap) ask(address, undefined)
  const onAbort = (): void => {
    cancelled = true
    wake.ring()
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted === true) onAbort()
  try {
    let bootstrapAsked = request.known.size === 0
    while (!cancelled) {
      if (!bootstrapAsked && allSilent(targets)) {
        // Every member known so far is gone: the cluster may have moved, so discovery starts again.
        bootstrapAsked = true
        for (const address of request.bootstrap) ask(address, undefined)
      }
      if (isComplete(targets)) break
      await wake.wait()
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  return resultOf(topic, targets, deadlineMs)
}

function newWake(): { ring(): void; wait(): Promise<void> } {
  let ring: () => void = () => undefined
  let next = new Promise<void>((resolve) => (ring = resolve))
  return {
    ring: () => {
      ring()
      next = new Promise<void>((resolve) => (ring = resolve))
    },
    wait: () => next,
  }
}

function allSilent(targets: ReadonlyMap<string, Target>): boolean {
  return [...targets.values()].every((target) => target.exchange?.kind === 'silence')
}

/** Complete when everything has settled, or when what is pending is listed by nobody that answered. */
function isComplete(targets: ReadonlyMap<string, Target>): boolean {
  const all = [...targets.values()]
  const pending = all.filter((target) => target.exchange === undefined)
  if (pending.length === 0) return true
  const listed = new Set<number>()
  for (const { exchange } of all) {
    if (exchange?.kind === 'answer') for (const id of brokersOfAnswer(exchange.answer).keys()) listed.add(id)
  }
  return listed.size > 0 && pending.every((target) => [...target.brokerIds].every((id) => !listed.has(id)))
}

function resultOf(topic: string, targets: ReadonlyMap<string, Target>, deadlineMs: number): SurveyResult {
  const answers: BrokerAnswer[] = []
  const members = new Map<number, BrokerAddress>()
  // A bootstrap address that no answer lists cannot be told apart by an id, so it gets one that no broker has.
  let nameless = -1
  for (const target of targets.values()) {
    const ids = target.brokerIds.size > 0 ? [...target.brokerIds] : [nameless--]
    for (const brokerId of ids) {
      answers.push(answerOf(topic, brokerId, target, deadlineMs))
    }
    if (target.exchange?.kind !== 'answer') continue
    for (const [id, address] of brokersOfAnswer(target.exchange.answer)) members.set(id, address)
  }
  return { survey: { topic, answers }, members }
}

function answerOf(topic: string, brokerId: number, target: Target, deadlineMs: number): BrokerAnswer {
  const { exchange, address } = target
  if (exchange?.kind === 'answer') {
    const listedBrokerIds = [...brokersOfAnswer(exchange.answer).keys()]
    return { brokerId, statement: identityOfAnswer(topic, exchange.answer), listedBrokerIds }
  }
  const { reason, message } = exchange ?? {
    reason: 'timeout' as const,
    message: `${addressText(address)} did not answer in ${deadlineMs} ms`,
  }
  return { brokerId, statement: { kind: 'no-answer', reason, message }, listedBrokerIds: [] }
}
