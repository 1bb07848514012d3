import fc from 'fast-check'
import type { StreamTimePolicy } from '../../src/index.ts'

const dayMs = 86_400_000
const lengthMs = fc.oneof(
  fc.integer({ min: 1, max: 60_000 }),
  fc.integer({ min: 1, max: 400 }).map((days) => days * dayMs),
)
/** Texts that YAML readers take for something else, among others. */
const name = fc.oneof(
  fc.constantFrom(
    'null',
    'yes',
    '1',
    '0x1',
    '~',
    'a: b',
    '# c',
    'a@b',
    '- x',
    '{',
    "it's",
    '"',
    '北',
    'é',
    'a\\b',
    '%',
    '<<',
    'toString',
  ),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => text.trim() === text && !/[\u0000-\u001f\u007f]/.test(text)),
)
const version = fc.integer({ min: 1, max: 1_000_000 })
const nameAtVersion = fc.record({ name, version })
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Etc/GMT+5', 'Pacific/Apia')
const partitions = fc
  .uniqueArray(fc.nat(40), { minLength: 1, maxLength: 12 })
  .map((all) => all.toSorted((a, b) => a - b))

const window: fc.Arbitrary<StreamTimePolicy['window']> = fc.oneof(
  fc
    .tuple(lengthMs, fc.nat())
    .map(([sizeMs, offset]) => ({ kind: 'tumbling' as const, sizeMs, offsetMs: offset % sizeMs })),
  fc.tuple(lengthMs, fc.integer({ min: 1, max: 500 }), fc.nat()).map(([sizeMs, parts, offset]) => {
    const slideMs = Math.ceil(sizeMs / parts)
    return { kind: 'sliding' as const, sizeMs, slideMs, offsetMs: offset % slideMs }
  }),
  lengthMs.map((gapMs) => ({ kind: 'session' as const, gapMs })),
  fc.record({ kind: fc.constant('civil' as const), unit: fc.constantFrom('day', 'week', 'month'), zone }),
)

/** The longest any window of these can last after an event, generously. */
const spanMs = ({ window: shape }: Pick<StreamTimePolicy, 'window'>): number => {
  if (shape.kind === 'session') return shape.gapMs
  return shape.kind === 'civil' ? 33 * dayMs : shape.sizeMs
}

/** Policies without a contradiction, of every shape. */
export const arbitraryPolicy: fc.Arbitrary<StreamTimePolicy> = fc
  .record({
    schema: fc.constant('streamTimePolicy.v1' as const),
    job: fc.record({ name, version, manifestDigest: fc.stringMatching(/^[0-9a-f]{64}$/) }),
    businessStream: name,
    generation: version,
    sources: fc
      .uniqueArray(fc.record({ source: name, partitions }), {
        minLength: 1,
        maxLength: 4,
        selector: ({ source }) => source,
      })
      .map((all) => all.toSorted((left, right) => (left.source < right.source ? -1 : 1))),
    timestampExtractor: nameAtVersion,
    watermark: fc.record({
      kind: fc.constant('bounded-out-of-orderness' as const),
      boundMs: fc.oneof(fc.constant(0), lengthMs),
    }),
    idlePartitionAfter: fc.oneof(
      fc.record({ kind: fc.constant('after' as const), quietMs: lengthMs }),
      fc.constant({ kind: 'never' as const }),
    ),
    window,
    timezone: zone,
    trigger: fc.constant('ON_FRONTIER' as const),
    allowedLatenessMs: fc.oneof(fc.constant(0), lengthMs),
    lateClassification: fc.constant('PER_WINDOW' as const),
    maxFutureSkewMs: fc.oneof(fc.constant(0), lengthMs),
    stateRetentionMs: fc.oneof(fc.constant(0), lengthMs),
    correctionMode: fc.constantFrom('UPSERT_REVISION', 'DELTA'),
    corrections: fc.oneof(
      fc.constantFrom({ kind: 'per-event' as const }, { kind: 'per-batch' as const }),
      fc.record({ kind: fc.constant('interval' as const), intervalMs: lengthMs }),
    ),
    deduplication: fc.oneof(
      fc.constant({ kind: 'none' as const }),
      fc.record({ kind: fc.constant('event-id' as const), retainMs: fc.oneof(fc.constant(0), lengthMs) }),
    ),
    allIdle: fc.constantFrom('HOLD', 'FLUSH_MAX'),
    resumeBehind: fc.constantFrom('HOLD', 'EXCLUDE'),
    input: fc.constantFrom('append', 'changes'),
  })
  .map((policy) => ({
    ...policy,
    stateRetentionMs: policy.allowedLatenessMs + policy.stateRetentionMs,
    deduplication:
      policy.deduplication.kind === 'none'
        ? policy.deduplication
        : {
            ...policy.deduplication,
            retainMs: policy.deduplication.retainMs + policy.allowedLatenessMs + spanMs(policy),
          },
  }))
