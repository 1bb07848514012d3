import { refusalRunbook } from '@tidemark/checkpoint'
import type { Refusal, StoredState } from '@tidemark/checkpoint'
import type { LogIdentity } from '@tidemark/log'
import type { Verdict } from '../verdicts.ts'
import { printable } from '../render/printable.ts'
import type { ReasonLine, ShownIdentity, StoreLine } from './report.ts'

/** The longest message shown; the parts of it that came from a store are cut already. */
export const MESSAGE_LENGTH_MAX = 1_000

/** A refusal as it is reported. */
export function reasonLine(refusal: Refusal): ReasonLine {
  const { code, partition, message, values, remedy } = refusal
  const where = partition === undefined ? {} : { partition }
  return {
    code,
    ...where,
    message: printable(message, MESSAGE_LENGTH_MAX),
    values: shownValues(values),
    remedy,
    runbook: refusalRunbook(code),
  }
}

/** The values of a reason; texts among them came from a store or a broker and may be of any size. */
export function shownValues(values: ReasonLine['values']): ReasonLine['values'] {
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? printable(value) : value,
  ])
  return Object.fromEntries(shown) as ReasonLine['values']
}

/** Reasons that say only that somebody gave no answer. */
const unanswered: ReadonlySet<string> = new Set([
  'STORE_LOADING',
  'IDENTITY_UNPROVEN',
  'BOUNDS_UNREADABLE',
  'SETTINGS_UNREADABLE',
  'WITNESS_UNPROVEN',
])

/** Answers that no waiting will change. */
const finalReasons: ReadonlySet<unknown> = new Set([
  'unknown-topic',
  'zero-topic-id',
  'missing-cluster-id',
  'unsupported',
])

/** Refused, or only not proven: whether an operator must decide something, a log is damaged, or a service must answer. */
export function refusalVerdict(refusals: readonly Refusal[]): Extract<Verdict, 'refused' | 'damaged' | 'unavailable'> {
  const isSilent = ({ code, values }: Refusal): boolean => unanswered.has(code) && !finalReasons.has(values['reason'])
  if (!refusals.every(isSilent)) return 'refused'
  return refusals.some(({ values }) => values['reason'] === 'damaged') ? 'damaged' : 'unavailable'
}

/** An identity as it is shown; what a store or a broker spells as one may be anything. */
export function shownIdentity({ clusterId, topic, topicId, partitionCount }: LogIdentity): ShownIdentity {
  return { clusterId: printable(clusterId), topic: printable(topic), topicId, partitionCount }
}

/** What a store says of itself, in one object. */
export function storeLine(name: string, { facts }: StoredState): StoreLine {
  const { durability, isPrimary, isLoaded, eviction, database } = facts
  const { found } = database
  return {
    name,
    durability,
    primary: isPrimary,
    loaded: isLoaded,
    evictionPolicy: printable(eviction.policy),
    database: printable(found),
  }
}
