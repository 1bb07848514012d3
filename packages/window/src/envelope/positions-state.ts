import { z } from 'zod'
import { misfits } from './input-partition.ts'
import type { InputPartition } from './input-partition.ts'
import { readState } from './state-problem.ts'
import type { StateProblem, StateReading } from './state-problem.ts'

/** Which offsets of a partition were covered, and by what. */
export interface PartitionPosition extends InputPartition {
  /** Where the generation began to read. */
  readonly firstOffset: number
  readonly nextOffset: number
  readonly recordsTaken: number
  readonly holeOffsets: number
  /** The last record taken, by a hash of it; `null` before the first. */
  readonly last: { readonly offset: number; readonly witness: string } | null
}

/** The positions' part of a cut. */
export interface PositionsState {
  readonly partitions: readonly PartitionPosition[]
}

const count = z.int().nonnegative()
const schema = z.strictObject({
  partitions: z.array(
    z.strictObject({
      source: z.string(),
      partition: count,
      generation: count,
      firstOffset: count,
      nextOffset: count,
      recordsTaken: count,
      holeOffsets: count,
      last: z.strictObject({ offset: count, witness: z.string().regex(/^[0-9a-f]{64}$/) }).nullable(),
    }),
  ),
})

/** Reads stored positions strictly. Promises: WIN-23. */
export function readPositionsState(
  stored: unknown,
  partitions: readonly InputPartition[],
): StateReading<PositionsState> {
  return readState(stored, schema, (state) => [
    ...misfits(partitions, state.partitions),
    ...state.partitions.flatMap(contradictions),
  ])
}

function contradictions(position: PartitionPosition, index: number): StateProblem[] {
  const { firstOffset, nextOffset, recordsTaken, holeOffsets, last } = position
  const problems: StateProblem[] = []
  const fault = (field: string, message: string): void =>
    void problems.push({ path: `partitions.${index}.${field}`, message })
  if (nextOffset - firstOffset !== recordsTaken + holeOffsets) {
    fault('nextOffset', `${recordsTaken} records and ${holeOffsets} holes do not cover ${firstOffset} to ${nextOffset}`)
  }
  if ((last === null) !== (recordsTaken === 0)) fault('last', `${recordsTaken} records were taken`)
  if (last !== null && (last.offset < firstOffset || last.offset >= nextOffset)) {
    fault('last.offset', `${last.offset} is not from ${firstOffset} to below ${nextOffset}`)
  }
  return problems
}
