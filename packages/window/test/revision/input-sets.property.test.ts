import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createInputSets } from '../../src/revision/input-sets.ts'
import type { InputSet, InputSets } from '../../src/revision/input-sets.ts'
import { runSize } from '../run-size.ts'

const partitions = Array.from({ length: 4 }, (_, partition) => ({ source: 's', partition, generation: 1 }))

type Place = readonly [partition: number, offset: number]

/** The set of a list of places, told by one that keeps the list. */
function told(places: readonly Place[]): InputSet {
  const hulls = partitions.flatMap((each, index) => {
    const offsets = places.filter(([partition]) => partition === index).map(([, offset]) => offset)
    if (offsets.length === 0) return []
    return [{ ...each, fromOffset: Math.min(...offsets), toOffset: Math.max(...offsets), count: offsets.length }]
  })
  const lanes = [0n, 0n, 0n, 0n]
  for (const place of places) {
    const alone = createInputSets(partitions)
    const slot = alone.open()
    alone.add(slot, ...place)
    const { setHash } = alone.read(slot)
    lanes.forEach((sum, lane) => {
      lanes[lane] = (sum + BigInt(`0x${setHash.slice(lane * 8, lane * 8 + 8)}`)) % 2n ** 32n
    })
  }
  return { hulls, count: places.length, setHash: lanes.map((sum) => sum.toString(16).padStart(8, '0')).join('') }
}

const place = fc.tuple(fc.nat(3), fc.oneof(fc.nat(50), fc.maxSafeNat()))
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), which: fc.nat(), place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('open' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('free' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('merge' as const), which: fc.nat(), other: fc.nat() }) },
)

function run(sets: InputSets, steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]): void {
  const model = new Map<number, Place[]>()
  const pick = (which: number): number | undefined => [...model.keys()].at(which % Math.max(1, model.size))
  for (const each of steps) {
    if (each.kind === 'open') model.set(sets.open(), [])
    else {
      const slot = pick(each.which)
      if (slot === undefined) continue
      if (each.kind === 'add') {
        sets.add(slot, ...each.place)
        model.get(slot)!.push(each.place)
      } else if (each.kind === 'free') {
        sets.free(slot)
        model.delete(slot)
      } else {
        const other = pick(each.other)!
        if (other === slot) continue
        sets.merge(slot, other)
        model.get(slot)!.push(...model.get(other)!)
        model.set(other, [])
      }
    }
  }
  expect(sets.size).toBe(model.size)
  for (const [slot, places] of model) expect(sets.read(slot)).toEqual(told(places))
}

describe('input sets', () => {
  it('[WIN-61] [WIN-62] are what a list of their records says, whatever was opened, merged and freed around them', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => run(createInputSets(partitions), steps)),
      runSize(300, 20_000),
    )
  })
})
