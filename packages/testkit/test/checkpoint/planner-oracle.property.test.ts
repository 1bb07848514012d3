import { planStart } from '@tidemark/checkpoint'
import type { PlanVerdict } from '@tidemark/checkpoint'
import { startState } from '@tidemark/testkit/arbitrary'
import { startOracle } from '@tidemark/testkit/oracle'
import type { OracleVerdict } from '@tidemark/testkit/oracle'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runSize } from '../run-size.ts'

/** A verdict of the planner in the words of the oracle. */
function inOracleWords(verdict: PlanVerdict): OracleVerdict {
  if (verdict.kind === 'refused') {
    const reasons = verdict.refusals.map(({ code, partition }) =>
      partition === undefined ? code : `${code}@${partition}`,
    )
    return { kind: 'refused', reasons: new Set(reasons) }
  }
  const partitions = verdict.partitions.map(({ partition, nextOffset, target, apart }) => {
    const data = apart === undefined ? {} : { data: BigInt(apart.data) }
    const created = verdict.createCheckpoints.includes(partition)
    return [partition, { next: BigInt(nextOffset), target: BigInt(target), created, ...data }] as const
  })
  return { kind: 'start', createMeta: verdict.createMeta, partitions: new Map(partitions) }
}

describe('the planner against an oracle', () => {
  it(
    '[CKP-12] [TST-9] comes to the same verdict: every reason, every position, every target',
    { timeout: 1_800_000 },
    () => {
      const seen = new Map<string, number>()
      const count = (key: string): void => void seen.set(key, (seen.get(key) ?? 0) + 1)
      fc.assert(
        fc.property(startState, (input) => {
          const expected = startOracle(input)
          expect(inOracleWords(planStart(input))).toEqual(expected)
          count(expected.kind)
          if (expected.kind === 'start')
            for (const { data, next } of expected.partitions.values())
              count(data === undefined ? 'together' : data > next ? 'data ahead' : 'data behind')
          if (expected.kind === 'refused') for (const reason of expected.reasons) count(reason.replace(/@.*/, ''))
        }),
        runSize(10_000, 100_000),
      )
      // Agreement says something only where every kind of verdict came up; a generator that drifts would hide a hole.
      const codes = [
        ...['STORE_LOADING', 'STORE_REPLICA', 'STORE_DATABASE', 'EVICTION_POLICY', 'KEY_EXPIRES', 'IDENTITY_UNPROVEN'],
        ...['IDENTITY_CHANGED', 'CLUSTER_ID', 'TOPIC_NAME', 'TOPIC_ID', 'PARTITION_COUNT', 'FORMAT_VERSION'],
        ...['FIELD_MISSING', 'FIELD_UNKNOWN', 'UNPARSEABLE', 'PARTITION_FIELD', 'CHECKPOINT_UNLIKE_META'],
        ...['CHECKPOINTS_WITHOUT_META', 'EXTRA_CHECKPOINT', 'MISSING_CHECKPOINT', 'LOW_NOT_ZERO', 'NEXT_BELOW_LOW'],
        ...['NEXT_ABOVE_HIGH', 'BOUNDS_UNREADABLE', 'SETTINGS_UNREADABLE', 'COMPACTED_TOPIC', 'LOG_DIVERGED'],
        ...['WITNESS_UNPROVEN', 'DATA_TWIN', 'data ahead', 'data behind'],
      ]
      expect(codes.filter((code) => (seen.get(code) ?? 0) < 5)).toEqual([])
      expect(seen.get('start') ?? 0).toBeGreaterThan(100)
    },
  )
})
