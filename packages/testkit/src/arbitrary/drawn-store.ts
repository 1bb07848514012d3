import { encodeCheckpoint, encodeMeta, namespaceOf } from '@tidemark/checkpoint'
import type { Namespace, StoredFields, StoredState, StoreFacts } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { encodeWitness, witnessOf } from '@tidemark/log'
import type { LogIdentity, PartitionBounds, ReadBack } from '@tidemark/log'
import fc from 'fast-check'
import { capOffset, drawnTopic, identityChange, mostly, nearOffset, recordOf } from './drawn-log.ts'

/** The one namespace of drawn states. */
export const drawnNamespace: Namespace = namespaceOf('session_projection')

/** Texts that stand where a number or an id is due. */
export const damagedText: fc.Arbitrary<string> = fc.constantFrom(
  ...['', '-1', '007', '1e3', '1.5', '+1', ' 1', '1 ', '0x10', '9223372036854775808', '１', 'null', '\n', '{}', '2'],
  ...['edbce881ef7f96bd9d9a2d48fd68e2f5', 'EDBCE881-EF7F-96BD-9D9A-2D48FD68E2F5', '7bzoge9/lr2dmi1I/Wji9Q'],
  '00000000-0000-0000-0000-000000000000',
)

/** Damage to a hash: a field removed, overwritten or added, or all of it gone. */
export const fieldDamage: fc.Arbitrary<(fields: StoredFields) => StoredFields> = fc.oneof(
  fc.nat(6).map((index) => (fields: StoredFields) => without(fields, index)),
  fc.tuple(fc.nat(6), damagedText).map(
    ([index, text]) =>
      (fields: StoredFields) =>
        overwrite(fields, index, text),
  ),
  fc.constantFrom('extra', 'Next_offset', 'constructor').map((name) => (fields: StoredFields) => ({
    ...fields,
    [name]: '1',
  })),
  fc.constant(() => ({})),
)

const maybeDamage = (weight: number): fc.Arbitrary<(fields: StoredFields) => StoredFields> =>
  mostly(
    fc.constant((fields: StoredFields) => fields),
    weight,
    fieldDamage,
  )

function without(fields: StoredFields, index: number): StoredFields {
  const names = Object.keys(fields)
  const gone = names[index % names.length]
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== gone))
}

function overwrite(fields: StoredFields, index: number, text: string): StoredFields {
  const names = Object.keys(fields)
  return { ...fields, [names[index % names.length]!]: text }
}

/** What a store says of itself: mostly fit to hold checkpoints. */
export const storeFacts: fc.Arbitrary<StoreFacts> = fc.record({
  durability: fc.constant('server'),
  isPrimary: mostly(fc.constant(true), 80, fc.constant(false)),
  isLoaded: mostly(fc.constant(true), 80, fc.constant(false)),
  eviction: mostly<StoreFacts['eviction']>(
    fc.constant({ policy: 'noeviction', kind: 'keeps-all' }),
    80,
    fc.constant({ policy: 'volatile-lru', kind: 'expiring-only' }),
    fc.constant({ policy: 'allkeys-lru', kind: 'any-key' }),
    fc.constant({ policy: 'new-policy', kind: 'unknown' }),
  ),
  expiringKeys: mostly<readonly string[]>(fc.constant([]), 80, fc.constant([`${drawnNamespace}:meta`])),
  database: mostly<StoreFacts['database']>(
    fc.constant({ expected: '0', found: '0' }),
    80,
    fc.constant({ expected: '3', found: '0' }),
  ),
})

/** One partition as drawn, before it is placed within the bounds. */
export interface DrawnPartition {
  readonly isPresent: boolean
  /** Where the next offset lies in relation to the bounds. */
  readonly place: string
  readonly anywhere: bigint
  readonly ownIdentity: (identity: LogIdentity) => LogIdentity
  readonly ownPartition: number | undefined
  readonly damage: (fields: StoredFields) => StoredFields
  /** How far before the next offset the witnessed record stands. */
  readonly witnessBack: bigint | undefined
  /** Stands instead of the witness's text. */
  readonly witnessText: string | undefined
  /** What the log says of the witnessed record. */
  readonly answer: string
  /** What the log says of the stretch between the witnessed record and the position. */
  readonly gapAnswer: string
  /** Where the data stands, when it lives apart. */
  readonly twinPlace: string
}

