import { isMap, isScalar, LineCounter, parseDocument, stringify } from 'yaml'
import type { Document, Node } from 'yaml'
import { compactFields } from './compact-fields.ts'
import { readCompactSources, sourcesExample, writePartitions } from './compact-sources.ts'
import { pathText, shownValue } from '../policy-problem.ts'
import type { PolicyPath, PolicyProblem, PolicyProblemCode } from '../policy-problem.ts'
import type { StreamTimePolicy } from '../stream-time-policy.ts'
import { readWindowText } from './window-text.ts'

/** The longest text that is read; a policy takes about one thousand characters, and more with many partitions. */
export const POLICY_TEXT_CHARACTERS_MAX = 65_536

/** Of a text that is no YAML, so many faults are told. */
const YAML_FAULTS_MAX = 16

/** What a compact text says: an input of the form a policy has, and the way back from its fields to lines. */
export interface CompactReadout {
  readonly input: Readonly<Record<string, unknown>>
  /** Fields that are there and could not be read; their problems are told already. */
  readonly refused: ReadonlySet<keyof StreamTimePolicy>
  /** The profile that the text names. */
  readonly profile: string | undefined
  readonly problems: readonly PolicyProblem[]
  /** A problem of the policy as one of the text. */
  readonly placed: (problem: PolicyProblem) => PolicyProblem
}

const names = new Map(compactFields.map((each) => [each.name, each]))
const examples = new Map([
  ...compactFields.map(({ name, example }) => [name, example] as const),
  ['sources', sourcesExample],
])

/** The state of one reading. */
interface Reading {
  readonly input: Record<string, unknown>
  readonly refused: Set<keyof StreamTimePolicy>
  readonly problems: PolicyProblem[]
  /** The line of every path that stands in the text. */
  readonly lines: Map<string, number>
  readonly lineOf: (node: unknown) => number
  profile: string | undefined
}

/**
 * Reads the compact YAML of a policy. Every scalar is taken as the text that stands there: what YAML makes of `on`, `1e3` or
 * `010` differs from reader to reader.
 *
 * Promises: WIN-3, WIN-4.
 */
export function readCompactPolicy(text: string): CompactReadout {
  const counter = new LineCounter()
  const reading: Reading = {
    input: {},
    refused: new Set(),
    problems: [],
    lines: new Map(),
    lineOf: (node) => counter.linePos((node as Node | null)?.range?.[0] ?? 0).line || 1,
    profile: undefined,
  }
  const document = parsed(text, counter, reading.problems)
  if (document !== undefined) readDocument(reading, document)
  const { input, refused, problems, profile } = reading
  return { input, refused, problems, profile, placed: (problem) => placed(reading, problem) }
}

function parsed(text: string, counter: LineCounter, problems: PolicyProblem[]): Document | undefined {
  if (text.length > POLICY_TEXT_CHARACTERS_MAX) {
    const message = `has ${text.length} characters; at most ${POLICY_TEXT_CHARACTERS_MAX} are read`
    problems.push({ path: '$', code: 'NOT_A_POLICY', message, line: 1 })
    return undefined
  }
  try {
    // Repeated keys are told here, by name; strings stay strings.
    const document = parseDocument(text, {
      schema: 'failsafe',
      uniqueKeys: false,
      lineCounter: counter,
      prettyErrors: false,
    })
    // One fault of a text makes many after it.
    for (const { message, pos } of [...document.errors, ...document.warnings].slice(0, YAML_FAULTS_MAX)) {
      problems.push({
        path: '$',
        code: 'NOT_A_POLICY',
        message: oneLine(message),
        line: counter.linePos(pos[0]).line || 1,
      })
    }
    return problems.length > 0 ? undefined : document
  } catch (thrown) {
    // A text nested as deep as it is long ends the reader's stack.
    if (!(thrown instanceof RangeError)) throw thrown
    problems.push({ path: '$', code: 'NOT_A_POLICY', message: 'is nested too deep to be read', line: 1 })
    return undefined
  }
}

function oneLine(message: string): string {
  return `cannot be read as YAML: ${message.replaceAll(/\s+/g, ' ').trim()}`
}

function readDocument(reading: Reading, { contents }: Document): void {
  reading.lines.set('$', contents === null ? 1 : reading.lineOf(contents))
  if (!isMap(contents)) return tell(reading, [], contents, 'NOT_A_POLICY', 'is no map of fields')
  const seen = new Map<string, number>()
  for (const { key, value } of contents.items) {
    const name = isScalar(key) && typeof key.value === 'string' ? key.value : undefined
    if (name === undefined) {
      tell(reading, [], key, 'FIELD_UNKNOWN', 'has a field whose name is no text')
      continue
    }
    const before = seen.get(name)
    const line = reading.lineOf(key)
    if (before !== undefined) {
      tell(reading, [name], key, 'FIELD_REPEATED', `is said again; line ${before} says it first`)
      continue
    }
    seen.set(name, line)
    reading.lines.set(pathText([name]), line)
    readField(reading, name, key, value)
  }
  // Its two halves are missed one by one.
  reading.input['job'] ??= {}
  // The zone may stand in the window that could not be read.
  if (reading.refused.has('window') && reading.input['timezone'] === undefined) reading.refused.add('timezone')
}

