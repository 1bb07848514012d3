import { describe, expect, it } from 'vitest'
import {
  parsePolicy,
  POLICY_TEXT_CHARACTERS_MAX,
  renderCompactPolicy,
  renderProblem,
  requirePolicy,
} from '../../src/index.ts'
import type { PolicyProblem, StreamTimePolicy } from '../../src/index.ts'
import { samplePolicy, seedDeployment, seedText } from './sample-policy.ts'

function problemsOf(text: string): readonly PolicyProblem[] {
  const reading = parsePolicy(text)
  return reading.kind === 'invalid' ? reading.problems : []
}

const places = (text: string): readonly string[] =>
  problemsOf(text).map(({ line, path, code }) => `${line} ${path} ${code}`)

/** Every field said in a text of its own, one line a field. */
const fullText = renderCompactPolicy(samplePolicy())
const withLine = (field: string, line: string): string =>
  fullText.replace(new RegExp(`^${field}:(?:.*\\n)(?: .*\\n)*`, 'm'), line === '' ? '' : `${line}\n`)
const lineOf = (text: string, start: string): number => text.split('\n').findIndex((line) => line.startsWith(start)) + 1

describe('a policy as compact text', () => {
  it('[WIN-3] that leaves out what decides correctness is told all of it at once', () => {
    expect(places(seedText)).toEqual([
      '1 $.manifestDigest FIELD_MISSING',
      '1 $.businessStream FIELD_MISSING',
      '1 $.generation FIELD_MISSING',
      '1 $.sources FIELD_MISSING',
      '1 $.trigger FIELD_MISSING',
      '1 $.lateClassification FIELD_MISSING',
      '1 $.maxFutureSkew FIELD_MISSING',
      '1 $.stateRetention FIELD_MISSING',
      '1 $.corrections FIELD_MISSING',
      '1 $.deduplication FIELD_MISSING',
      '1 $.allIdle FIELD_MISSING',
      '1 $.resumeBehind FIELD_MISSING',
      '1 $.input FIELD_MISSING',
    ])
    expect(renderProblem(problemsOf(seedText)[6]!)).toBe(
      'line 1, $.maxFutureSkew is missing; say it, such as maxFutureSkew: 5m',
    )
  })

  it('[WIN-3] has the line of every fault, in the order of the lines', () => {
    const text = [
      '# a comment',
      '',
      'schema: streamTimePolicy.v2',
      'allowedLateness: 1 day',
      'job: hourly-revenue',
      'sources:',
      '  orders:',
      '    - 0',
      '    - one',
      '  refunds: 7-3',
      'watermarks: bounded-out-of-orderness:5m',
      'window: tumbling:1h',
      'allIdle:',
      'input: { kind: append }',
    ].join('\n')
    expect(places(text).filter((place) => !place.includes('MISSING'))).toEqual([
      '3 $.schema VALUE_INVALID',
      '4 $.allowedLateness VALUE_INVALID',
      '5 $.job VALUE_INVALID',
      '9 $.sources.orders[1] VALUE_INVALID',
      '10 $.sources.refunds VALUE_INVALID',
      '11 $.watermarks FIELD_UNKNOWN',
      '12 $.window VALUE_INVALID',
      '13 $.allIdle VALUE_INVALID',
      '14 $.input VALUE_INVALID',
    ])
    const missing = places(text).filter((place) => place.includes('MISSING'))
    // That of the map they are missing from; the zone may be in the window that could not be read.
    expect(missing.every((place) => place.startsWith('3 '))).toBe(true)
    expect(missing).toContain('3 $.manifestDigest FIELD_MISSING')
    expect(missing.join()).not.toMatch(/timezone|\$\.job|\$\.window|\$\.sources|allIdle/)
  })

  it.each([
    ['generation: 0x10', 'is "0x10", which is not a whole number in plain digits'],
    ['generation: 010', 'is "010", which is not a whole number in plain digits'],
    ['generation: 1e3', 'is "1e3", which is not a whole number in plain digits'],
    ['generation: 1.0', 'is "1.0", which is not a whole number in plain digits'],
    ['generation: 0', 'is 0; it takes at least 1'],
    ['generation: 9007199254740993', 'is 9007199254740992; it takes at most 9007199254740991'],
    ['allIdle: on', 'is "on"; it takes HOLD or FLUSH_MAX'],
    ['allIdle: ~', 'is "~"; it takes HOLD or FLUSH_MAX'],
    ['allIdle: ""', 'is empty'],
    ['allIdle: [HOLD]', 'is no single value, such as allIdle: HOLD'],
    ['allIdle: &anchor HOLD\nresumeBehind: *anchor', 'is no single value, such as resumeBehind: HOLD'],
    ['job: a@0', 'is "a@0", which is not a name and a version from 1, such as hourly-revenue@14'],
    ['job: "@1"', 'is "@1", which is not a name and a version from 1, such as hourly-revenue@14'],
    ['manifestDigest: abc', 'is not a SHA-256 in 64 small hexadecimal digits: "abc"'],
    ['watermark: 5m', 'is "5m", which is not bounded-out-of-orderness: and a duration'],
    [
      'watermark: bounded-out-of-orderness:5',
      'is "bounded-out-of-orderness:5", which has "5", which is not a duration',
    ],
    ['idlePartitionAfter: sometimes', 'is "sometimes", which is neither never nor a duration, such as 15m'],
    ['idlePartitionAfter: 0s', 'is 0; it takes at least 1'],
    ['corrections: interval', 'is "interval", which is none of per-event, per-batch and interval: with a duration'],
    ['corrections: interval:1x', 'is "interval:1x", which has "1x", which is not a duration'],
    ['deduplication: event-id', 'is "event-id", which is neither none nor event-id: with a duration'],
    ['timezone: Mars/Olympus', 'is "Mars/Olympus", which the pinned zone data do not know'],
    ['sources: orders', 'is not a map of topics, such as sources: { orders: 0-11 }'],
    ['sources: [orders]', 'is not a map of topics, such as sources: { orders: 0-11 }'],
    ['sources: { [a]: 0 }', 'has a topic that is no text'],
    ['sources: { orders: 00 }', 'is "00", not a partition or a range of them, such as 0-11'],
    ['sources: { orders: { } }', 'is no single value, not a partition or a range of them, such as 0-11'],
    ['sources: { orders: 0-4294967296 }', 'is "0-4294967296", more than 100000 partitions'],
    ['sources: { orders: 5-4 }', 'is "5-4", a range that ends before it begins'],
    ['sources: { orders: [] }', 'of "orders" is empty'],
    ['sources: { orders: [2, 1] }', 'is 1 after 2; partitions are listed in ascending order, each once'],
    ['sources: { orders: [0-3, 3-4] }', 'is 3 after 3; partitions are listed in ascending order, each once'],
    ['sources: { orders: 0, orders: 1 }', 'lists "orders" again'],
    ['sources: {}', 'names no source'],
  ])('[WIN-3] takes scalars as they stand there (row %#): %s', (line, message) => {
    const field = line.slice(0, line.indexOf(':'))
    const text = withLine(field, line).replace(line.includes('*anchor') ? /^resumeBehind: HOLD\n/m : /^$/, '')
    const [problem, ...others] = problemsOf(text)
    expect(problem?.message).toContain(message)
    expect(problem?.line).toBe(lineOf(text, line.includes('*anchor') ? 'resumeBehind' : field))
    expect(others).toEqual([])
  })

  it('[WIN-3] says a field once', () => {
    const text = `${fullText}allIdle: FLUSH_MAX\n`
    const lines = text.split('\n').length - 1
    const first = lineOf(text, 'allIdle')
    expect(problemsOf(text)).toEqual([
      { path: '$.allIdle', code: 'FIELD_REPEATED', line: lines, message: `is said again; line ${first} says it first` },
    ])
  })

  it.each([
    ['a: [', 'cannot be read as YAML'],
    ['a: 1\n b: 2', 'cannot be read as YAML'],
    ['a: !!int 5', 'cannot be read as YAML'],
    ['--- \na: 1\n---\nb: 2', 'cannot be read as YAML'],
    ['"unclosed', 'cannot be read as YAML'],
    ['', 'is no map of fields'],
    ['# nothing', 'is no map of fields'],
    ['a scalar', 'is no map of fields'],
    ['- a list', 'is no map of fields'],
    ['['.repeat(30_000), ''],
    [`${'{a: '.repeat(8_000)}`, ''],
    ['x'.repeat(POLICY_TEXT_CHARACTERS_MAX + 1), 'has 65537 characters; at most 65536 are read'],
  ])('[WIN-3] of which nothing can be read is told so, and not what it lacks (row %#)', (text, message) => {
    const problems = problemsOf(text)
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['NOT_A_POLICY']))
    expect(problems[0]!.message).toContain(message)
    expect(problems[0]!.line).toBeGreaterThanOrEqual(1)
  })

  it('[WIN-3] may be as long as is read', () => {
    const text = fullText + '#'.repeat(POLICY_TEXT_CHARACTERS_MAX - fullText.length)
    expect(requirePolicy(text)).toEqual(samplePolicy())
  })

  it('[WIN-4] says everything an object says', () => {
    expect(parsePolicy(fullText)).toEqual({ kind: 'policy', policy: samplePolicy(), filled: [] })
    expect(fullText).toContain(
      'watermark: bounded-out-of-orderness:5m\nidlePartitionAfter: 15m\nwindow: tumbling:1h:UTC\n',
    )
    expect(fullText).toContain('sources:\n  orders: 0-2\n  refunds:\n    - 0\n    - 4\n')
  })

  it.each<[string, StreamTimePolicy['window']]>([
    ['tumbling:1h:UTC', { kind: 'tumbling', sizeMs: 3_600_000, offsetMs: 0 }],
    ['tumbling:1h+15m:UTC', { kind: 'tumbling', sizeMs: 3_600_000, offsetMs: 900_000 }],
    ['sliding:1h/5m:UTC', { kind: 'sliding', sizeMs: 3_600_000, slideMs: 300_000, offsetMs: 0 }],
    ['sliding:1h/5m+1m:UTC', { kind: 'sliding', sizeMs: 3_600_000, slideMs: 300_000, offsetMs: 60_000 }],
    ['session:30m', { kind: 'session', gapMs: 1_800_000 }],
    ['civil:day:Europe/Berlin', { kind: 'civil', unit: 'day', zone: 'Europe/Berlin' }],
    ['civil:week:America/New_York', { kind: 'civil', unit: 'week', zone: 'America/New_York' }],
    ['civil:month:Etc/GMT+5', { kind: 'civil', unit: 'month', zone: 'Etc/GMT+5' }],
  ])('[WIN-4] reads and writes %s', (said, window) => {
    const retainMs = 100 * 86_400_000
    const policy = samplePolicy({ window, deduplication: { kind: 'event-id', retainMs } })
    expect(renderCompactPolicy(policy)).toContain(`window: ${said}\n`)
    expect(requirePolicy(renderCompactPolicy(policy))).toEqual(policy)
  })

  it.each([
    ['hopping:1h:UTC', 'is not a window'],
    ['tumbling', 'is not a window'],
    ['tumbling:', 'is not a window'],
    ['tumbling:1h/5m:UTC', 'is not a window'],
    ['sliding:1h:UTC', 'is not a window'],
    ['sliding:1h/5m/1m:UTC', 'is not a window'],
    ['tumbling:1h+:UTC', 'is not a window'],
    ['tumbling:1h', 'does not say where its tiles begin; in UTC it is tumbling:1h:UTC'],
    ['tumbling:1h:', 'counts tiles of a fixed size in'],
    ['tumbling:24h:Europe/Berlin', 'days of a zone are civil:day:Europe/Berlin'],
    ['tumbling:1h:UTC:UTC', 'counts tiles of a fixed size in UTC:UTC'],
    ['tumbling:0m:UTC', 'has the size "0m", which is nothing'],
    ['tumbling:1h+0m:UTC', 'has the offset "0m", which is nothing'],
    ['sliding:1h/0m:UTC', 'has the slide "0m", which is nothing'],
    ['sliding:1h/5x:UTC', 'has the slide "5x"'],
    ['session:0s', 'has the gap "0s", which is nothing'],
    ['session:30m:UTC', 'names a zone, which sessions do not have'],
    ['civil:hour:UTC', 'is not a civil window'],
    ['civil:day', 'does not say its zone'],
    ['civil:day:', 'does not say its zone'],
  ])('[WIN-4] refuses the window %s', (said, reason) => {
    const text = withLine('window', `window: "${said}"`)
    expect(problemsOf(text)).toEqual([
      {
        path: '$.window',
        code: 'VALUE_INVALID',
        line: lineOf(text, 'window'),
        message: expect.stringContaining(reason),
      },
    ])
  })

  it('[WIN-4] has contradictions at the lines that say them', () => {
    const text = withLine('window', 'window: sliding:1h/2h:UTC').replace('stateRetention: 1d', 'stateRetention: 23h')
    expect(places(text)).toEqual([
      `${lineOf(text, 'window')} $.window SLIDE_ABOVE_SIZE`,
      `${lineOf(text, 'stateRetention')} $.stateRetention RETENTION_BELOW_LATENESS`,
    ])
    expect(places(withLine('sources', 'sources:\n  a: 1\n  b: [3, 2]'))).toEqual([
      `${lineOf(fullText, 'sources') + 2} $.sources.b PARTITIONS_NOT_ASCENDING`,
    ])
  })

  it('[WIN-4] takes the zone of the stream from the window, or from a line of its own before or after it', () => {
    const silent = withLine('timezone', '')
    expect(requirePolicy(silent).timezone).toBe('UTC')
    expect(requirePolicy(`timezone: Asia/Tokyo\n${silent}`)).toEqual(samplePolicy({ timezone: 'Asia/Tokyo' }))
    expect(requirePolicy(`${silent}timezone: Asia/Tokyo\n`)).toEqual(samplePolicy({ timezone: 'Asia/Tokyo' }))
    const berlin = silent.replace('tumbling:1h:UTC', 'civil:day:Europe/Berlin').replace('event-id:25h', 'none')
    expect(requirePolicy(berlin).timezone).toBe('Europe/Berlin')
    expect(places(silent.replace('tumbling:1h:UTC', 'session:30m'))).toEqual(['1 $.timezone FIELD_MISSING'])
  })
})

