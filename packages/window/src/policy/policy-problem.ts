/** The stable name of a kind of problem. */
export type PolicyProblemCode =
  | 'NOT_A_POLICY'
  | 'FIELD_MISSING'
  | 'FIELD_UNKNOWN'
  | 'FIELD_REPEATED'
  | 'VALUE_INVALID'
  | 'PROFILE_UNKNOWN'
  | 'TOPOLOGY_EMPTY'
  | 'TOPOLOGY_TOO_LARGE'
  | 'SOURCE_REPEATED'
  | 'PARTITIONS_NOT_ASCENDING'
  | 'SLIDE_ABOVE_SIZE'
  | 'OFFSET_OUTSIDE_TILE'
  | 'TOO_MANY_WINDOWS'
  | 'ZONE_UNKNOWN'
  | 'TIME_OUT_OF_RANGE'
  | 'RETENTION_BELOW_LATENESS'
  | 'IDS_FORGOTTEN_EARLY'
  | 'AGGREGATE_CANNOT_RETRACT'
  | 'AGGREGATE_CANNOT_DIFFERENCE'

/** What each code of a problem means. Codes are stable. */
export const policyProblems: Readonly<Record<PolicyProblemCode, string>> = {
  NOT_A_POLICY: 'the input is no object and no text that could be read as one',
  FIELD_MISSING: 'a field is not there; none has a default',
  FIELD_UNKNOWN: 'a field that no policy has, perhaps a misspelt one',
  FIELD_REPEATED: 'a field is said more than once',
  VALUE_INVALID: 'a value is of another kind than the field takes, or outside its range',
  PROFILE_UNKNOWN: 'a profile of that name does not exist',
  TOPOLOGY_EMPTY: 'there is no source, or a source has no partition',
  TOPOLOGY_TOO_LARGE: 'more partitions than one policy takes',
  SOURCE_REPEATED: 'a source is listed more than once',
  PARTITIONS_NOT_ASCENDING: 'partitions of a source are not in ascending order, or one is listed twice',
  SLIDE_ABOVE_SIZE: 'windows slide further than they are long, so that some events are in none',
  OFFSET_OUTSIDE_TILE: 'an offset is not smaller than the step at which windows begin',
  TOO_MANY_WINDOWS: 'an event is in more windows than one policy takes',
  ZONE_UNKNOWN: 'the pinned zone data have no zone of that name',
  TIME_OUT_OF_RANGE: 'what the policy adds to an event time leaves too little of the safe range of times',
  RETENTION_BELOW_LATENESS: 'state is dropped while events are still accepted into it',
  IDS_FORGOTTEN_EARLY: 'an event id is forgotten before every window of the event is final',
  AGGREGATE_CANNOT_RETRACT: 'the aggregate cannot take back what it added, which changes and deltas need',
  AGGREGATE_CANNOT_DIFFERENCE: 'the aggregate cannot say by what two of its results differ, which deltas need',
}

/** One reason why an input is not a policy. */
export interface PolicyProblem {
  /** Where, from the root `$`: `$.window.slideMs`, or the field of the text: `$.window`. */
  readonly path: string
  readonly code: PolicyProblemCode
  /** One sentence without the path, with the values. */
  readonly message: string
  /** In a text, the line, from 1; of what is missing, that of the map it is missing from. */
  readonly line?: number
}

/** The steps from the root to a place in the input. */
export type PolicyPath = readonly (string | number)[]

/** A path as text; names that are not plain words are quoted, so that no two places share one. */
export function pathText(path: PolicyPath): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`
    return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  })
  return `$${steps.join('')}`
}

/** A value as a message shows it: on one line, and short. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (value === null || ['number', 'boolean', 'undefined'].includes(typeof value)) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A problem on one line, with its place. */
export function renderProblem({ path, line, message }: PolicyProblem): string {
  return line === undefined ? `${path} ${message}` : `line ${line}, ${path} ${message}`
}
