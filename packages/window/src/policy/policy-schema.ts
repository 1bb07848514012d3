import { isWellFormed, EVENT_TIME_MAX_MS } from '@tidemark/core'
import { z } from 'zod'
import { pathText, shownValue } from './policy-problem.ts'
import type { PolicyPath, PolicyProblem } from './policy-problem.ts'
import { POLICY_SCHEMA } from './stream-time-policy.ts'
import type { StreamTimePolicy, WindowShape } from './stream-time-policy.ts'

/** What of a policy could be read: whole fields, each as the schema wants it. */
export type PolicyFields = { readonly [K in keyof StreamTimePolicy]?: StreamTimePolicy[K] }

/** The fields of an input that are right, and what is wrong with the others. */
export interface FieldsReading {
  readonly fields: PolicyFields
  readonly problems: readonly PolicyProblem[]
}

/** Longest name of a job, stream, source or zone. */
const nameCharactersMax = 200

const name = z
  .string()
  .min(1)
  .max(nameCharactersMax)
  .refine((text) => isWellFormed(text) && !/[\u0000-\u001f\u007f]/.test(text) && text.trim() === text, {
    message: 'holds control characters, lone surrogates or blanks at its ends',
  })
const version = z.int().min(1)
/** Nothing longer than the calendar; the rules look at what remains of it. */
const duration = z.int().min(0).max(EVENT_TIME_MAX_MS)
const length = duration.min(1)

const window: z.ZodType<WindowShape> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('tumbling'), sizeMs: length, offsetMs: duration }),
  z.strictObject({ kind: z.literal('sliding'), sizeMs: length, slideMs: length, offsetMs: duration }),
  z.strictObject({ kind: z.literal('session'), gapMs: length }),
  z.strictObject({ kind: z.literal('civil'), unit: z.literal(['day', 'week', 'month']), zone: name }),
])

/** One entry for every field of a policy, in its order; the compiler misses none. */
const fieldSchemas: { readonly [K in keyof StreamTimePolicy]: z.ZodType<StreamTimePolicy[K]> } = {
  schema: z.literal(POLICY_SCHEMA),
  job: z.strictObject({
    name,
    version,
    manifestDigest: z.string().refine((text) => /^[0-9a-f]{64}$/.test(text), {
      message: 'is not a SHA-256 in 64 small hexadecimal digits',
    }),
  }),
  businessStream: name,
  generation: version,
  sources: z.array(
    // A partition is a 32-bit number in Kafka's protocol.
    z.strictObject({ source: name, partitions: z.array(z.int().min(0).max(2_147_483_647)) }),
  ),
  timestampExtractor: z.strictObject({ name, version }),
  watermark: z.strictObject({ kind: z.literal('bounded-out-of-orderness'), boundMs: duration }),
  idlePartitionAfter: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('after'), quietMs: length }),
    z.strictObject({ kind: z.literal('never') }),
  ]),
  window,
  timezone: name,
  trigger: z.literal('ON_FRONTIER'),
  allowedLatenessMs: duration,
  lateClassification: z.literal('PER_WINDOW'),
  maxFutureSkewMs: duration,
  stateRetentionMs: duration,
  correctionMode: z.literal(['UPSERT_REVISION', 'DELTA']),
  corrections: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('per-event') }),
    z.strictObject({ kind: z.literal('per-batch') }),
    z.strictObject({ kind: z.literal('interval'), intervalMs: length }),
  ]),
  deduplication: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({ kind: z.literal('event-id'), retainMs: duration }),
  ]),
  allIdle: z.literal(['HOLD', 'FLUSH_MAX']),
  resumeBehind: z.literal(['HOLD', 'EXCLUDE']),
  input: z.literal(['append', 'changes']),
}

/** The fields of a policy, in the order in which problems are told. */
export const policyFieldNames: readonly (keyof StreamTimePolicy)[] = Object.keys(
  fieldSchemas,
) as (keyof StreamTimePolicy)[]

/**
 * Reads every field of an input by itself, so that one wrong field hides no other.
 *
 * `except` names fields whose faults are known already: they are left out, and are not missing.
 */
export function readPolicyFields(
  input: unknown,
  except: ReadonlySet<keyof StreamTimePolicy> = new Set(),
): FieldsReading {
  if (!isPlainObject(input)) {
    return { fields: {}, problems: [problem([], 'NOT_A_POLICY', `is ${shownValue(input)}, not an object`)] }
  }
  const fields: Record<string, unknown> = {}
  const problems: PolicyProblem[] = []
  for (const field of policyFieldNames) {
    if (except.has(field)) continue
    const value = input[field]
    const read = fieldSchemas[field].safeParse(value)
    if (read.success) fields[field] = read.data
    else problems.push(...read.error.issues.flatMap((issue) => problemsOfIssue(field, issue, value)))
  }
  const known = new Set<PropertyKey>(policyFieldNames)
  for (const key of Reflect.ownKeys(input)) {
    if (!known.has(key)) problems.push(problem([String(key)], 'FIELD_UNKNOWN', 'is not a field of a policy'))
  }
  return { fields, problems }
}

function problemsOfIssue(field: string, issue: z.core.$ZodIssue, root: unknown): readonly PolicyProblem[] {
  const inside = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const path = [field, ...inside]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => problem([...path, key], 'FIELD_UNKNOWN', 'is not a field of a policy'))
  }
  const value = valueAt(root, inside)
  const takes = expectation(issue)
  if (value === undefined) return [problem(path, 'FIELD_MISSING', `is missing; it takes ${takes}`)]
  if (issue.code === 'custom') return [problem(path, 'VALUE_INVALID', `${issue.message}: ${shownValue(value)}`)]
  return [problem(path, 'VALUE_INVALID', `is ${shownValue(value)}; it takes ${takes}`)]
}

/** What would have been right, in words. */
function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return nouns[issue.expected] ?? `a ${issue.expected}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? oneOf(issue.options) : 'another kind of value'
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string' ? `at most ${issue.maximum} characters` : `at most ${issue.maximum}`
    default:
      return 'another value'
  }
}

const nouns: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a whole number',
  string: 'a text',
  array: 'a list',
  object: 'an object',
}

function oneOf(values: readonly unknown[]): string {
  return values.map((value) => String(value)).join(' or ')
}

function valueAt(root: unknown, path: PolicyPath): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string | number, unknown>>)[step]
        : undefined,
    root,
  )
}

/** Whether a value is an object as JSON has them, of no class of its own. */
export function isPlainObject(input: unknown): input is Readonly<Record<string, unknown>> {
  if (typeof input !== 'object' || input === null) return false
  const prototype: unknown = Object.getPrototypeOf(input)
  return prototype === Object.prototype || prototype === null
}

function problem(path: PolicyPath, code: PolicyProblem['code'], message: string): PolicyProblem {
  return { path: pathText(path), code, message }
}
