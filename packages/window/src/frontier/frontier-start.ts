import { misfits, placeOf } from '../envelope/input-partition.ts'
import type { InputPartition } from '../envelope/input-partition.ts'
import { windowErrors } from '../errors.ts'
import { readFrontierState } from './frontier-state.ts'
import type { FrontierRules, FrontierState, PartitionFrontier } from './frontier-state.ts'

/** From what a frontier sets out. Which one decides what is late, so none is the default. */
export type FrontierStart =
  /** Nothing is claimed: history is read again. */
  | { readonly kind: 'replay' }
  /** The state a cut of this very generation holds. */
  | { readonly kind: 'restore'; readonly state: FrontierState }
  /** The last state of the generation before, under the same bound: a new one goes on where that one stood. */
  | { readonly kind: 'handover'; readonly state: FrontierState }

/**
 * The state a frontier sets out from, over exactly these partitions.
 *
 * On `handover` a partition of the same source, number and generation keeps its claim and status; one that is added claims
 * nothing, so that the frontier stands until it caught up; one that is gone is forgotten.
 * Promises: WIN-30, WIN-31.
 *
 * @throws {TidemarkError} TM_WINDOW_STATE_INVALID, TM_WINDOW_HANDOVER_REFUSED
 */
export function startState(
  start: FrontierStart,
  partitions: readonly InputPartition[],
  rules: FrontierRules,
): FrontierState {
  if (start.kind === 'replay') return { frontier: 'MIN', partitions: partitions.map(unclaimed) }
  // A generation that is left may have waited where the new one does not; only its own cut is held to its own rule.
  const read = readFrontierState(start.state, start.kind === 'restore' ? rules : { ...rules, resumeBehind: 'HOLD' })
  if (read.kind === 'invalid') {
    throw windowErrors.create('TM_WINDOW_STATE_INVALID', { part: 'frontier', problems: read.problems })
  }
  if (start.kind === 'restore') {
    const problems = misfits(partitions, read.state.partitions)
    if (problems.length === 0) return read.state
    throw windowErrors.create('TM_WINDOW_STATE_INVALID', { part: 'frontier', problems })
  }
  if (read.state.frontier === 'MAX') {
    // Everything the new generation reads would be too late.
    throw windowErrors.create('TM_WINDOW_HANDOVER_REFUSED', {
      reason: 'every input of the generation before had ended',
    })
  }
  const held = new Map(read.state.partitions.map((each) => [placeOf(each), each]))
  return {
    frontier: read.state.frontier,
    partitions: partitions.map((each) => held.get(placeOf(each)) ?? unclaimed(each)),
  }
}

function unclaimed({ source, partition, generation }: InputPartition): PartitionFrontier {
  return {
    source,
    partition,
    generation,
    maxEventTimeMs: null,
    claimMs: null,
    status: 'ACTIVE',
    resumedBehind: false,
  }
}
