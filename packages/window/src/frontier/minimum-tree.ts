/**
 * The least of a fixed number of values of which one changes at a time.
 *
 * Shape: a complete binary tree in one array, each inner place the lesser of its two children; absent values are infinite.
 * Cost: a change climbs only as far as a minimum changes, at most log2 of the number; nothing is allocated.
 */
export class MinimumTree {
  readonly #leaves: number
  readonly #tree: Float64Array

  constructor(count: number) {
    let leaves = 1
    while (leaves < count) leaves *= 2
    this.#leaves = leaves
    this.#tree = new Float64Array(2 * leaves).fill(Infinity)
  }

  get least(): number {
    return this.#tree[1]!
  }

  /** The first index that holds the least value; any when all are infinite. */
  get leastIndex(): number {
    let at = 1
    while (at < this.#leaves) at = this.#tree[2 * at]! === this.#tree[1]! ? 2 * at : 2 * at + 1
    return at - this.#leaves
  }

  set(index: number, value: number): void {
    const tree = this.#tree
    let at = this.#leaves + index
    tree[at] = value
    while (at > 1) {
      const own = tree[at]!
      const sibling = tree[at ^ 1]!
      const lesser = own < sibling ? own : sibling
      at >>= 1
      if (tree[at] === lesser) return
      tree[at] = lesser
    }
  }
}
