import { readDuration, renderDuration } from '../duration.ts'
import type {
  CorrectionCoalescing,
  Deduplication,
  NameAtVersion,
  StreamTimePolicy,
  BoundedOutOfOrderness,
} from '../stream-time-policy.ts'
import { readWindowText, renderWindowText } from './window-text.ts'

/** What the text of one field says, in the form the policy has it, or why it says nothing. */
export type CompactReading =
  { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'refused'; readonly reason: string }

/** A field of the compact text that is one scalar. */
export interface CompactField {
  readonly name: string
  /** The field of the policy that it becomes. */
  readonly field: keyof StreamTimePolicy
  /** A line that would be right, for the message that it is missing. */
  readonly example: string
  readonly read: (text: string) => CompactReading
  readonly write: (policy: StreamTimePolicy) => string
}

/**
 * The scalar fields of the compact text, in its order. Sources are a map and read apart; a manifest digest is part of the job.
 *
 * What is only passed on (words out of a closed list, names) is judged by the schema.
 */
export const compactFields: readonly CompactField[] = [
  asIs('schema', 'streamTimePolicy.v1'),
  field('job', 'job', 'hourly-revenue@14', nameAtVersion, ({ job }) => `${job.name}@${job.version}`),
  field('manifestDigest', 'job', '<64 hexadecimal digits>', value, ({ job }) => job.manifestDigest),
  asIs('businessStream', 'revenue'),
  field('generation', 'generation', '1', wholeNumber, ({ generation }) => String(generation)),
  field('timestampExtractor', 'timestampExtractor', 'order.occurred_at@2', nameAtVersion, (policy) => {
    const { name, version } = policy.timestampExtractor
    return `${name}@${version}`
  }),
  field('watermark', 'watermark', 'bounded-out-of-orderness:5m', watermark, ({ watermark: { kind, boundMs } }) => {
    return `${kind}:${renderDuration(boundMs)}`
  }),
  field('idlePartitionAfter', 'idlePartitionAfter', '15m', idle, ({ idlePartitionAfter: idleness }) => {
    return idleness.kind === 'never' ? 'never' : renderDuration(idleness.quietMs)
  }),
  field('window', 'window', 'tumbling:1h:UTC', window, (policy) => renderWindowText(policy.window)),
  asIs('timezone', 'UTC'),
  asIs('trigger', 'ON_FRONTIER'),
  lasting('allowedLateness', 'allowedLatenessMs', '24h'),
  asIs('lateClassification', 'PER_WINDOW'),
  lasting('maxFutureSkew', 'maxFutureSkewMs', '5m'),
  lasting('stateRetention', 'stateRetentionMs', '24h'),
  asIs('correctionMode', 'UPSERT_REVISION'),
  field('corrections', 'corrections', 'per-event', corrections, (policy) => {
    const { corrections: coalescing } = policy
    return coalescing.kind === 'interval' ? `interval:${renderDuration(coalescing.intervalMs)}` : coalescing.kind
  }),
  field('deduplication', 'deduplication', 'event-id:25h', deduplication, ({ deduplication: said }) => {
    return said.kind === 'none' ? 'none' : `${said.kind}:${renderDuration(said.retainMs)}`
  }),
  asIs('allIdle', 'HOLD'),
  asIs('resumeBehind', 'HOLD'),
  asIs('input', 'append'),
]

function field(
  name: string,
  becomes: keyof StreamTimePolicy,
  example: string,
  read: CompactField['read'],
  write: CompactField['write'],
): CompactField {
  return { name, field: becomes, example: `${name}: ${example}`, read, write }
}

function asIs(name: StringField, example: string): CompactField {
  return field(name, name, example, value, (policy) => policy[name])
}

function lasting(name: string, becomes: DurationField, example: string): CompactField {
  return field(name, becomes, example, duration, (policy) => renderDuration(policy[becomes]))
}

type StringField = {
  [K in keyof StreamTimePolicy]: StreamTimePolicy[K] extends string ? K : never
}[keyof StreamTimePolicy]
type DurationField = 'allowedLatenessMs' | 'maxFutureSkewMs' | 'stateRetentionMs'

function nameAtVersion(text: string): CompactReading {
  const [, name, version] = /^(.+)@([1-9]\d*)$/.exec(text) ?? []
  if (name === undefined) return refused('is not a name and a version from 1, such as hourly-revenue@14')
  return value({ name, version: Number(version) } satisfies NameAtVersion)
}

/** Digits and nothing else: `010`, `0x10` and `1e3` are texts of which readers of YAML make different numbers. */
function wholeNumber(text: string): CompactReading {
  return /^(?:0|[1-9]\d*)$/.test(text) ? value(Number(text)) : refused('is not a whole number in plain digits')
}

function duration(text: string): CompactReading {
  const read = readDuration(text)
  return read.kind === 'refused' ? read : value(read.ms)
}

function watermark(text: string): CompactReading {
  const kind = 'bounded-out-of-orderness'
  return afterColon(text, kind, `is not ${kind}: and a duration`, (boundMs): BoundedOutOfOrderness => ({
    kind,
    boundMs,
  }))
}

function idle(text: string): CompactReading {
  if (text === 'never') return value({ kind: 'never' })
  const read = readDuration(text)
  if (read.kind === 'refused') return refused('is neither never nor a duration, such as 15m')
  return value({ kind: 'after', quietMs: read.ms })
}

function window(text: string): CompactReading {
  const read = readWindowText(text)
  return read.kind === 'refused' ? read : value(read.window)
}

function corrections(text: string): CompactReading {
  if (text === 'per-event' || text === 'per-batch') return value({ kind: text })
  const otherwise = 'is none of per-event, per-batch and interval: with a duration'
  return afterColon(text, 'interval', otherwise, (intervalMs): CorrectionCoalescing => ({
    kind: 'interval',
    intervalMs,
  }))
}

function deduplication(text: string): CompactReading {
  if (text === 'none') return value({ kind: 'none' })
  const otherwise = 'is neither none nor event-id: with a duration'
  return afterColon(text, 'event-id', otherwise, (retainMs): Deduplication => ({ kind: 'event-id', retainMs }))
}

/** A word, a colon and a duration. */
function afterColon(text: string, word: string, otherwise: string, make: (ms: number) => unknown): CompactReading {
  if (!text.startsWith(`${word}:`)) return refused(otherwise)
  const rest = text.slice(word.length + 1)
  const read = readDuration(rest)
  return read.kind === 'refused' ? refused(`has ${JSON.stringify(rest)}, which ${read.reason}`) : value(make(read.ms))
}

function value(said: unknown): CompactReading {
  return { kind: 'value', value: said }
}

function refused(reason: string): CompactReading {
  return { kind: 'refused', reason }
}