const drawnPartition: fc.Arbitrary<DrawnPartition> = fc.record({
  isPresent: mostly(fc.constant(true), 12, fc.constant(false)),
  place: fc.constantFrom('low', 'high', 'between', 'between', 'between', 'between', 'below', 'above', 'anywhere'),
  anywhere: nearOffset,
  ownIdentity: identityChange,
  ownPartition: mostly<number | undefined>(fc.constant(undefined), 80, fc.integer({ min: 0, max: 9 })),
  damage: maybeDamage(60),
  witnessBack: fc.option(fc.bigInt(1n, 4n), { nil: undefined }),
  witnessText: mostly<string | undefined>(fc.constant(undefined), 60, damagedText),
  answer: fc.constantFrom(
    ...Array.from({ length: 20 }, () => 'same'),
    ...['other', 'absent', 'unreadable', 'none', 'elsewhere'],
  ),
  gapAnswer: fc.constantFrom(
    ...Array.from({ length: 20 }, () => 'absent'),
    ...['record', 'unreadable', 'none', 'shorter'],
  ),
  twinPlace: fc.constantFrom(
    ...Array.from({ length: 8 }, () => 'same'),
    ...['low', 'low', 'back', 'back', 'high', 'on', 'on', 'below', 'above', 'missing', 'damaged', 'foreign'],
  ),
})

/** What a store holds, as drawn; {@link placeStored} makes it fit a log. */
export interface DrawnStore {
  readonly change: (identity: LogIdentity) => LogIdentity
  readonly metaDamage: (fields: StoredFields) => StoredFields
  readonly scene: 'running' | 'first start' | 'checkpoints lost' | 'meta lost'
  readonly partitions: readonly DrawnPartition[]
  /** How many partitions beyond the topic's have a checkpoint. */
  readonly strays: number
  readonly facts: StoreFacts
  readonly unreadable: readonly string[]
  /** Whether the data lives on another server than the checkpoints. */
  readonly isSplit: boolean
}

/** Stores, mostly sound. */
export const drawnStore: fc.Arbitrary<DrawnStore> = fc.record({
  change: identityChange,
  metaDamage: maybeDamage(40),
  scene: fc.constantFrom(
    ...Array.from({ length: 20 }, () => 'running' as const),
    ...(['first start', 'first start', 'first start', 'checkpoints lost', 'meta lost'] as const),
  ),
  partitions: fc.array(drawnPartition, { minLength: 6, maxLength: 6 }),
  strays: mostly(fc.constant(0), 30, fc.integer({ min: 1, max: 2 })),
  facts: storeFacts,
  unreadable: mostly<readonly string[]>(
    fc.constant([]),
    50,
    fc.subarray(
      [
        `${drawnNamespace}:meta`,
        `${drawnNamespace}:checkpoint:${drawnTopic}:1`,
        `${drawnNamespace}:fence:${drawnTopic}:0`,
      ],
      { minLength: 1 },
    ),
  ),
  isSplit: mostly(fc.constant(false), 2, fc.constant(true)),
})

/** The state a drawn store has for a log, and what the log answers when its witnesses are read back. */
export function placeStored(
  drawn: DrawnStore,
  identity: LogIdentity,
  held: readonly PartitionBounds[],
): { readonly stored: StoredState; readonly readBacks: readonly ReadBack[] } {
  const own = drawn.change(identity)
  const placed = drawn.partitions
    .slice(0, identity.partitionCount + drawn.strays)
    .map((each, partition) => placePartition(each, own, partition, held[partition], drawn.isSplit))
  const hidden = new Set(drawn.unreadable)
  const metaIsGone =
    drawn.scene === 'first start' || drawn.scene === 'meta lost' || hidden.has(`${drawnNamespace}:meta`)
  const hasCheckpoints = drawn.scene === 'running' || drawn.scene === 'meta lost'
  const checkpoints = new Map<number, StoredFields>()
  const witnesses = new Map<number, string>()
  const twins = new Map<number, string>()
  for (const [partition, { checkpoint, witness, twin }] of placed.entries()) {
    // On a first start the data may still be there: it was the checkpoints that were lost.
    if (twin !== undefined) twins.set(partition, twin)
    // A key that cannot be read gives no fields.
    const isHidden = hidden.has(`${drawnNamespace}:checkpoint:${drawnTopic}:${partition}`)
    if (hasCheckpoints && checkpoint !== undefined && !isHidden) checkpoints.set(partition, checkpoint)
    if (witness !== undefined) witnesses.set(partition, witness)
  }
  const stored: StoredState = {
    meta: metaIsGone ? undefined : drawn.metaDamage(encodeMeta(own)),
    checkpoints,
    fences: new Map(),
    witnesses,
    ...(drawn.isSplit ? { twins } : {}),
    quarantined: new Map(),
    unreadable: drawn.unreadable.map((key) => ({ key, problem: 'it holds a string where a hash is due' })),
    incarnation: { nonce: 'ab'.repeat(16), process: 'p1' },
    facts: drawn.facts,
  }
  return { stored, readBacks: placed.flatMap(({ readBacks }) => readBacks) }
}

