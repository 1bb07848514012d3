import { OFFSET_ZERO } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { appliedStretches, boundsFault, indexReadBacks, judgeApplied } from '@tidemark/log'
import type {
  BoundsReading,
  LogIdentity,
  PartitionBounds,
  ReadBack,
  ReadBackAnswers,
  ReadBackStretch,
  SurveyVerdict,
  TopicSettingsReading,
} from '@tidemark/log'
import { counted } from './counted.ts'
import { identityFirst } from './refusals/identity-first.ts'
import type { Namespace } from './namespace.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import { storeRefusals } from './store-review.ts'
import type { StoreDeclarations } from './store-review.ts'
import { identityRefusals, reviewStored } from './stored-review.ts'
import type { StoredReview } from './stored-review.ts'
import type { Apart, StoredState } from './stored-state.ts'
import { appliedPosition, judgeTwin } from './twin-judgement.ts'
import { unprovenRemedy } from './refusals/unproven-remedy.ts'

/** What "caught up" means: everything below the high watermark at start, or only below the last stable offset. */
export type ReadyTarget = 'hw' | 'lso'

/** What the host declares about its projection. Each widens what is safe, so each is said and none is guessed. */
export interface PlanDeclarations extends StoreDeclarations {
  /** The latest record per key is all the projection needs, so a compacted topic is complete for it. */
  readonly latestRecordPerKeySuffices: boolean
}

/** Everything a start is decided from. */
export interface PlanInput {
  readonly namespace: Namespace
  readonly topic: string
  readonly readyTarget: ReadyTarget
  readonly writeModel: 'idempotent' | 'transactional'
  readonly declarations: PlanDeclarations
  readonly stored: StoredState
  readonly identity: SurveyVerdict
  /** Absent when the identity is unproven: then there is no partition count to ask about. */
  readonly bounds: BoundsReading | undefined
  readonly settings: TopicSettingsReading | undefined
  /** Read-backs of the stretches {@link witnessReadBacks} named. */
  readonly readBacks: readonly ReadBack[]
}

/** Where one partition starts and when it is caught up. */
export interface PartitionStart {
  readonly partition: number
  readonly nextOffset: Offset
  /** H0: fixed at start, never moved by records that arrive later. */
  readonly target: Offset
  readonly origin: 'checkpoint' | 'first-start' | 'replay-from-zero'
  readonly bounds: PartitionBounds
  /** Set where the data lives apart and does not stand where its checkpoint does; the start is at the lower of the two. */
  readonly apart?: Apart
}

/** A decided start: the positions, and what must be created before reading. */
export interface StartPlan {
  readonly kind: 'start'
  readonly identity: LogIdentity
  readonly createMeta: boolean
  readonly createCheckpoints: readonly number[]
  readonly partitions: readonly PartitionStart[]
  readonly notes: readonly PlanNote[]
}

/** Something an operator should know about a start that is safe. */
export interface PlanNote {
  readonly code: 'REPLAY_FROM_ZERO' | 'WITNESS_NOT_RETAINED' | 'OPEN_TRANSACTIONS' | 'DATA_APART'
  readonly partition: number
  readonly message: string
}

/** A start, or all reasons against it at once. */
export type PlanVerdict = StartPlan | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }

/**
 * Whether and where a projection may start. Pure: running it is the dry run.
 *
 * Promises: CKP-3 to CKP-12. Cost: linear in partitions.
 */
export function planStart(input: PlanInput): PlanVerdict {
  const review = reviewStored(input.namespace, input.topic, input.stored)
  const refusals = [
    ...storeRefusals(input.stored.facts, input.declarations),
    ...review.refusals,
    ...surveyRefusals(input.identity),
    ...settingsRefusals(input),
  ]
  if (input.identity.kind !== 'proven') return { kind: 'refused', refusals }
  const { identity } = input.identity
  const otherLog = identityRefusals(review, identity)
  refusals.push(...otherLog, ...strayRefusals(review, identity))
  const bounds = usableBounds(input.bounds, identity.partitionCount, refusals)
  if (bounds === undefined) return { kind: 'refused', refusals: identityFirst(refusals) }

  const partitions: PartitionStart[] = []
  const notes: PlanNote[] = []
  const answers = indexReadBacks(input.readBacks)
  for (const partitionBounds of bounds) {
    const start = planPartition(input, review, partitionBounds, refusals)
    if (start !== undefined) partitions.push(start)
    // On another log the record at that offset says nothing; the identity refusal stands for it.
    if (otherLog.length === 0) judgePartitionWitness(input, review, partitionBounds, answers, refusals, notes)
  }
  if (refusals.length > 0) return { kind: 'refused', refusals: identityFirst(refusals) }
  const created = partitions.filter((start) => start.origin !== 'checkpoint')
  notes.push(...startNotes(partitions))
  return {
    kind: 'start',
    identity,
    createMeta: !review.hasMeta,
    createCheckpoints: created.map((start) => start.partition),
    partitions,
    notes,
  }
}

