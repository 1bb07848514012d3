import { describe, expect, it } from 'vitest'
import { parsePolicy, renderProblem, requirePolicy } from '../../src/index.ts'
import type { PolicyProblem } from '../../src/index.ts'
import { samplePolicy } from './sample-policy.ts'

function problemsOf(input: unknown): readonly PolicyProblem[] {
  const reading = parsePolicy(input)
  return reading.kind === 'invalid' ? reading.problems : []
}

const codes = (input: unknown): readonly string[] => problemsOf(input).map(({ path, code }) => `${path} ${code}`)

/** A policy with one value put somewhere inside. */
function withAt(path: readonly (string | number)[], value: unknown): unknown {
  const policy = structuredClone(samplePolicy()) as unknown as Record<string | number, unknown>
  let at = policy
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  const last = path.at(-1)!
  if (value === undefined) delete at[last]
  else at[last] = value
  return policy
}

describe('a policy as an object', () => {
  it('[WIN-2] is read with every field said, and nothing is filled', () => {
    expect(parsePolicy(samplePolicy())).toEqual({ kind: 'policy', policy: samplePolicy(), filled: [] })
  })

  it('[WIN-2] is a frozen copy that keeps nothing of the input', () => {
    const input = structuredClone(samplePolicy()) as { -readonly [K in keyof ReturnType<typeof samplePolicy>]: unknown }
    const policy = requirePolicy(input)
    input.allIdle = 'FLUSH_MAX'
    ;(input.job as { name: string }).name = 'other'
    ;(input.sources as { partitions: number[] }[])[0]!.partitions.push(9)
    expect(policy).toEqual(samplePolicy())
    for (const part of [policy, policy.job, policy.sources, policy.sources[0], policy.sources[0]!.partitions]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it('[WIN-2] has its sources by name, however they were listed', () => {
    const { sources } = samplePolicy()
    expect(requirePolicy(samplePolicy({ sources: sources.toReversed() }))).toEqual(samplePolicy())
  })

  it.each(Object.keys(samplePolicy()))('[WIN-2] [WB-19] has no default for %s', (field) => {
    expect(codes(withAt([field], undefined))).toEqual([`$.${field} FIELD_MISSING`])
  })

  it.each([
    ['job', 'name'],
    ['job', 'version'],
    ['job', 'manifestDigest'],
    ['sources', 0, 'source'],
    ['sources', 1, 'partitions'],
    ['timestampExtractor', 'name'],
    ['timestampExtractor', 'version'],
    ['watermark', 'kind'],
    ['watermark', 'boundMs'],
    ['idlePartitionAfter', 'kind'],
    ['idlePartitionAfter', 'quietMs'],
    ['window', 'kind'],
    ['window', 'sizeMs'],
    ['window', 'offsetMs'],
    ['corrections', 'kind'],
    ['deduplication', 'kind'],
    ['deduplication', 'retainMs'],
  ])('[WIN-2] names the missing %s %s %s', (...path) => {
    const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
    expect(codes(withAt(path, undefined))).toEqual([`$${text} FIELD_MISSING`])
  })

  it('[WIN-2] tells everything at once, in the order of the fields', () => {
    const input = {
      ...samplePolicy(),
      schema: 'streamTimePolicy.v2',
      job: { name: '', version: 0, manifestDigest: 'A', by: 'x' },
      generation: '3',
      sources: [{ source: 'orders', partitions: [0, -1, 1.5, '2'] }],
      window: { kind: 'hopping' },
      allowedLatenessMs: Number.NaN,
      allowedLateness: '24h',
    }
    expect(codes(input)).toEqual([
      '$.schema VALUE_INVALID',
      '$.job.name VALUE_INVALID',
      '$.job.version VALUE_INVALID',
      '$.job.manifestDigest VALUE_INVALID',
      '$.job.by FIELD_UNKNOWN',
      '$.generation VALUE_INVALID',
      '$.sources[0].partitions[1] VALUE_INVALID',
      '$.sources[0].partitions[2] VALUE_INVALID',
      '$.sources[0].partitions[3] VALUE_INVALID',
      '$.window.kind VALUE_INVALID',
      '$.allowedLatenessMs VALUE_INVALID',
      '$.allowedLateness FIELD_UNKNOWN',
    ])
  })

  it('[WIN-2] tells contradictions between the fields that could be read, beside those that could not', () => {
    const input = { ...samplePolicy(), job: null, stateRetentionMs: 1, sources: [] }
    expect(codes(input)).toEqual([
      '$.job VALUE_INVALID',
      '$.sources TOPOLOGY_EMPTY',
      '$.stateRetentionMs RETENTION_BELOW_LATENESS',
    ])
  })

  it.each([
    ['generation', 0, 'is 0; it takes at least 1'],
    ['generation', 1.5, 'is 1.5; it takes a whole number'],
    ['generation', 2 ** 53, `is ${2 ** 53}; it takes at most ${Number.MAX_SAFE_INTEGER}`],
    ['generation', 1n, 'is a bigint; it takes a whole number'],
    ['allowedLatenessMs', -1, 'is -1; it takes at least 0'],
    ['allowedLatenessMs', Number.POSITIVE_INFINITY, 'is Infinity; it takes a whole number'],
    ['allowedLatenessMs', null, 'is null; it takes a whole number'],
    ['maxFutureSkewMs', '5m', 'is "5m"; it takes a whole number'],
    ['trigger', 'ON_TIMER', 'is "ON_TIMER"; it takes ON_FRONTIER'],
    ['correctionMode', 'upsert', 'is "upsert"; it takes UPSERT_REVISION or DELTA'],
    ['allIdle', 'EXCLUDE', 'is "EXCLUDE"; it takes HOLD or FLUSH_MAX'],
    ['resumeBehind', 'FLUSH_MAX', 'is "FLUSH_MAX"; it takes HOLD or EXCLUDE'],
    ['lateClassification', 'PER_EVENT', 'is "PER_EVENT"; it takes PER_WINDOW'],
    ['input', [], 'is a list; it takes append or changes'],
    ['sources', {}, 'is an object; it takes a list'],
    ['window', 'tumbling:1h:UTC', 'is "tumbling:1h:UTC"; it takes an object'],
    ['businessStream', '', 'is ""; it takes a text that is not empty'],
    ['businessStream', 'x'.repeat(201), `is "${'x'.repeat(60)}…"; it takes at most 200 characters`],
    ['businessStream', ' a', 'holds control characters, lone surrogates or blanks at its ends: " a"'],
    [
      'businessStream',
      'a\u0000b',
      String.raw`holds control characters, lone surrogates or blanks at its ends: "a\u0000b"`,
    ],
    ['businessStream', '\ud800', String.raw`holds control characters, lone surrogates or blanks at its ends: "\ud800"`],
  ])('[WIN-2] says of %s %s what it is and what it takes', (field, value, message) => {
    expect(problemsOf(withAt([field], value))).toEqual([{ path: `$.${field}`, code: 'VALUE_INVALID', message }])
  })

  it.each([
    [['window'], { kind: 'tumbling', sizeMs: 0, offsetMs: 0 }, '$.window.sizeMs'],
    [['window'], { kind: 'sliding', sizeMs: 10, slideMs: 0, offsetMs: 0 }, '$.window.slideMs'],
    [['window'], { kind: 'tumbling', sizeMs: 10, offsetMs: -3 }, '$.window.offsetMs'],
    [['window'], { kind: 'session', gapMs: 0 }, '$.window.gapMs'],
    [['window'], { kind: 'civil', unit: 'hour', zone: 'UTC' }, '$.window.unit'],
    [['idlePartitionAfter'], { kind: 'after', quietMs: 0 }, '$.idlePartitionAfter.quietMs'],
    [['corrections'], { kind: 'interval', intervalMs: 0 }, '$.corrections.intervalMs'],
    [['job', 'manifestDigest'], 'a'.repeat(63), '$.job.manifestDigest'],
    [['sources', 0, 'partitions'], [2_147_483_648], '$.sources[0].partitions[0]'],
  ])('[WIN-2] refuses %j %j', (path, value, where) => {
    expect(codes(withAt(path, value))).toEqual([`${where} VALUE_INVALID`])
  })

  it.each([
    [['window'], { kind: 'tumbling', sizeMs: 1, offsetMs: 0 }],
    [['window'], { kind: 'civil', unit: 'month', zone: 'Europe/Berlin' }],
    [['idlePartitionAfter'], { kind: 'never' }],
    [['corrections'], { kind: 'interval', intervalMs: 1 }],
    [['sources', 0, 'partitions'], [2_147_483_647]],
    [['generation'], 1],
    [['maxFutureSkewMs'], 0],
    [['watermark', 'boundMs'], 0],
  ])('[WIN-2] takes %j %j, the last that is right', (path, value) => {
    const input = withAt(path, value) as ReturnType<typeof samplePolicy>
    expect(codes({ ...input, deduplication: { kind: 'none' } })).toEqual([])
  })

  it.each([[null], [undefined], [3], [[]], [new Date(0)], [new Map()], [() => 1]])(
    '[WIN-2] says that %j is no policy',
    (input) => {
      expect(codes(input)).toEqual(['$ NOT_A_POLICY'])
    },
  )

  it('[WIN-2] takes a field under a symbol or a foreign name for what it is', () => {
    const input = JSON.parse(JSON.stringify(samplePolicy()).replace('{', '{"__proto__":{"x":1},')) as object
    expect(codes({ ...samplePolicy(), [Symbol('why')]: 1, 'a b': 2 })).toEqual([
      '$["a b"] FIELD_UNKNOWN',
      '$["Symbol(why)"] FIELD_UNKNOWN',
    ])
    expect(codes(input)).toEqual(['$.__proto__ FIELD_UNKNOWN'])
  })

  it('[WIN-2] is an error where one is required, with every problem in it', () => {
    const input = { ...samplePolicy(), schema: undefined, allIdle: 'WAIT' }
    expect(() => requirePolicy(input)).toThrow(
      expect.objectContaining({
        code: 'TM_WINDOW_POLICY_INVALID',
        message:
          'the policy has 2 problems: $.schema: is missing; it takes streamTimePolicy.v1; ' +
          '$.allIdle: is "WAIT"; it takes HOLD or FLUSH_MAX',
        details: {
          problems: [
            { path: '$.schema', code: 'FIELD_MISSING', message: 'is missing; it takes streamTimePolicy.v1' },
            { path: '$.allIdle', code: 'VALUE_INVALID', message: 'is "WAIT"; it takes HOLD or FLUSH_MAX' },
          ],
        },
      }),
    )
    expect(() => requirePolicy('schema: streamTimePolicy.v1\nallIdle: WAIT', { profile: 'seed-v1' })).toThrow(
      'line 2 $.allIdle: is "WAIT"',
    )
  })

  it('[WIN-2] tells very many problems in a time that grows as they do', () => {
    const partitions = Array.from({ length: 50_000 }, () => -1)
    expect(problemsOf(samplePolicy({ sources: [{ source: 'orders', partitions }] }))).toHaveLength(50_000)
  })

  it('[WIN-2] prints a problem on one line', () => {
    const [problem] = problemsOf({ ...samplePolicy(), allIdle: 'WAIT' })
    expect(renderProblem(problem!)).toBe('$.allIdle is "WAIT"; it takes HOLD or FLUSH_MAX')
    expect(renderProblem({ ...problem!, line: 7 })).toBe('line 7, $.allIdle is "WAIT"; it takes HOLD or FLUSH_MAX')
  })
})