interface PlacedPartition {
  readonly checkpoint: StoredFields | undefined
  readonly witness: string | undefined
  readonly twin: string | undefined
  readonly readBacks: readonly ReadBack[]
}

function placePartition(
  drawn: DrawnPartition,
  own: LogIdentity,
  partition: number,
  held: PartitionBounds | undefined,
  isSplit: boolean,
): PlacedPartition {
  const next = placeNext(drawn, held)
  const twinAt = placeTwin(drawn.twinPlace, next, held)
  const fields = encodeCheckpoint({
    identity: drawn.ownIdentity(own),
    partition: drawn.ownPartition ?? partition,
    nextOffset: offsetOf(next),
  })
  const applied = isSplit ? (twinAt ?? next) : next
  const offset = drawn.witnessBack === undefined ? -1n : applied - drawn.witnessBack
  const witness = offset < 0n ? undefined : encodeWitness(witnessOf(recordOf(partition, offset)))
  return {
    checkpoint: drawn.isPresent ? drawn.damage(fields) : undefined,
    witness: drawn.witnessText ?? witness,
    twin: twinAt === undefined ? undefined : twinText(drawn.twinPlace, twinAt),
    readBacks: offset < 0n ? [] : answersOf(drawn, partition, offset, applied, held?.low ?? 0n),
  }
}

function placeNext(drawn: DrawnPartition, held: PartitionBounds | undefined): bigint {
  if (held === undefined) return drawn.anywhere
  const { low, highWatermark } = held
  switch (drawn.place) {
    case 'low':
      return low
    case 'high':
      return highWatermark
    case 'below':
      return capOffset(low - 1n)
    case 'above':
      return capOffset(highWatermark + 1n)
    case 'between':
      return low + (drawn.anywhere % (highWatermark - low + 1n))
    default:
      return drawn.anywhere
  }
}

/** Where the data stands in relation to its checkpoint and the log; `undefined` for none. */
function placeTwin(place: string, next: bigint, held: PartitionBounds | undefined): bigint | undefined {
  const [low, high] = [held?.low ?? 0n, held?.highWatermark ?? next]
  switch (place) {
    case 'missing':
      return undefined
    case 'low':
      return low
    case 'high':
      return high
    case 'back':
      return capOffset(next - 1n)
    case 'on':
      return capOffset(next + 1n)
    case 'below':
      return capOffset(low - 1n)
    case 'above':
      return capOffset(high + 1n)
    default:
      return next
  }
}

function twinText(place: string, at: bigint): string {
  return place === 'damaged' ? `0${at}` : place === 'foreign' ? 'of another log' : String(at)
}

function answersOf(
  drawn: DrawnPartition,
  partition: number,
  witness: bigint,
  applied: bigint,
  low: bigint,
): readonly ReadBack[] {
  const from = witness + 1n < low ? low : witness + 1n
  const answers = [answerOf(drawn.answer, partition, witness), gapAnswerOf(drawn.gapAnswer, partition, from, applied)]
  return answers.filter((answer) => answer !== undefined)
}

function gapAnswerOf(answer: string, partition: number, from: bigint, applied: bigint): ReadBack | undefined {
  if (from >= applied) return undefined
  const stretch = { partition, offset: offsetOf(from), before: offsetOf(applied) }
  switch (answer) {
    case 'absent':
      return { kind: 'absent', ...stretch }
    case 'record':
      return { kind: 'record', ...stretch, witness: witnessOf(recordOf(partition, from)) }
    case 'unreadable':
      return { kind: 'unreadable', ...stretch, message: 'timed out' }
    case 'shorter':
      return { kind: 'absent', ...stretch, before: offsetOf(capOffset(applied - 1n)) }
    default:
      return undefined
  }
}

function answerOf(answer: string, partition: number, exact: bigint): ReadBack | undefined {
  const offset = offsetOf(exact)
  switch (answer) {
    case 'same':
      return { kind: 'record', partition, offset, witness: witnessOf(recordOf(partition, exact)) }
    case 'other':
      return { kind: 'record', partition, offset, witness: witnessOf(recordOf(partition, exact, 'another')) }
    case 'absent':
      return { kind: 'absent', partition, offset }
    case 'unreadable':
      return { kind: 'unreadable', partition, offset, message: 'timed out' }
    case 'elsewhere':
      return { kind: 'absent', partition, offset: offsetOf(capOffset(exact + 1n)) }
    default:
      return undefined
  }
}