/**
 * What the tail witnesses ask to read back, given the bounds: the last applied record, and the stretch between it and the
 * position, which was passed as a gap. Empty while the identity does not match.
 */
export function witnessReadBacks(input: Omit<PlanInput, 'readBacks'>): readonly ReadBackStretch[] {
  if (input.identity.kind !== 'proven' || input.bounds?.kind !== 'bounds') return []
  const review = reviewStored(input.namespace, input.topic, input.stored)
  if (identityRefusals(review, input.identity.identity).length > 0) return []
  return input.bounds.partitions.flatMap((bounds) => {
    const witness = review.witnesses.get(bounds.partition)
    const position = appliedPosition(review, bounds.partition)
    return witness === undefined || position === undefined ? [] : appliedStretches(witness, bounds, position)
  })
}

function surveyRefusals(verdict: SurveyVerdict): readonly Refusal[] {
  if (verdict.kind === 'proven') return []
  if (verdict.kind === 'unproven') {
    const { brokerId, reason, message } = verdict
    const text = `the log's identity is not proven (${reason}): ${message}`
    const refusal = refuse('IDENTITY_UNPROVEN', text, { broker: brokerId, reason })
    return [{ ...refusal, remedy: unprovenRemedy(reason) }]
  }
  const text = verdict.differences.map((d) => `${d.field} was ${d.expected}, is ${d.found}`).join('; ')
  return [refuse('IDENTITY_CHANGED', `broker ${verdict.brokerId} contradicts: ${text}`, { broker: verdict.brokerId })]
}

function settingsRefusals(input: PlanInput): readonly Refusal[] {
  const reading = input.settings
  if (reading === undefined) {
    // Settings nobody read are as unknown as unreadable ones; without a proven identity there was no topic to ask about.
    if (input.identity.kind !== 'proven') return []
    return [refuse('SETTINGS_UNREADABLE', `settings of topic ${input.topic} were not read`)]
  }
  if (reading.kind === 'unreadable') {
    return [refuse('SETTINGS_UNREADABLE', `settings of topic ${input.topic} cannot be read: ${reading.message}`)]
  }
  const { compacted, cleanupPolicy } = reading.settings
  if (!compacted || input.declarations.latestRecordPerKeySuffices) return []
  return [refuse('COMPACTED_TOPIC', `cleanup.policy of ${input.topic} is ${cleanupPolicy}`, { cleanupPolicy })]
}

function strayRefusals(review: StoredReview, identity: LogIdentity): readonly Refusal[] {
  const strays: number[] = []
  for (const partition of review.present) if (partition >= identity.partitionCount) strays.push(partition)
  strays.sort((a, b) => a - b)
  return strays.map((partition) =>
    refuse(
      'EXTRA_CHECKPOINT',
      `a checkpoint of partition ${partition} exists, but the topic has ${counted(identity.partitionCount, 'partition')}`,
      { partitionCount: identity.partitionCount },
      partition,
    ),
  )
}

function usableBounds(
  reading: BoundsReading | undefined,
  partitionCount: number,
  refusals: Refusal[],
): readonly PartitionBounds[] | undefined {
  if (reading?.kind === 'bounds') {
    const fault = boundsFault(reading.partitions, partitionCount)
    if (fault === undefined) return inOrder(reading.partitions)
    refusals.push(refuse('BOUNDS_UNREADABLE', `the offsets read are not of one log: ${fault}`))
    return undefined
  }
  const message = reading === undefined ? 'the offsets were not read' : reading.message
  const values = reading?.reason === undefined ? {} : { reason: reading.reason }
  refusals.push(refuse('BOUNDS_UNREADABLE', message, values, reading?.partition))
  return undefined
}

/** The bounds by partition; once they are known to be of each partition one, the usual answer is in order. */
function inOrder(bounds: readonly PartitionBounds[]): readonly PartitionBounds[] {
  if (bounds.every(({ partition }, index) => partition === index)) return bounds
  return [...bounds].sort((a, b) => a.partition - b.partition)
}

