import { describe, expect, it } from 'vitest'
import { MinimumTree } from '../../src/frontier/minimum-tree.ts'

describe('the least of many', () => {
  it('[WIN-24] agrees with a look at every value, for every number of values, after every change', () => {
    // Values repeat, go up and down and include both infinities; a fixed linear congruence stands for chance.
    let seed = 1
    const next = (below: number): number => (seed = (seed * 48271) % 2147483647) % below
    for (const count of [1, 2, 3, 4, 5, 7, 8, 9, 64, 65]) {
      const tree = new MinimumTree(count)
      const values = Array.from({ length: count }, () => Infinity)
      expect(tree.least).toBe(Infinity)
      for (let change = 0; change < 400; change += 1) {
        const [index, pick] = [next(count), next(12)]
        const value = pick === 0 ? Infinity : pick === 1 ? -Infinity : pick - 6
        tree.set(index, value)
        values[index] = value
        expect(tree.least).toBe(Math.min(...values))
        if (tree.least !== Infinity) expect(tree.leastIndex).toBe(values.indexOf(tree.least))
      }
    }
  })
})
