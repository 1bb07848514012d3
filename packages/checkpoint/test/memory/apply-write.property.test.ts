import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import { applyWrite, applyWrites, createMemoryData } from '@tidemark/checkpoint/memory'

const numRuns = process.env['TIDEMARK_SIZE'] === 'full' ? 20_000 : 1_000
const key = fc.constantFrom('a', 'b', 'c')
const member = fc.constantFrom('m', 'n', 'o')
const write: fc.Arbitrary<ProjectionWrite> = fc.oneof(
  fc.record({
    op: fc.constant('zadd' as const),
    key,
    mode: fc.constantFrom('GT' as const, 'LT' as const, 'ANY' as const),
    score: fc.integer({ min: -5, max: 5 }),
    member,
  }),
  fc.record({ op: fc.constant('zrem' as const), key, member }),
  fc.record({ op: fc.constant('sadd' as const), key, member }),
  fc.record({ op: fc.constant('srem' as const), key, member }),
  fc.record({ op: fc.constant('hset' as const), key, field: member, value: member }),
  fc.record({ op: fc.constant('hdel' as const), key, field: member }),
  fc.record({ op: fc.constant('set' as const), key, value: fc.constantFrom('x', '3') }),
  fc.record({ op: fc.constant('setIfGreater' as const), key, value: fc.bigInt({ min: 0n, max: 5n }) }),
  fc.record({ op: fc.constant('del' as const), key }),
)

function tryApply(data: ReturnType<typeof createMemoryData>, writes: readonly ProjectionWrite[]): boolean {
  try {
    applyWrites(data, writes)
    return true
  } catch {
    return false
  }
}

describe('steps of the vocabulary', () => {
  it('a step is all or nothing, and a refused one leaves the keyspace as it was', () => {
    fc.assert(
      fc.property(fc.array(fc.array(write, { maxLength: 8 }), { maxLength: 12 }), (steps) => {
        const data = createMemoryData()
        const oneByOne = createMemoryData()
        for (const step of steps) {
          const before = structuredClone(data.values)
          if (tryApply(data, step)) for (const each of step) applyWrite(oneByOne, each)
          else expect(data.values).toEqual(before)
          expect(data.values).toEqual(oneByOne.values)
        }
      }),
      { numRuns },
    )
  })

  it('replaying any stretch of accepted steps from its start ends in the same data', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 30 }), fc.nat(), (writes, cut) => {
        const data = createMemoryData()
        const accepted = writes.filter((each) => tryApply(data, [each]))
        const from = accepted.length === 0 ? 0 : cut % accepted.length
        const replayed = structuredClone(data)
        // A replay can meet a kind that came later; Redis refuses it too, and the projection then stops. Where it does
        // not, the data must be what it was.
        const stretch = accepted.slice(from)
        const firstKeys = new Set(stretch.map((each) => each.key))
        if (tryApply(replayed, stretch) && [...firstKeys].every((each) => stretchSetsEverything(stretch, each))) {
          expect(replayed.values).toEqual(data.values)
        }
      }),
      { numRuns },
    )
  })
})

/** Whether the stretch begins its key from a known state, which is what makes any mixture of writes repeatable. */
function stretchSetsEverything(stretch: readonly ProjectionWrite[], wanted: string): boolean {
  const first = stretch.find((each) => each.key === wanted)
  return first?.op === 'set' || first?.op === 'del'
}