function planPartition(
  input: PlanInput,
  review: StoredReview,
  bounds: PartitionBounds,
  refusals: Refusal[],
): PartitionStart | undefined {
  const { partition, low, highWatermark } = bounds
  const target = input.readyTarget === 'hw' ? highWatermark : bounds.lastStableOffset
  const twin = judgeTwin(review, bounds, refusals)
  const checkpoint = review.checkpoints.get(partition)
  if (checkpoint !== undefined) {
    const { nextOffset } = checkpoint
    if (nextOffset < low) {
      const gap = low - nextOffset
      const message = `next is ${nextOffset}, the log starts at ${low}: ${counted(gap, 'record is', 'records are')} gone`
      refusals.push(refuse('NEXT_BELOW_LOW', message, gapValues(nextOffset, bounds, gap), partition))
    }
    if (nextOffset > highWatermark) {
      const gap = nextOffset - highWatermark
      const message = `next is ${nextOffset}, the log ends at ${highWatermark}: ${counted(gap, 'record is', 'records are')} missing`
      refusals.push(refuse('NEXT_ABOVE_HIGH', message, gapValues(nextOffset, bounds, gap), partition))
    }
    return startFrom({ partition, nextOffset, target, origin: 'checkpoint', bounds }, twin)
  }
  // A damaged checkpoint was refused by the review; it must not be mistaken for an absent one.
  if (review.present.has(partition)) return undefined
  return startFrom(planAbsent(input, review, bounds, target, refusals), twin)
}

function gapValues(next: Offset, bounds: PartitionBounds, gap: bigint): Readonly<Record<string, string>> {
  const { low, highWatermark } = bounds
  return { next: String(next), low: String(low), highWatermark: String(highWatermark), gap: String(gap) }
}

/** A start at the lower of checkpoint and data. H0 stays what it is. */
function startFrom(start: PartitionStart, data: Offset | undefined): PartitionStart {
  const { nextOffset: checkpoint } = start
  if (data === undefined || data === checkpoint) return start
  return { ...start, nextOffset: data < checkpoint ? data : checkpoint, apart: { data, checkpoint } }
}

function planAbsent(
  input: PlanInput,
  review: StoredReview,
  bounds: PartitionBounds,
  target: Offset,
  refusals: Refusal[],
): PartitionStart {
  const { partition, low } = bounds
  if (low > 0n) {
    const message = `no checkpoint, and the log starts at ${low}: history is not complete`
    refusals.push(refuse('LOW_NOT_ZERO', message, { low: String(low) }, partition))
  }
  const lost = review.hasMeta || review.present.size > 0
  if (lost && (low > 0n || input.writeModel === 'transactional')) {
    const why = low > 0n ? `the log starts at ${low}` : 'replayed writes of this store are not idempotent'
    refusals.push(
      refuse('MISSING_CHECKPOINT', `the checkpoint of partition ${partition} is missing and ${why}`, {}, partition),
    )
  }
  const origin = lost ? 'replay-from-zero' : 'first-start'
  return { partition, nextOffset: OFFSET_ZERO, target, origin, bounds }
}

function judgePartitionWitness(
  input: PlanInput,
  review: StoredReview,
  bounds: PartitionBounds,
  answers: ReadBackAnswers,
  refusals: Refusal[],
  notes: PlanNote[],
): void {
  const { partition } = bounds
  const witness = review.witnesses.get(partition)
  const position = appliedPosition(review, partition)
  if (witness === undefined || position === undefined) return
  const compacted = input.settings?.kind === 'settings' && input.settings.settings.compacted
  const verdict = judgeApplied(witness, bounds, position, compacted, answers)
  if (verdict.kind === 'confirmed') return
  const offset = String(witness.offset)
  switch (verdict.kind) {
    case 'not-retained':
      notes.push({
        code: 'WITNESS_NOT_RETAINED',
        partition,
        message: `record ${offset}, the last applied, is no longer retained`,
      })
      return
    case 'diverged':
      refusals.push(
        refuse('LOG_DIVERGED', verdict.explanation, { offset, leaderEpoch: witness.leaderEpoch }, partition),
      )
      return
    case 'unproven': {
      const values = { offset, ...(verdict.reason === undefined ? {} : { reason: verdict.reason }) }
      const message = `record ${offset} cannot be read back: ${verdict.message}`
      refusals.push(refuse('WITNESS_UNPROVEN', message, values, partition))
    }
  }
}

function startNotes(partitions: readonly PartitionStart[]): readonly PlanNote[] {
  const notes: PlanNote[] = []
  for (const { partition, origin, bounds, apart } of partitions) {
    if (apart !== undefined) {
      const [behind, ahead] = apart.data < apart.checkpoint ? ['data', 'checkpoint'] : ['checkpoint', 'data']
      const message = `the data stands at ${apart.data}, the checkpoint at ${apart.checkpoint}: only the ${behind} moves until it passes the ${ahead}`
      notes.push({ code: 'DATA_APART', partition, message })
    }
    if (origin === 'replay-from-zero') {
      notes.push({
        code: 'REPLAY_FROM_ZERO',
        partition,
        message: 'the checkpoint is missing; its complete history is replayed',
      })
    }
    const open = bounds.highWatermark - bounds.lastStableOffset
    if (open > 0n) {
      const message = `${counted(open, 'record waits', 'records wait')} behind an open transaction`
      notes.push({ code: 'OPEN_TRANSACTIONS', partition, message })
    }
  }
  return notes
}
