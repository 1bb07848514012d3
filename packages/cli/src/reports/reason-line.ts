import type { Refusal, StoredState } from '@tidemark/checkpoint'
import type { Verdict } from '../exit-codes.ts'
import type { ReasonLine, StoreLine } from './report.ts'

/** The runbook page of a refusal. A check of the documentation compares these names with the pages. */
export function refusalRunbook(code: string): string {
  return `docs/runbook/refusals/${code.toLowerCase().replaceAll('_', '-')}.md`
}

/** The runbook page of a dirty reason. */
export function dirtyRunbook(code: string): string {
  return `docs/runbook/dirty/${code.toLowerCase().replaceAll('_', '-')}.md`
}

/** A refusal as it is reported. */
export function reasonLine(refusal: Refusal): ReasonLine {
  const { code, partition, message, values, remedy } = refusal
  const where = partition === undefined ? {} : { partition }
  return { code, ...where, message, values, remedy, runbook: refusalRunbook(code) }
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

/** Refused, or only not proven: whether an operator must decide something or a service must answer. */
export function refusalVerdict(refusals: readonly Refusal[]): Extract<Verdict, 'refused' | 'unavailable'> {
  const silent = refusals.every(({ code, values }) => unanswered.has(code) && !finalReasons.has(values['reason']))
  return silent ? 'unavailable' : 'refused'
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
    evictionPolicy: eviction.policy,
    database: found,
  }
}
