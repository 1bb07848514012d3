import { invariant } from '@tidemark/core'
import { z } from 'zod'
import { misfits } from '../envelope/input-partition.ts'
import type { InputPartition } from '../envelope/input-partition.ts'
import type { PartitionPositions } from '../envelope/partition-positions.ts'
import { readState } from '../envelope/state-problem.ts'
import type { StateReading } from '../envelope/state-problem.ts'
import { verdictNames, VERDICTS } from './verdict.ts'
import type { Verdict } from './verdict.ts'

/** What was delivered of a partition, and what became of it. */
export interface PartitionAccount extends InputPartition {
  readonly delivered: number
  readonly verdicts: Readonly<Record<Verdict, number>>
}

/** The accounting's part of a cut. */
export interface AccountingState {
  readonly partitions: readonly PartitionAccount[]
}

/** By how much the books of a partition do not balance; none of the three is ever other than zero. */
export interface Residue {
  /** Records delivered less verdicts given. */
  readonly unjudged: number
  /** Records delivered that were no replay, less those whose offsets were covered. */
  readonly uncovered: number
  /** Offsets between the first and the next, less records covered and holes. */
  readonly unproven: number
}

/**
 * The books of every partition: what came in, and what became of each record.
 *
 * Deliveries and verdicts are counted in different places, and offsets in a third, so that a record which is dropped or counted
 * twice in one of them shows. Promises: WIN-64.
 */
export interface Accounting {
  /** Counts records as they come in, before anything is known of them. */
  deliver(index: number, records: number): void
  /** Counts one verdict. Allocates nothing. */
  judge(index: number, verdict: number): void
  delivered(index: number): number
  judged(index: number, verdict: Verdict): number
  /** What does not balance, or `undefined`: asked after every step. Cost: a few additions. */
  residue(index: number, positions: PartitionPositions<never>): Residue | undefined
  state(): AccountingState
}

/** Books that begin empty, or go on from stored ones that were read by {@link readAccountingState}. */
export function createAccounting(partitions: readonly InputPartition[], from?: AccountingState): Accounting {
  return new Books(partitions, from)
}

const replay = verdictNames.indexOf('REPLAY')

class Books implements Accounting {
  readonly #partitions: readonly InputPartition[]
  readonly #delivered: Float64Array
  readonly #verdicts: Float64Array

  constructor(partitions: readonly InputPartition[], from: AccountingState | undefined) {
    this.#partitions = partitions
    this.#delivered = new Float64Array(partitions.length)
    this.#verdicts = new Float64Array(partitions.length * VERDICTS)
    for (const [index, { delivered, verdicts }] of (from?.partitions ?? []).entries()) {
      this.#delivered[index] = delivered
      for (const [verdict, name] of verdictNames.entries()) this.#verdicts[index * VERDICTS + verdict] = verdicts[name]
    }
  }

  deliver(index: number, records: number): void {
    this.#delivered[index]! += records
  }

  judge(index: number, verdict: number): void {
    this.#verdicts[index * VERDICTS + verdict]! += 1
  }

  delivered(index: number): number {
    return this.#delivered[index]!
  }

  judged(index: number, verdict: Verdict): number {
    return this.#verdicts[index * VERDICTS + verdictNames.indexOf(verdict)]!
  }

  residue(index: number, positions: PartitionPositions<never>): Residue | undefined {
    const delivered = this.#delivered[index]
    invariant(delivered !== undefined, 'WIN-64', `there is no partition with index ${index}`)
    let judged = 0
    for (let verdict = 0; verdict < VERDICTS; verdict += 1) judged += this.#verdicts[index * VERDICTS + verdict]!
    const taken = positions.recordsTaken(index)
    const unjudged = delivered - judged
    const uncovered = delivered - this.#verdicts[index * VERDICTS + replay]! - taken
    const unproven = positions.nextOffset(index) - positions.firstOffset(index) - taken - positions.holeOffsets(index)
    if (unjudged === 0 && uncovered === 0 && unproven === 0) return undefined
    return { unjudged, uncovered, unproven }
  }

  state(): AccountingState {
    return {
      partitions: this.#partitions.map(({ source, partition, generation }, index) => ({
        source,
        partition,
        generation,
        delivered: this.#delivered[index]!,
        verdicts: Object.fromEntries(verdictNames.map((name) => [name, this.judged(index, name)])) as Record<
          Verdict,
          number
        >,
      })),
    }
  }
}

const count = z.int().nonnegative()
const schema = z.strictObject({
  partitions: z.array(
    z.strictObject({
      source: z.string(),
      partition: count,
      generation: count,
      delivered: count,
      verdicts: z.strictObject({
        ACCEPTED: count,
        TOO_LATE: count,
        NO_WINDOW: count,
        DUPLICATE: count,
        REPLAY: count,
        QUARANTINED: count,
        OVERLAPS_FINALIZED: count,
      } satisfies Record<Verdict, typeof count>),
    }),
  ),
})

/** Reads stored books strictly: of the same partitions, and in balance. Promises: WIN-64. */
export function readAccountingState(
  stored: unknown,
  partitions: readonly InputPartition[],
): StateReading<AccountingState> {
  return readState(stored, schema, (state) => [
    ...misfits(partitions, state.partitions),
    ...state.partitions.flatMap(({ delivered, verdicts }, index) => {
      const judged = Object.values(verdicts).reduce((sum, each) => sum + each, 0)
      const message = `${judged} verdicts for ${delivered} records delivered`
      return judged === delivered ? [] : [{ path: `partitions.${index}.verdicts`, message }]
    }),
  ])
}
