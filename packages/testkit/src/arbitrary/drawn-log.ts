import { offsetOf, topicIdOf } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import type {
  BoundsReading,
  LogIdentity,
  LogRecord,
  PartitionBounds,
  SurveyVerdict,
  TopicSettingsReading,
} from '@tidemark/log'
import fc from 'fast-check'

/** Mostly the first, sometimes one of the others: real states are sound but for a detail or two. */
export function mostly<T>(
  usual: fc.Arbitrary<T>,
  weight: number,
  ...others: readonly fc.Arbitrary<T>[]
): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })))
}

/** How many partitions a drawn log has at most. */
export const DRAWN_PARTITIONS_MAX = 4

/** The one topic of drawn states. */
export const drawnTopic = 'dispatch'

const topicIds: readonly TopicId[] = [
  'edbce881-ef7f-96bd-9d9a-2d48fd68e2f5',
  '01234567-89ab-cdef-0123-456789abcdef',
  'ffffffff-ffff-4fff-8fff-ffffffffffff',
].map(topicIdOf)

/** Log identities of one to four partitions. */
export const logIdentity: fc.Arbitrary<LogIdentity> = fc.record({
  clusterId: fc.constantFrom('cluster-a', 'cluster-b'),
  topic: fc.constant(drawnTopic),
  topicId: fc.constantFrom(topicIds[0]!, topicIds[1]!),
  partitionCount: fc.integer({ min: 1, max: DRAWN_PARTITIONS_MAX }),
})

/** A change of an identity: mostly none, else one field or all. */
export const identityChange: fc.Arbitrary<(identity: LogIdentity) => LogIdentity> = mostly(
  fc.constant((identity: LogIdentity) => identity),
  60,
  fc.constant((identity: LogIdentity) => ({ ...identity, clusterId: 'cluster-z' })),
  fc.constant((identity: LogIdentity) => ({ ...identity, topic: 'other' })),
  fc.constant((identity: LogIdentity) => ({ ...identity, topicId: topicIds[2]! })),
  fc.integer({ min: 1, max: 6 }).map((partitionCount) => (identity: LogIdentity) => ({ ...identity, partitionCount })),
  fc.constant(() => ({ clusterId: 'x', topic: 'y', topicId: topicIds[2]!, partitionCount: 5 })),
)

/** Offsets around which comparisons go wrong: small ones, 2^53 and the largest. */
export const nearOffset: fc.Arbitrary<bigint> = mostly(
  fc.bigInt(0n, 12n),
  12,
  fc.bigInt(2n ** 53n - 2n, 2n ** 53n + 2n),
  fc.bigInt(2n ** 63n - 3n, 2n ** 63n - 1n),
)

/** The largest offset stands for everything beyond it. */
export function capOffset(offset: bigint): bigint {
  const last = 2n ** 63n - 1n
  return offset > last ? last : offset < 0n ? 0n : offset
}

/** Bounds of a partition, sound, without its number. */
export const soundBounds: fc.Arbitrary<Omit<PartitionBounds, 'partition'>> = fc
  .record({
    low: mostly(fc.constant(0n), 2, fc.bigInt(0n, 6n)),
    length: nearOffset,
    open: mostly(fc.constant(0n), 2, fc.bigInt(0n, 5n)),
  })
  .map(({ low, length, open }) => {
    const highWatermark = capOffset(low + length)
    const stable = highWatermark - open < low ? low : highWatermark - open
    return { low: offsetOf(low), lastStableOffset: offsetOf(stable), highWatermark: offsetOf(highWatermark) }
  })

/** What the bounds request gives for partitions that hold something: mostly the truth, sometimes nothing usable. */
export const boundsAnswer: fc.Arbitrary<(held: readonly PartitionBounds[]) => BoundsReading | undefined> = mostly<
  (held: readonly PartitionBounds[]) => BoundsReading | undefined
>(
  fc.constant((held) => ({ kind: 'bounds', partitions: held })),
  40,
  fc.constant((held) => ({ kind: 'bounds', partitions: [...held].reverse() })),
  fc.constant((held) => ({ kind: 'bounds', partitions: held.slice(1) })),
  fc.constant((held) => ({ kind: 'bounds', partitions: [...held, held[0]!] })),
  fc.constant((held) => ({
    kind: 'bounds',
    partitions: held.map((b) => ({ ...b, lastStableOffset: offsetOf(capOffset(b.highWatermark + 1n)) })),
  })),
  fc
    .option(fc.integer({ min: 0, max: DRAWN_PARTITIONS_MAX }), { nil: undefined })
    .map((partition) => () => ({ kind: 'unreadable', partition, message: 'no leader' })),
  fc.constant(() => undefined),
)

/** What the settings request gives. */
export const settingsAnswer: fc.Arbitrary<TopicSettingsReading | undefined> = mostly<TopicSettingsReading | undefined>(
  fc.constant(settingsOf('delete')),
  30,
  fc.constant(settingsOf('compact')),
  fc.constant(settingsOf('compact,delete')),
  fc.constant({ kind: 'unreadable', message: 'not authorized' }),
  fc.constant(undefined),
)

function settingsOf(cleanupPolicy: string): TopicSettingsReading {
  const compacted = cleanupPolicy.includes('compact')
  return { kind: 'settings', settings: { retentionMs: 604_800_000n, cleanupPolicy, compacted } }
}

/** What the identity survey comes to. */
export const surveyOutcome: fc.Arbitrary<(identity: LogIdentity) => SurveyVerdict> = mostly<
  (identity: LogIdentity) => SurveyVerdict
>(
  fc.constant((identity) => ({ kind: 'proven', identity })),
  50,
  fc.constant(() => ({ kind: 'unproven', brokerId: 1, reason: 'timeout', message: 'no answer' })),
  fc.constant(() => ({
    kind: 'mismatch',
    brokerId: 2,
    differences: [{ field: 'topicId', expected: 'a', found: 'b' }],
  })),
)

/** The record a drawn log holds at an offset; another marker makes another record. */
export function recordOf(partition: number, offset: bigint, marker: string = 'applied'): LogRecord {
  const value = new TextEncoder().encode(`${marker} ${partition}/${offset}`)
  return { partition, offset: offsetOf(offset), leaderEpoch: 1, timestampMs: 5, key: null, value, headers: [] }
}
