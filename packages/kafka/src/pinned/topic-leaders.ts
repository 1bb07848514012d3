import { readTopicId } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import type { NoAnswerReason } from '@tidemark/log'
import type { BrokerConnections, Send } from '../inspection/broker-connections.ts'
import { addressText } from '../connection-options.ts'
import type { BrokerAddress } from '../connection-options.ts'
import { askMetadata, brokersOfAnswer, identityOfAnswer, isLeaderless } from '../inspection/topic-metadata.ts'
import type { MetadataAnswer } from '../inspection/topic-metadata.ts'
import { FETCH_KEY, FETCH_VERSIONS } from './fetch-request.ts'
import { NO_FETCH_BY_ID } from './send-fetch.ts'

/** Who leads a partition since which epoch. */
export interface PartitionLeader {
  readonly leaderId: number
  readonly leaderEpoch: number
}

/** What brokers say of a topic's id and leaders. */
export type LeadersReading =
  | {
      readonly kind: 'described'
      readonly topicId: TopicId
      readonly partitionCount: number
      /** Partitions without a leader are not in it. */
      readonly leaders: ReadonlyMap<number, PartitionLeader>
    }
  /** Every broker that is known answered, and none knows the topic. */
  | { readonly kind: 'gone'; readonly message: string }
  | {
      readonly kind: 'unread'
      readonly reason: NoAnswerReason
      readonly message: string
      /** Whether it was the login that was refused. */
      readonly isLoginRefused: boolean
    }

/** Asks brokers for a topic's leaders and remembers where brokers listen. */
export interface TopicLeaders {
  /** Settles by the deadline and never rejects. */
  ask(topic: string, deadlineMs: number): Promise<LeadersReading>
  addressOf(brokerId: number): BrokerAddress | undefined
}

/** How many different reasons a message lists. */
const REASONS_MAX = 5

type Unread = Extract<LeadersReading, { kind: 'unread' }>

/** Leaders as any broker tells them; all are asked at once, so that a frozen one keeps nobody waiting. */
export function newTopicLeaders(connections: BrokerConnections, bootstrap: readonly BrokerAddress[]): TopicLeaders {
  let known: ReadonlyMap<number, BrokerAddress> = new Map()

  const askOne = async (topic: string, address: BrokerAddress, deadlineMs: number): Promise<LeadersReading> => {
    const exchange = await connections.exchange(address, deadlineMs, askMetadataOfFetcherById(topic))
    if (exchange.kind === 'silence') {
      const { reason, message } = exchange
      return { kind: 'unread', reason, message, isLoginRefused: reason === 'authorization' }
    }
    const reading = leadersOfAnswer(topic, exchange.answer)
    if (reading.kind === 'described') known = brokersOfAnswer(exchange.answer)
    return reading
  }
  return {
    addressOf: (brokerId) => known.get(brokerId),
    async ask(topic, deadlineMs) {
      const targets = new Map([...known.values(), ...bootstrap].map((address) => [addressText(address), address]))
      const others: LeadersReading[] = []
      const asked = [...targets.values()].map(async (address) => {
        const reading = await askOne(topic, address, deadlineMs)
        if (reading.kind === 'described') return reading
        others.push(reading)
        throw new Error(reading.kind)
      })
      return Promise.any(asked).catch(() => summaryOf(topic, others))
    },
  }
}

/** A broker that cannot serve a fetch by id is told at the opening, not at the first fetch. */
function askMetadataOfFetcherById(topic: string): Send<MetadataAnswer> {
  const ask = askMetadata(topic)
  return (link, done) => {
    if (link.newest(FETCH_KEY, FETCH_VERSIONS) !== undefined) return ask(link, done)
    done(Object.assign(new Error(NO_FETCH_BY_ID), { code: 'UNSUPPORTED_VERSION' }))
  }
}

/** What one Metadata answer says; a partition without a leader takes nothing from the others. */
export function leadersOfAnswer(topic: string, answer: MetadataAnswer): LeadersReading {
  const statement = identityOfAnswer(topic, answer)
  const found = answer.topics.find((entry) => entry.name === topic)
  if (statement.kind === 'no-answer' && (statement.reason !== 'no-leader' || found === undefined)) {
    const { reason, message } = statement
    return reason === 'unknown-topic'
      ? { kind: 'gone', message }
      : { kind: 'unread', reason, message, isLoginRefused: false }
  }
  const reading = readTopicId(found?.topicId ?? '')
  if (reading.kind !== 'topic-id') {
    return { kind: 'unread', reason: 'no-leader', message: `${topic} has no leaders`, isLoginRefused: false }
  }
  const leaders = new Map<number, PartitionLeader>()
  for (const partition of found!.partitions) {
    const { partitionIndex, leaderId, leaderEpoch } = partition
    if (!isLeaderless(partition)) leaders.set(partitionIndex, { leaderId, leaderEpoch })
  }
  return { kind: 'described', topicId: reading.topicId, partitionCount: found!.partitions.length, leaders }
}

/** What many answers without a description come to. A broker that said nothing may still know the topic. */
function summaryOf(topic: string, readings: readonly LeadersReading[]): LeadersReading {
  const gone = readings.find((reading) => reading.kind === 'gone')
  const unread = readings.flatMap((reading): readonly Unread[] => (reading.kind === 'unread' ? [reading] : []))
  if (gone !== undefined && unread.length === 0) return gone
  // A refusal says more than a silence.
  const telling = unread.find(({ reason }) => reason === 'authorization') ?? unread[0]
  const messages = [...new Set([...unread, ...(gone === undefined ? [] : [gone])].map(({ message }) => message))]
  return {
    kind: 'unread',
    reason: telling?.reason ?? 'unreachable',
    isLoginRefused: unread.some(({ isLoginRefused }) => isLoginRefused),
    message: messages.slice(0, REASONS_MAX).join('; ') || `no broker is known to ask for ${topic}`,
  }
}
