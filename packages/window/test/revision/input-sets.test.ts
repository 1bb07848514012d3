import { describe, expect, it } from 'vitest'
import { createInputSets } from '../../src/revision/input-sets.ts'

const orders = (partition: number, generation = 1) => ({ source: 'orders', partition, generation })
const partitions = [orders(0), orders(1), { source: 'refunds', partition: 0, generation: 1 }]

describe('input sets', () => {
  it('[WIN-61] [WIN-62] tell hulls, counts and the sum of a set, by partition', () => {
    const sets = createInputSets(partitions)
    const slot = sets.open()
    expect(sets.read(slot)).toEqual({ hulls: [], count: 0, setHash: '0'.repeat(32) })
    for (const [partition, offset] of [
      [2, 5],
      [0, 9],
      [2, 3],
      [0, 10],
      [0, 7],
    ] as const) {
      sets.add(slot, partition, offset)
    }
    const { hulls, count, setHash } = sets.read(slot)
    expect(hulls).toEqual([
      { source: 'orders', partition: 0, generation: 1, fromOffset: 7, toOffset: 10, count: 3 },
      { source: 'refunds', partition: 0, generation: 1, fromOffset: 3, toOffset: 5, count: 2 },
    ])
    expect([count, sets.count(slot)]).toEqual([5, 5])
    expect(setHash).toMatch(/^[0-9a-f]{32}$/)
  })

  it('[WIN-61] the sum has one value for good: it is stored, and compared with that of another program', () => {
    const sets = createInputSets(partitions)
    const slot = sets.open()
    sets.add(slot, 0, 0)
    sets.add(slot, 1, 2 ** 40 + 17)
    expect(sets.read(slot).setHash).toBe('e4d004aaf408665332dad96825eefc6f')
  })

  it('[WIN-61] offset 0 counts, and so do the halves of a large one, the partition, the source and its incarnation', () => {
    const hashes = new Set<string>()
    const places = [...partitions, orders(0, 2)]
    const sets = createInputSets(places)
    const offsets = [0, 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 33, 2 ** 53 - 1, 2 ** 53 - 2 ** 32 - 1]
    for (const partition of places.keys()) {
      for (const offset of offsets) {
        const slot = sets.open()
        sets.add(slot, partition, offset)
        hashes.add(sets.read(slot).setHash)
      }
    }
    expect(hashes.size).toBe(places.length * offsets.length)
    expect(hashes.has('0'.repeat(32))).toBe(false)
  })

  it('[WIN-61] each lane alone tells neighbouring offsets apart', () => {
    const sets = createInputSets(partitions)
    const lanes = [0, 8, 16, 24].map(() => new Set<string>())
    for (let offset = 0; offset < 20_000; offset += 1) {
      const slot = sets.open()
      sets.add(slot, 0, offset)
      const { setHash } = sets.read(slot)
      lanes.forEach((lane, index) => lane.add(setHash.slice(index * 8, index * 8 + 8)))
      sets.free(slot)
    }
    // Of 20,000 draws from 2^32, one or none meet by chance.
    for (const lane of lanes) expect(lane.size).toBeGreaterThan(19_995)
  })

  it('[WIN-62] a merged set is the set of both, and the one it came from is empty', () => {
    const sets = createInputSets(partitions)
    const [whole, left, right] = [sets.open(), sets.open(), sets.open()]
    for (const [partition, offset] of [
      [0, 4],
      [1, 8],
      [0, 6],
    ] as const) {
      sets.add(left, partition, offset)
      sets.add(whole, partition, offset)
    }
    for (const [partition, offset] of [
      [2, 1],
      [1, 3],
    ] as const) {
      sets.add(right, partition, offset)
      sets.add(whole, partition, offset)
    }
    sets.merge(left, right)
    expect(sets.read(left)).toEqual(sets.read(whole))
    expect(sets.read(right)).toEqual({ hulls: [], count: 0, setHash: '0'.repeat(32) })
    expect(() => sets.merge(left, left)).toThrow(/WIN-62/)
  })

  it('[WIN-62] a freed slot begins anew, and its rows are used again', () => {
    const sets = createInputSets(partitions)
    const slots = Array.from({ length: 3_000 }, () => sets.open())
    for (const slot of slots) for (const partition of partitions.keys()) sets.add(slot, partition, slot)
    expect(sets.size).toBe(3_000)
    for (const slot of slots) sets.free(slot)
    expect(sets.size).toBe(0)
    const again = Array.from({ length: 9_000 }, () => sets.open())
    expect(new Set(again).size).toBe(9_000)
    expect(Math.max(...again)).toBeLessThan(9_000)
    expect(again.map((slot) => sets.read(slot)).every(({ count, hulls }) => count === 0 && hulls.length === 0)).toBe(
      true,
    )
  })
})
