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

  it('replaying any stretch ends in the same data, as long as a key keeps its kind', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 40 }), fc.nat({ max: 40 }), (writes, cut) => {
        const data = createMemoryData()
        const stretch = writes.map(oneKindPerKey)
        applyWrites(data, stretch)
        const before = structuredClone(data.values)
        applyWrites(data, stretch.slice(cut))
        expect(data.values).toEqual(before)
      }),
      { numRuns },
    )
  })
})

/** A projection gives each key one meaning; only then is a replay free of kinds that came later. */
function oneKindPerKey(each: ProjectionWrite): ProjectionWrite {
  if (each.op === 'set') return { ...each, key: `string:${each.key}`, value: '3' }
  if (each.op === 'setIfGreater') return { ...each, key: `string:${each.key}` }
  if (each.op === 'del') return { ...each, key: `hash:${each.key}` }
  const kind = { zadd: 'sorted-set', zrem: 'sorted-set', sadd: 'set', srem: 'set', hset: 'hash', hdel: 'hash' }[each.op]
  return { ...each, key: `${kind}:${each.key}` }
}
