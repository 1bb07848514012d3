import { windowErrors } from '../errors.ts'
import { readCompactPolicy } from './compact/compact-policy.ts'
import type { CompactReadout } from './compact/compact-policy.ts'
import { deepFreeze } from './deep-freeze.ts'
import { pathText, shownValue } from './policy-problem.ts'
import type { PolicyPath, PolicyProblem } from './policy-problem.ts'
import { fieldsOfProfile, fillingsOf, policyProfileNamed, policyProfileNames } from './policy-profile.ts'
import type { PolicyFilling, PolicyProfileName } from './policy-profile.ts'
import { policyContradictions } from './policy-rules.ts'
import type { AggregateAbilities } from './policy-rules.ts'
import { isPlainObject, policyFieldNames, readPolicyFields } from './policy-schema.ts'
import type { PolicyFields } from './policy-schema.ts'
import type { PolicySource, StreamTimePolicy } from './stream-time-policy.ts'

/** Facts of one deployment, which a text shared by several leaves out. Each is said there or here, not in both. */
export interface PolicyDeployment {
  readonly manifestDigest?: string
  readonly businessStream?: string
  readonly generation?: number
  readonly sources?: readonly PolicySource[]
}

/** What a policy is read with. */
export interface ParsePolicyOptions {
  /** Fills what is not said, visibly; a text may name it itself. Without one nothing is filled. */
  readonly profile?: PolicyProfileName
  readonly deployment?: PolicyDeployment
  /** The aggregate that will compute: with changes or deltas it must be able to take back. */
  readonly aggregate?: AggregateAbilities
}

/** A policy, or everything that is wrong with the input. */
export type PolicyReading =
  | { readonly kind: 'policy'; readonly policy: StreamTimePolicy; readonly filled: readonly PolicyFilling[] }
  | { readonly kind: 'invalid'; readonly problems: readonly PolicyProblem[] }

/** One input on its way to a policy. */
interface Draft {
  readonly input: unknown
  readonly refused: ReadonlySet<keyof StreamTimePolicy>
  readonly problems: PolicyProblem[]
  readonly profile: string | undefined
  readonly placed: CompactReadout['placed']
}

/**
 * The policy that an object or a compact YAML text says, or all its problems at once, each with its path and in a text its line.
 *
 * Nothing has a default. Shape: a frozen copy with sources by name; the input is not kept.
 *
 * Promises: WIN-2 to WIN-7.
 */
export function parsePolicy(input: unknown, options: ParsePolicyOptions = {}): PolicyReading {
  const draft = withDeployment(draftOf(input), options.deployment)
  const { fields, problems: faults } = readPolicyFields(draft.input, draft.refused)
  const profile = chosenProfile(draft, options.profile)
  const unsaid = new Set(policyFieldNames.filter((field) => faults.some((fault) => isAbsent(fault, field))))
  const filled = profile === undefined ? [] : fillingsOf(profile, fields, unsaid)
  const complete: PolicyFields = { ...fields, ...Object.fromEntries(filled.map(({ field, value }) => [field, value])) }
  // What a profile would fill is not missing, even where it has to wait for a field that is.
  const covered = profile === undefined ? [] : fieldsOfProfile(profile)
  const remaining = faults.filter((fault) => !covered.some((field) => isAbsent(fault, field)))
  const contradictions = policyContradictions(complete, options.aggregate)
  const problems = inOrder([...draft.problems, ...[...remaining, ...contradictions].map(draft.placed)])
  if (problems.length > 0) return { kind: 'invalid', problems }
  const policy = { ...complete, sources: byName(complete.sources ?? []) } as StreamTimePolicy
  return { kind: 'policy', policy: deepFreeze(policy), filled: deepFreeze(filled) }
}

/**
 * The policy that {@link parsePolicy} reads, where anything else ends the start.
 *
 * @throws {TidemarkError} TM_WINDOW_POLICY_INVALID with every problem.
 */
export function requirePolicy(input: unknown, options: ParsePolicyOptions = {}): StreamTimePolicy {
  const reading = parsePolicy(input, options)
  if (reading.kind === 'policy') return reading.policy
  const problems = reading.problems.map(({ path, code, message, line }) => ({
    path: line === undefined ? path : `line ${line} ${path}`,
    code,
    message,
  }))
  throw windowErrors.create('TM_WINDOW_POLICY_INVALID', { problems })
}

function draftOf(input: unknown): Draft {
  if (typeof input !== 'string') {
    return { input, refused: new Set(), problems: [], profile: undefined, placed: (problem) => problem }
  }
  const readout = readCompactPolicy(input)
  const unreadable = readout.problems.some(({ code }) => code === 'NOT_A_POLICY')
  // Of a text that could not be read as a whole it is not known what it lacks.
  return { ...readout, problems: [...readout.problems], ...(unreadable ? { refused: new Set(policyFieldNames) } : {}) }
}

/** The input with the facts of the deployment in it; what both say is a problem. */
function withDeployment(draft: Draft, deployment: PolicyDeployment | undefined): Draft {
  const { input } = draft
  if (deployment === undefined || !isPlainObject(input)) return draft
  // By name: a deployment says facts, and nothing that a policy has to choose.
  const { manifestDigest, businessStream, generation, sources } = deployment
  const merged: Record<string, unknown> = { ...input }
  const add = (target: Record<string, unknown>, path: PolicyPath, field: string, value: unknown): void => {
    if (value === undefined) return
    if (target[field] === undefined) target[field] = value
    else {
      const message = 'is said by the policy and by the deployment; one of them says it'
      draft.problems.push(draft.placed({ path: pathText(path), code: 'FIELD_REPEATED', message }))
    }
  }
  for (const [field, value] of Object.entries({ businessStream, generation, sources }))
    add(merged, [field], field, value)
  const job = merged['job'] === undefined ? {} : merged['job']
  if (isPlainObject(job) && manifestDigest !== undefined) {
    const digested: Record<string, unknown> = { ...job }
    add(digested, ['job', 'manifestDigest'], 'manifestDigest', manifestDigest)
    merged['job'] = digested
  }
  return { ...draft, input: merged }
}

function chosenProfile(draft: Draft, asked: PolicyProfileName | undefined): PolicyProfileName | undefined {
  const said = draft.profile
  const tell = (code: PolicyProblem['code'], message: string): undefined => {
    draft.problems.push(draft.placed({ path: '$.profile', code, message }))
    return undefined
  }
  if (said !== undefined && asked !== undefined && said !== asked) {
    return tell('FIELD_REPEATED', `is ${shownValue(said)}, and ${shownValue(asked)} was asked for`)
  }
  const name = said ?? asked
  if (name === undefined) return undefined
  const known = policyProfileNamed(name)
  return known ?? tell('PROFILE_UNKNOWN', `is ${shownValue(name)}; there is ${policyProfileNames.join(', ')}`)
}

/** Whether a problem says that a field as a whole is not there. */
function isAbsent({ code, path }: PolicyProblem, field: string): boolean {
  return code === 'FIELD_MISSING' && path === pathText([field])
}

/** By line where there are lines, and each once: two parts of one line of a text may lack the same. */
function inOrder(problems: readonly PolicyProblem[]): readonly PolicyProblem[] {
  const sorted = problems.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0))
  const told = new Set<string>()
  return sorted.filter(({ path, code, message }) => {
    const before = told.size
    return told.add(`${path} ${code} ${message}`).size > before
  })
}

/** The order of sources says nothing, so that equal topologies are one policy. */
function byName(sources: readonly PolicySource[]): readonly PolicySource[] {
  return sources.toSorted((left, right) => (left.source < right.source ? -1 : 1))
}
