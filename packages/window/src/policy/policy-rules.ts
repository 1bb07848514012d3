import { longest, reachesAhead, reachesBehind, TIME_REACH_MAX_MS, windowSpanMaxMs } from '../time/time-domain.ts'
import type { TimeReach } from '../time/time-domain.ts'
import { renderDuration } from './duration.ts'
import { isKnownZone } from './known-zone.ts'
import { pathText, shownValue } from './policy-problem.ts'
import type { PolicyPath, PolicyProblem } from './policy-problem.ts'
import type { PolicyFields } from './policy-schema.ts'
import type { PolicySource } from './stream-time-policy.ts'

/** The windows one event may be in: a week by the minute and more. Each costs an accumulator for every key. */
export const WINDOWS_PER_EVENT_MAX = 16_384

/** The partitions one policy may have, over all its sources. */
export const PARTITIONS_MAX = 100_000

/** What the rules ask of the aggregate that will compute under a policy; every aggregate of this package has it. */
export interface AggregateAbilities {
  readonly name: string
  readonly retract?: unknown
  readonly difference?: unknown
}

/**
 * Every way in which the fields of a policy contradict each other, all at once.
 *
 * Fields that could not be read are left out, and so is what they would have decided; what is told holds whatever they say.
 *
 * Promises: WIN-6, WIN-7.
 */
export function policyContradictions(fields: PolicyFields, aggregate?: AggregateAbilities): readonly PolicyProblem[] {
  const read = fields.window?.kind === 'civil' && !isKnownZone(fields.window.zone) ? without(fields, 'window') : fields
  return [
    ...topologyProblems(fields.sources),
    ...windowProblems(fields),
    ...zoneProblems(fields),
    ...rangeProblems(read),
    ...retentionProblems(read),
    ...(aggregate === undefined ? [] : aggregateProblems(fields, aggregate)),
  ]
}

function topologyProblems(sources: readonly PolicySource[] | undefined): readonly PolicyProblem[] {
  if (sources === undefined) return []
  if (sources.length === 0) return [problem(['sources'], 'TOPOLOGY_EMPTY', 'names no source')]
  const problems: PolicyProblem[] = []
  const seen = new Set<string>()
  let count = 0
  sources.forEach(({ source, partitions }, at) => {
    count += partitions.length
    if (seen.has(source)) {
      problems.push(problem(['sources', at, 'source'], 'SOURCE_REPEATED', `lists ${shownValue(source)} again`))
    }
    seen.add(source)
    if (partitions.length === 0) {
      problems.push(problem(['sources', at, 'partitions'], 'TOPOLOGY_EMPTY', `of ${shownValue(source)} is empty`))
    }
    const disorder = partitions.findIndex((partition, index) => index > 0 && partition <= partitions[index - 1]!)
    if (disorder > 0) {
      const told = `is ${partitions[disorder]!} after ${partitions[disorder - 1]!}; partitions are listed in ascending order, each once`
      problems.push(problem(['sources', at, 'partitions', disorder], 'PARTITIONS_NOT_ASCENDING', told))
    }
  })
  if (count > PARTITIONS_MAX) {
    problems.push(problem(['sources'], 'TOPOLOGY_TOO_LARGE', `has ${count} partitions; at most ${PARTITIONS_MAX}`))
  }
  return problems
}

function windowProblems({ window }: PolicyFields): readonly PolicyProblem[] {
  if (window === undefined || window.kind === 'session' || window.kind === 'civil') return []
  const problems: PolicyProblem[] = []
  const stepMs = window.kind === 'sliding' ? window.slideMs : window.sizeMs
  if (window.kind === 'sliding' && window.slideMs > window.sizeMs) {
    const told = `is ${renderDuration(window.slideMs)}, more than the size of ${renderDuration(window.sizeMs)}: events between two windows would be in none`
    problems.push(problem(['window', 'slideMs'], 'SLIDE_ABOVE_SIZE', told))
  }
  if (window.offsetMs >= stepMs) {
    const told = `is ${renderDuration(window.offsetMs)}; it is smaller than the ${renderDuration(stepMs)} from one window to the next`
    problems.push(problem(['window', 'offsetMs'], 'OFFSET_OUTSIDE_TILE', told))
  }
  const windows = Math.ceil(window.sizeMs / stepMs)
  if (windows > WINDOWS_PER_EVENT_MAX) {
    const told = `puts every event into ${windows} windows; at most ${WINDOWS_PER_EVENT_MAX}`
    problems.push(problem(['window', 'slideMs'], 'TOO_MANY_WINDOWS', told))
  }
  return problems
}