function readField(reading: Reading, name: string, key: unknown, value: unknown): void {
  if (name === 'sources') return readSources(reading, key, value)
  const known = names.get(name)
  if (known === undefined && name !== 'profile') {
    return tell(reading, [name], key, 'FIELD_UNKNOWN', 'is not a field of a compact policy')
  }
  const text: unknown = isScalar(value) ? (value.value ?? '') : undefined
  if (typeof text !== 'string' || text === '') {
    if (known !== undefined) refuse(reading, name, known.field)
    const what = text === '' ? 'empty' : `no single value, such as ${known?.example ?? 'profile: seed-v1'}`
    return tell(reading, [name], key, 'VALUE_INVALID', `is ${what}`)
  }
  if (known === undefined) {
    reading.profile = text
    return
  }
  const read = known.read(text)
  if (read.kind === 'refused') {
    refuse(reading, name, known.field)
    return tell(reading, [name], key, 'VALUE_INVALID', `is ${shownValue(text)}, which ${read.reason}`)
  }
  put(reading.input, name, known.field, read.value)
  if (name === 'window') zoneOfWindow(reading.input, text)
}

/** Half a field that could not be read is stood in for, so that the other half is still looked at; with its problem told, nothing comes of it. */
const unread: Readonly<Record<string, unknown>> = {
  job: { name: 'unread', version: 1 },
  manifestDigest: '0'.repeat(64),
}

function refuse(reading: Reading, name: string, field: keyof StreamTimePolicy): void {
  if (field === 'job') return put(reading.input, name, field, unread[name])
  reading.refused.add(field)
}

/** Job and manifest digest are two lines and one field. */
function put(input: Record<string, unknown>, name: string, field: string, value: unknown): void {
  if (field !== 'job') input[field] = value
  else
    input['job'] = {
      ...(input['job'] as object | undefined),
      ...(name === 'job' ? (value as object) : { manifestDigest: value }),
    }
}

/** A window that names a zone says the stream's, unless a line of its own does. */
function zoneOfWindow(input: Record<string, unknown>, text: string): void {
  const read = readWindowText(text)
  if (read.kind === 'window' && read.zone !== undefined) input['timezone'] ??= read.zone
}

function readSources(reading: Reading, key: unknown, value: unknown): void {
  const { sources, faults } = readCompactSources(value)
  if (isMap(value)) {
    for (const { key: topic } of value.items) {
      const name = isScalar(topic) ? String(topic.value) : ''
      const path = pathText(['sources', name])
      if (!reading.lines.has(path)) reading.lines.set(path, reading.lineOf(topic))
    }
  }
  if (faults.length === 0) {
    reading.input['sources'] = sources
    return
  }
  reading.refused.add('sources')
  for (const { path, node, message } of faults) {
    tell(reading, ['sources', ...path], node ?? key, 'VALUE_INVALID', message)
  }
}

function tell(reading: Reading, path: PolicyPath, node: unknown, code: PolicyProblemCode, message: string): void {
  reading.problems.push({ path: pathText(path), code, message, line: reading.lineOf(node) })
}

/** From `$.window.slideMs` to `$.window` and its line; of what is missing, an example and the line of the map. */
function placed(reading: Reading, problem: PolicyProblem): PolicyProblem {
  const path = textPath(reading, problem.path)
  const line = reading.lines.get(path) ?? reading.lines.get('$') ?? 1
  const example = examples.get(path.slice(2))
  if (problem.code !== 'FIELD_MISSING' || example === undefined) return { ...problem, path, line }
  return { path, line, code: problem.code, message: `is missing; say it, such as ${example}` }
}

function textPath(reading: Reading, path: string): string {
  if (path.startsWith('$.job.manifestDigest')) return '$.manifestDigest'
  const source = /^\$\.sources\[(\d+)\]/.exec(path)?.[1]
  if (source !== undefined) {
    const named = (reading.input['sources'] as StreamTimePolicy['sources'] | undefined)?.[Number(source)]
    const at = pathText(['sources', named?.source ?? ''])
    return reading.lines.has(at) ? at : '$.sources'
  }
  const head = /^\$\.(\w+)/.exec(path)?.[1]
  const known = compactFields.find(({ field }) => field === head)
  return known === undefined ? path : `$.${known.name}`
}

/**
 * A policy as compact YAML with every field said; reading it gives the same policy.
 *
 * Promises: WIN-4.
 */
export function renderCompactPolicy(policy: StreamTimePolicy): string {
  const fields = compactFields.map(({ name, write }) => [name, write(policy)] as const)
  const sources = policy.sources.map(({ source, partitions }) => [source, writePartitions(partitions)] as const)
  return stringify(Object.fromEntries([...fields, ['sources', Object.fromEntries(sources)]]), { lineWidth: 0 })
}
