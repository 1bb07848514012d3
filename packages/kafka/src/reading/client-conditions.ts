import type { NoAnswerReason, ReadFailure } from '@tidemark/log'
import type { ConfluentError } from './confluent-client.ts'

/** What a client's error code means here. */
export type ClientCondition =
  | 'out-of-range'
  | 'unknown-topic'
  | 'authorization'
  | 'group-authorization'
  | 'authentication'
  | 'connection'
  | 'timeout'
  | 'no-leader'
  | 'unsupported'
  | 'closed'
  | 'other'

/** librdkafka's local codes are negative, the broker's positive. */
const conditions: ReadonlyMap<number, ClientCondition> = new Map([
  // Truncation comes as -140 too, and only its text (which the binding drops) would tell it apart.
  [-140, 'out-of-range'],
  [-139, 'out-of-range'],
  [1, 'out-of-range'],
  [3, 'unknown-topic'],
  [17, 'unknown-topic'],
  [100, 'unknown-topic'],
  [-188, 'unknown-topic'],
  [-190, 'unknown-topic'],
  [29, 'authorization'],
  [31, 'authorization'],
  [30, 'group-authorization'],
  [-169, 'authentication'],
  [33, 'authentication'],
  [34, 'authentication'],
  [58, 'authentication'],
  [-181, 'authentication'],
  [-195, 'connection'],
  [-187, 'connection'],
  [-193, 'connection'],
  [-185, 'timeout'],
  [-166, 'timeout'],
  [7, 'timeout'],
  [5, 'no-leader'],
  [6, 'no-leader'],
  [35, 'unsupported'],
  [-165, 'unsupported'],
  [-197, 'closed'],
  [-172, 'closed'],
])

/** What an error of the fetching client means. */
export function conditionOf(error: ConfluentError): ClientCondition {
  return conditions.get(error.code) ?? 'other'
}

/** The client's words for the conditions that its events report without a usable code. */
const eventWords: readonly (readonly [words: RegExp, condition: ClientCondition])[] = [
  [/authentication (failure|failed)|sasl auth/i, 'authentication'],
  [/topic authorization failed/i, 'authorization'],
  [/group authorization failed/i, 'group-authorization'],
  [/unknown topic|unknown partition/i, 'unknown-topic'],
  [/fatal error/i, 'other'],
  [/transport failure|brokers? (connections )?(are )?down|resolve|timed out|ssl error|disconnected/i, 'connection'],
]

/**
 * What an error event of the fetching client means, by its words.
 *
 * The binding turns every event's code into -1, so that only the text is left; an unknown text is a lost connection,
 * which the client repairs by itself and the identity lease notices otherwise.
 */
export function eventConditionOf(error: ConfluentError): ClientCondition {
  return eventWords.find(([words]) => words.test(error.message))?.[1] ?? 'connection'
}

/** The read failure an error of the fetching client ends the reader with. */
export function readFailureOf(error: ConfluentError, words: string, partition: number | undefined): ReadFailure {
  const condition = conditionOf(error)
  const hint = condition === 'group-authorization' ? GROUP_HINT : ''
  return { reason: failureReason(condition), partition, message: `${words} (code ${error.code})${hint}` }
}

/** The client looks up a coordinator for the name it will never use, and that needs a permission. */
export const GROUP_HINT = '; grant Describe on the group name prefix, which is clientName'

function failureReason(condition: ClientCondition): ReadFailure['reason'] {
  switch (condition) {
    case 'out-of-range':
    case 'unknown-topic':
    case 'authorization':
    case 'connection':
    case 'closed':
      return condition
    case 'group-authorization':
    case 'authentication':
      return 'authorization'
    case 'timeout':
    case 'no-leader':
      return 'connection'
    case 'unsupported':
    case 'other':
      return 'other'
  }
}

/** Why the fetching client's own description of the topic is missing. */
export function noAnswerReasonOf(condition: ClientCondition): NoAnswerReason {
  switch (condition) {
    case 'unknown-topic':
    case 'timeout':
    case 'no-leader':
    case 'unsupported':
    case 'authorization':
      return condition
    case 'authentication':
    case 'group-authorization':
      return 'authorization'
    case 'connection':
    case 'closed':
      return 'unreachable'
    case 'out-of-range':
    case 'other':
      return 'malformed'
  }
}
