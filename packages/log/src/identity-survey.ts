import type { TopicId } from '@tidemark/core'
import type { IdentityDifference, LogIdentity } from './log-identity.ts'
import { identityDifferences } from './log-identity.ts'

/** Why a broker (or the consumer's own client) said nothing usable about a topic's identity. */
export type NoAnswerReason =
  | 'timeout'
  | 'unreachable'
  | 'unknown-topic'
  | 'authorization'
  | 'zero-topic-id'
  | 'missing-cluster-id'
  | 'no-leader'
  | 'unsupported'
  | 'malformed'
  /** What the log keeps its identity in is damaged; waiting will not help. */
  | 'damaged'

/** What one broker says of a topic; ids and count come from one and the same Metadata answer. */
export type IdentityStatement =
  | {
      readonly kind: 'described'
      readonly clusterId: string
      readonly topicId: TopicId
      readonly partitionCount: number
    }
  | { readonly kind: 'no-answer'; readonly reason: NoAnswerReason; readonly message: string }

/** One broker's answer, and which brokers it lists as members of the cluster. */
export interface BrokerAnswer {
  readonly brokerId: number
  readonly statement: IdentityStatement
  /** Broker ids listed in the answer; empty when there was none. */
  readonly listedBrokerIds: readonly number[]
}

/** What the consumer's own client says; it knows no cluster id, so that part is checked by the brokers' answers alone. */
export type ClientStatement =
  | { readonly kind: 'described'; readonly topicId: TopicId; readonly partitionCount: number }
  | { readonly kind: 'no-answer'; readonly reason: NoAnswerReason; readonly message: string }

/** The answers of one round in which every known broker was asked about one topic. */
export interface IdentitySurvey {
  readonly topic: string
  readonly answers: readonly BrokerAnswer[]
}

/** What a survey proves. */
export type SurveyVerdict =
  | { readonly kind: 'proven'; readonly identity: LogIdentity }
  | {
      readonly kind: 'mismatch'
      readonly brokerId: number | 'client'
      readonly differences: readonly IdentityDifference[]
    }
  | {
      readonly kind: 'unproven'
      readonly brokerId: number | 'client' | 'none'
      readonly reason: NoAnswerReason | 'disagreement'
      readonly message: string
    }

/**
 * Whether a survey proves one identity, contradicts the held one, or proves nothing.
 *
 * Every broker that any answer lists must have answered with the same ids. One drops out only when all other answers
 * no longer list it: a frozen broker that still believes in the old topic must not be outvoted while it may still serve.
 * A contradiction wins over a missing answer, because topic ids are never reused.
 *
 * Promises: LOG-2, LOG-3, LOG-4.
 */
export function judgeSurvey(
  survey: IdentitySurvey,
  held: LogIdentity | undefined,
  client?: ClientStatement,
): SurveyVerdict {
  const described = survey.answers.flatMap((answer) =>
    answer.statement.kind === 'described'
      ? [{ brokerId: answer.brokerId, identity: identityOf(survey.topic, answer.statement) }]
      : [],
  )
  const expected = held ?? described[0]?.identity
  if (held !== undefined) {
    const contradiction = findContradiction(held, described, client)
    if (contradiction !== undefined) return contradiction
  }
  const silent = findSilent(survey, client)
  if (silent !== undefined) return silent
  // A survey that heard nobody is no proof of what is held either.
  if (expected === undefined || described.length === 0) {
    return {
      kind: 'unproven',
      brokerId: 'none',
      reason: 'unreachable',
      message: `no broker answered about topic ${survey.topic}`,
    }
  }
  // Without a held identity a disagreement says only that the cluster has not settled; with one it was caught above.
  const disagreement = findContradiction(expected, described, client)
  if (disagreement !== undefined) {
    const text = disagreement.differences.map((d) => `${d.field} ${d.expected} and ${d.found}`).join(', ')
    return {
      kind: 'unproven',
      brokerId: disagreement.brokerId,
      reason: 'disagreement',
      message: `brokers disagree: ${text}`,
    }
  }
  return { kind: 'proven', identity: expected }
}

function identityOf(topic: string, statement: Extract<IdentityStatement, { kind: 'described' }>): LogIdentity {
  const { clusterId, topicId, partitionCount } = statement
  return { clusterId, topic, topicId, partitionCount }
}

type Contradiction = Extract<SurveyVerdict, { kind: 'mismatch' }>

function findContradiction(
  expected: LogIdentity,
  described: readonly { readonly brokerId: number; readonly identity: LogIdentity }[],
  client: ClientStatement | undefined,
): Contradiction | undefined {
  for (const { brokerId, identity } of described) {
    const differences = identityDifferences(expected, identity)
    if (differences.length > 0) return { kind: 'mismatch', brokerId, differences }
  }
  if (client?.kind === 'described') {
    const { topicId, partitionCount } = client
    const differences = identityDifferences(expected, { ...expected, topicId, partitionCount })
    if (differences.length > 0) return { kind: 'mismatch', brokerId: 'client', differences }
  }
  return undefined
}

function findSilent(survey: IdentitySurvey, client: ClientStatement | undefined): SurveyVerdict | undefined {
  const answers = new Map(survey.answers.map((answer) => [answer.brokerId, answer]))
  for (const brokerId of mustAnswer(survey)) {
    const statement = answers.get(brokerId)?.statement
    if (statement === undefined) {
      return {
        kind: 'unproven',
        brokerId,
        reason: 'unreachable',
        message: `broker ${brokerId} is listed but was not heard`,
      }
    }
    if (statement.kind === 'no-answer')
      return { kind: 'unproven', brokerId, reason: statement.reason, message: statement.message }
  }
  if (client?.kind === 'no-answer')
    return { kind: 'unproven', brokerId: 'client', reason: client.reason, message: client.message }
  return undefined
}

/** A broker must answer when any answer other than its own lists it, or when it answered at all. */
function mustAnswer(survey: IdentitySurvey): readonly number[] {
  const required = new Set<number>()
  for (const answer of survey.answers) {
    if (answer.statement.kind === 'described' || answer.listedBrokerIds.length > 0) required.add(answer.brokerId)
    for (const listed of answer.listedBrokerIds) required.add(listed)
  }
  if (required.size === 0) for (const answer of survey.answers) required.add(answer.brokerId)
  return [...required].sort((a, b) => a - b)
}
