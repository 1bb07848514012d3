import { maxOffset, nextOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { ReadBack, ReadBackStretch } from './committed-log.ts'
import type { PartitionBounds } from './log-bounds.ts'
import { judgeWitness, unprovenBy } from './judge-witness.ts'
import type { WitnessVerdict } from './judge-witness.ts'
import type { TailWitness } from './tail-witness.ts'

/** Answers by what was asked: an answer to another question is no answer. */
export type ReadBackAnswers = (stretch: ReadBackStretch) => ReadBack | undefined

/** Read-backs, found by their stretches. */
export function indexReadBacks(readBacks: readonly ReadBack[]): ReadBackAnswers {
  const byPartition = new Map<number, ReadBack[]>()
  for (const readBack of readBacks) {
    const own = byPartition.get(readBack.partition)
    if (own === undefined) byPartition.set(readBack.partition, [readBack])
    else own.push(readBack)
  }
  // A partition is asked for two stretches at most, so they are looked through.
  return ({ partition, offset, before }) =>
    byPartition.get(partition)?.findLast((answer) => answer.offset === offset && answer.before === before)
}

/**
 * What to read back to know that the log still is the one read up to a position: the last record before it, and the stretch
 * between the two, which was passed because markers and aborted transactions stood there.
 */
export function appliedStretches(
  witness: TailWitness,
  bounds: PartitionBounds,
  position: Offset,
): readonly ReadBackStretch[] {
  const { partition, low, highWatermark } = bounds
  if (witness.offset >= highWatermark) return []
  const record = witness.offset < low ? [] : [{ partition, offset: witness.offset }]
  const gap = passedGap(witness, bounds, position)
  return gap === undefined ? record : [...record, gap]
}

/**
 * Whether the log still is the one read up to a position, given what {@link appliedStretches} asked for.
 *
 * What was decided as a gap stays one: a committed record in it is another history, of which the part below the position
 * would never be read. Promises: LOG-9, LOG-13.
 */
export function judgeApplied(
  witness: TailWitness,
  bounds: PartitionBounds,
  position: Offset,
  compacted: boolean,
  answers: ReadBackAnswers,
): WitnessVerdict {
  const { partition } = bounds
  const verdict = judgeWitness(witness, bounds, compacted, answers({ partition, offset: witness.offset }))
  if (verdict.kind === 'diverged' || verdict.kind === 'unproven') return verdict
  const gap = passedGap(witness, bounds, position)
  return (gap === undefined ? undefined : gapFault(gap, answers(gap))) ?? verdict
}

/** The passed stretch, as far as it is retained. A position beyond the end of the log is another fault, told elsewhere. */
function passedGap(
  witness: TailWitness,
  { partition, low, highWatermark }: PartitionBounds,
  position: Offset,
): ReadBackStretch | undefined {
  // The usual position, right behind the record: asked for every partition of a start.
  if (position - witness.offset === 1n) return undefined
  const offset = maxOffset(nextOffset(witness.offset), low)
  return offset < position && position <= highWatermark ? { partition, offset, before: position } : undefined
}

function gapFault(gap: ReadBackStretch, readBack: ReadBack | undefined): WitnessVerdict | undefined {
  switch (readBack?.kind) {
    case 'absent':
      return undefined
    case 'record': {
      const { offset, leaderEpoch } = readBack.witness
      const explanation = `a record stands at offset ${offset} (leader epoch ${leaderEpoch}), where nothing stood when it was passed`
      return { kind: 'diverged', explanation }
    }
    case 'unreadable':
      return unprovenBy(readBack)
    case undefined:
      return { kind: 'unproven', message: `the passed stretch from ${gap.offset} was not read back` }
  }
}
