import { EVENT_TIME_MAX_MS } from '@tidemark/core'
import { z } from 'zod'
import type { InputPartition } from '../envelope/input-partition.ts'
import { readState } from '../envelope/state-problem.ts'
import type { StateProblem, StateReading } from '../envelope/state-problem.ts'
import type { StreamTimePolicy } from '../policy/stream-time-policy.ts'
import { FRONTIER_MAX, FRONTIER_MIN } from '../time/frontier-time.ts'
import type { Frontier } from '../time/frontier-time.ts'
import type { PartitionStatus } from './marks.ts'

/** A frontier where infinities have no text: in stored state and in reports. */
export type StoredFrontier = number | 'MIN' | 'MAX'

/** What is kept of one partition's time. */
export interface PartitionFrontier extends InputPartition {
  /** The largest event time taken; `null` before the first. */
  readonly maxEventTimeMs: number | null
  /** That less the bound. Stored beside it, so that state under another bound is noticed. */
  readonly claimMs: number | null
  readonly status: PartitionStatus
  /** It was idle, is active again, and has not caught up with the frontier since. */
  readonly resumedBehind: boolean
}

/** The frontier's part of a cut: from it the same intake gives the same frontier. */
export interface FrontierState {
  readonly frontier: StoredFrontier
  readonly partitions: readonly PartitionFrontier[]
}

/** By what a frontier was computed and is computed on. */
export interface FrontierRules {
  readonly boundMs: number
  readonly resumeBehind: StreamTimePolicy['resumeBehind']
}

const instant = z.int().min(-EVENT_TIME_MAX_MS).max(EVENT_TIME_MAX_MS)
const count = z.int().nonnegative()
const schema = z.strictObject({
  frontier: z.union([z.int(), z.literal('MIN'), z.literal('MAX')]),
  partitions: z.array(
    z.strictObject({
      source: z.string(),
      partition: count,
      generation: count,
      maxEventTimeMs: instant.nullable(),
      claimMs: z.int().nullable(),
      status: z.enum(['ACTIVE', 'IDLE', 'FINISHED']),
      resumedBehind: z.boolean(),
    }),
  ),
})

/** Reads stored state strictly; claims under another bound are faults of it. Promises: WIN-30. */
export function readFrontierState(stored: unknown, rules: FrontierRules): StateReading<FrontierState> {
  return readState(stored, schema, (state) => contradictions(state, rules))
}

function contradictions(state: FrontierState, { boundMs, resumeBehind }: FrontierRules): StateProblem[] {
  const problems: StateProblem[] = []
  const frontier = decodeFrontier(state.frontier)
  let least = Infinity
  for (const [index, { maxEventTimeMs, claimMs, status, resumedBehind }] of state.partitions.entries()) {
    const path = `partitions.${index}`
    const claim = (maxEventTimeMs ?? FRONTIER_MIN) - boundMs
    if ((claimMs ?? FRONTIER_MIN) !== claim) {
      const message = `${claimMs} is not ${maxEventTimeMs} less the bound ${boundMs}`
      problems.push({ path: `${path}.claimMs`, message })
    }
    // The largest time is what a claim follows from, so one false claim is told once.
    if (resumedBehind && (status !== 'ACTIVE' || claim >= frontier)) {
      const message = `a partition that is ${status} at ${claim} is not behind the frontier ${state.frontier}`
      problems.push({ path: `${path}.resumedBehind`, message })
    }
    const waitedFor = status === 'ACTIVE' && !(resumedBehind && resumeBehind === 'EXCLUDE')
    if (waitedFor) least = Math.min(least, claim)
  }
  const ended = state.partitions.every(({ status }) => status === 'FINISHED')
  if (ended !== (frontier === FRONTIER_MAX)) {
    problems.push({ path: 'frontier', message: 'it is MAX if and only if every partition finished' })
  } else if (least !== Infinity && least > frontier) {
    problems.push({
      path: 'frontier',
      message: `${state.frontier} is below ${least}, which everyone who is waited for claims`,
    })
  }
  return problems
}

/** The stored form of a frontier. */
export function encodeFrontier(frontier: Frontier): StoredFrontier {
  if (frontier === FRONTIER_MIN) return 'MIN'
  return frontier === FRONTIER_MAX ? 'MAX' : frontier
}

/** The frontier of a stored form. */
export function decodeFrontier(stored: StoredFrontier): Frontier {
  if (stored === 'MIN') return FRONTIER_MIN
  return stored === 'MAX' ? FRONTIER_MAX : stored
}