function zoneProblems({ window, timezone }: PolicyFields): readonly PolicyProblem[] {
  const named: readonly (readonly [PolicyPath, string | undefined])[] = [
    [['window', 'zone'], window?.kind === 'civil' ? window.zone : undefined],
    // The zone that a civil window named is told there.
    [['timezone'], window?.kind === 'civil' && window.zone === timezone ? undefined : timezone],
  ]
  return named.flatMap(([path, zone]) =>
    zone === undefined || isKnownZone(zone)
      ? []
      : [problem(path, 'ZONE_UNKNOWN', `is ${shownValue(zone)}, which the pinned zone data do not know`)],
  )
}

function rangeProblems(fields: PolicyFields): readonly PolicyProblem[] {
  const { summed, alone } = reachesAhead(fields)
  const totalMs = summed.reduce((total, { ms }) => total + ms, 0)
  const ahead: TimeReach = { path: longest(summed).path, ms: totalMs }
  const tooFar = [ahead, ...alone, ...reachesBehind(fields)].filter(({ ms }) => ms > TIME_REACH_MAX_MS)
  const paths = tooFar.map(({ path }) => pathText(path))
  return tooFar
    .filter((_, at) => paths.indexOf(paths[at]!) === at)
    .map(({ path, ms }) => {
      const told = `makes the engine reckon ${ms} ms from an event time; beyond ${TIME_REACH_MAX_MS} ms times are not exact`
      return problem(path, 'TIME_OUT_OF_RANGE', told)
    })
}

function retentionProblems(fields: PolicyFields): readonly PolicyProblem[] {
  const { window, allowedLatenessMs, stateRetentionMs, deduplication } = fields
  if (allowedLatenessMs === undefined) return []
  const problems: PolicyProblem[] = []
  if (stateRetentionMs !== undefined && stateRetentionMs < allowedLatenessMs) {
    const told = `is ${renderDuration(stateRetentionMs)}, shorter than the allowed lateness of ${renderDuration(allowedLatenessMs)}`
    problems.push(problem(['stateRetentionMs'], 'RETENTION_BELOW_LATENESS', told))
  }
  if (window !== undefined && deduplication?.kind === 'event-id') {
    const neededMs = windowSpanMaxMs(window) + allowedLatenessMs
    if (deduplication.retainMs < neededMs) {
      const told = `is ${renderDuration(deduplication.retainMs)}; the last window of an event can be final as late as ${renderDuration(neededMs)} after it`
      problems.push(problem(['deduplication', 'retainMs'], 'IDS_FORGOTTEN_EARLY', told))
    }
  }
  return problems
}

function aggregateProblems(fields: PolicyFields, aggregate: AggregateAbilities): readonly PolicyProblem[] {
  const { correctionMode, input } = fields
  const who = `aggregate ${shownValue(aggregate.name)}`
  const problems: PolicyProblem[] = []
  const needing: readonly (readonly [PolicyPath, boolean])[] = [
    [['input'], input === 'changes'],
    [['correctionMode'], correctionMode === 'DELTA'],
  ]
  for (const [path, needed] of needing) {
    if (!needed || typeof aggregate.retract === 'function') continue
    const told = `is ${shownValue(path[0] === 'input' ? input : correctionMode)}, but ${who} cannot retract`
    problems.push(problem(path, 'AGGREGATE_CANNOT_RETRACT', told))
  }
  if (correctionMode === 'DELTA' && typeof aggregate.difference !== 'function') {
    const told = `is "DELTA", but ${who} cannot say by what two results differ`
    problems.push(problem(['correctionMode'], 'AGGREGATE_CANNOT_DIFFERENCE', told))
  }
  return problems
}

function without(fields: PolicyFields, left: keyof PolicyFields): PolicyFields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field !== left))
}

function problem(path: PolicyPath, code: PolicyProblem['code'], message: string): PolicyProblem {
  return { path: pathText(path), code, message }
}
