import type { TopicId } from '@tidemark/core'
import type { BrokerAnswer, IdentityStatement, NoAnswerReason } from '@tidemark/log'

/** What a broker believes of one topic. */
export interface TopicView {
  readonly clusterId: string
  readonly topicId: TopicId
  readonly partitionCount: number
}

/**
 * How a broker answers an identity question.
 *
 * `stale` answers with what it believed when it was made stale; `silent` lets the deadline pass; `answers` gives a fixed
 * non-answer at once.
 */
export type BrokerBehaviour =
  | { readonly kind: 'normal' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'answers'; readonly reason: NoAnswerReason }
  | { readonly kind: 'stale'; readonly view: (topic: string) => TopicView | undefined }

/** One broker of a simulated cluster. */
export interface SimBroker {
  readonly brokerId: number
  behave(behaviour: BrokerBehaviour): void
  readonly behaviour: BrokerBehaviour
  /** Which brokers it lists as members; `undefined` lists the real ones. */
  listOnly(brokerIds: readonly number[] | undefined): void
  readonly listedOverride: readonly number[] | undefined
  /** The answer it gives at this moment. */
  answer(topic: string, live: TopicView | undefined, members: readonly number[]): BrokerAnswer
}

/** A broker that answers truly until told otherwise. */
export function createSimBroker(brokerId: number): SimBroker {
  let behaviour: BrokerBehaviour = { kind: 'normal' }
  let listedOverride: readonly number[] | undefined
  return {
    brokerId,
    behave(next) {
      behaviour = next
    },
    get behaviour() {
      return behaviour
    },
    listOnly(brokerIds) {
      listedOverride = brokerIds
    },
    get listedOverride() {
      return listedOverride
    },
    answer(topic, live, members) {
      const statement = statementOf(behaviour, topic, live)
      // A broker that was not heard lists nobody; one that refuses the topic still names the cluster's members.
      const heard = behaviour.kind !== 'silent' && !isUnheard(statement)
      return { brokerId, statement, listedBrokerIds: heard ? (listedOverride ?? members) : [] }
    },
  }
}

function statementOf(behaviour: BrokerBehaviour, topic: string, live: TopicView | undefined): IdentityStatement {
  switch (behaviour.kind) {
    case 'silent':
      return { kind: 'no-answer', reason: 'timeout', message: 'no answer within the deadline' }
    case 'answers':
      return { kind: 'no-answer', reason: behaviour.reason, message: `simulated: ${behaviour.reason}` }
    case 'stale':
      return described(topic, behaviour.view(topic))
    case 'normal':
      return described(topic, live)
  }
}

function described(topic: string, view: TopicView | undefined): IdentityStatement {
  if (view === undefined) return { kind: 'no-answer', reason: 'unknown-topic', message: `no topic ${topic}` }
  return { kind: 'described', ...view }
}

function isUnheard(statement: IdentityStatement): boolean {
  return statement.kind === 'no-answer' && (statement.reason === 'timeout' || statement.reason === 'unreachable')
}