describe('the facts of a deployment', () => {
  it('[WIN-14] complete a text that several deployments share', () => {
    const reading = parsePolicy(seedText, { profile: 'seed-v1', deployment: seedDeployment })
    expect(reading).toMatchObject({ kind: 'policy', policy: samplePolicy() })
  })

  it('[WIN-14] complete an object, too, without changing it', () => {
    const { generation: _generation, job, ...rest } = samplePolicy()
    const { manifestDigest, ...named } = job
    const input = { ...rest, job: named }
    const before = structuredClone(input)
    expect(requirePolicy(input, { deployment: { generation: 3, manifestDigest } })).toEqual(samplePolicy())
    expect(input).toEqual(before)
  })

  it('[WIN-14] are said in one place: here or in the policy', () => {
    const reading = parsePolicy(fullText, { deployment: { ...seedDeployment, sources: [] } })
    expect(reading).toEqual({
      kind: 'invalid',
      problems: ['manifestDigest', 'businessStream', 'generation', 'sources'].map((field) => ({
        path: `$.${field}`,
        code: 'FIELD_REPEATED',
        line: lineOf(fullText, field),
        message: 'is said by the policy and by the deployment; one of them says it',
      })),
    })
  })

  it('[WIN-14] are the four facts and nothing that a policy chooses', () => {
    const { allIdle: _allIdle, ...input } = samplePolicy()
    const deployment = { allIdle: 'HOLD' } as object
    expect(parsePolicy(input, { deployment })).toMatchObject({
      problems: [{ path: '$.allIdle', code: 'FIELD_MISSING' }],
    })
  })

  it('[WIN-14] make no policy of what is none', () => {
    const read = (input: unknown) => {
      const reading = parsePolicy(input, { deployment: seedDeployment })
      return reading.kind === 'invalid' ? reading.problems.map(({ path, code }) => `${path} ${code}`) : []
    }
    const { job: _job, businessStream: _stream, generation: _generation, sources: _sources, ...rest } = samplePolicy()
    expect(read([])).toEqual(['$ NOT_A_POLICY'])
    expect(read(new Map())).toEqual(['$ NOT_A_POLICY'])
    expect(read({ ...rest, job: null })).toEqual(['$.job VALUE_INVALID'])
    expect(read({ ...rest, job: 'hourly-revenue@14' })).toEqual(['$.job VALUE_INVALID'])
    expect(read(rest)).toEqual(['$.job.name FIELD_MISSING', '$.job.version FIELD_MISSING'])
  })

  it('[WIN-14] are judged like what a policy says', () => {
    const deployment = { ...seedDeployment, generation: 0, sources: [{ source: 'orders', partitions: [] }] }
    const reading = parsePolicy(seedText, { profile: 'seed-v1', deployment })
    expect(reading).toMatchObject({
      problems: [
        { path: '$.generation', code: 'VALUE_INVALID' },
        { path: '$.sources', code: 'TOPOLOGY_EMPTY' },
      ],
    })
  })
})
