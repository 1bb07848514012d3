import type { StreamTimePolicy } from '../../src/index.ts'

/** Hourly revenue with every field said; a test names only what it is about. */
export function samplePolicy(changed: Partial<StreamTimePolicy> = {}): StreamTimePolicy {
  return {
    schema: 'streamTimePolicy.v1',
    job: { name: 'hourly-revenue', version: 14, manifestDigest: 'a'.repeat(64) },
    businessStream: 'revenue',
    generation: 3,
    sources: [
      { source: 'orders', partitions: [0, 1, 2] },
      { source: 'refunds', partitions: [0, 4] },
    ],
    timestampExtractor: { name: 'order.occurred_at', version: 2 },
    watermark: { kind: 'bounded-out-of-orderness', boundMs: 300_000 },
    idlePartitionAfter: { kind: 'after', quietMs: 900_000 },
    window: { kind: 'tumbling', sizeMs: 3_600_000, offsetMs: 0 },
    timezone: 'UTC',
    trigger: 'ON_FRONTIER',
    allowedLatenessMs: 86_400_000,
    lateClassification: 'PER_WINDOW',
    maxFutureSkewMs: 300_000,
    stateRetentionMs: 86_400_000,
    correctionMode: 'UPSERT_REVISION',
    corrections: { kind: 'per-event' },
    deduplication: { kind: 'event-id', retainMs: 90_000_000 },
    allIdle: 'HOLD',
    resumeBehind: 'HOLD',
    input: 'append',
    ...changed,
  }
}

/** The eight lines a policy is usually sketched with; they leave out what decides correctness. */
export const seedText = `schema: streamTimePolicy.v1
job: hourly-revenue@14
timestampExtractor: order.occurred_at@2
watermark: bounded-out-of-orderness:5m
idlePartitionAfter: 15m
window: tumbling:1h:UTC
allowedLateness: 24h
correctionMode: UPSERT_REVISION
`

/** The facts that belong to one deployment of {@link seedText}. */
export const seedDeployment = {
  manifestDigest: 'a'.repeat(64),
  businessStream: 'revenue',
  generation: 3,
  sources: [
    { source: 'refunds', partitions: [0, 4] },
    { source: 'orders', partitions: [0, 1, 2] },
  ],
} as const
