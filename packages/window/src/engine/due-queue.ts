/**
 * What is due when, the earliest first; of what is due at one instant, the one that was put in first.
 *
 * A binary heap in columns: a window is put in twice in its life and taken out twice, and nothing is allocated for either.
 */
export interface DueQueue {
  /** When the first is due; infinite for an empty queue. */
  readonly nextDueMs: number
  readonly size: number
  /** `what`: a number of the caller's, a slot for instance. Cost: log2 of the size. */
  put(dueMs: number, what: number): void
  /** Takes out the first; only while there is one. */
  take(): number
}

/** An empty queue. */
export function createDueQueue(): DueQueue {
  return new Heap()
}

const firstCapacity = 64

class Heap implements DueQueue {
  #due: Float64Array = new Float64Array(firstCapacity)
  /** Numbers the entries, so that one instant keeps the order of putting in. */
  #order: Float64Array = new Float64Array(firstCapacity)
  #what: Int32Array = new Int32Array(firstCapacity)
  #size = 0
  #puts = 0

  get nextDueMs(): number {
    return this.#size === 0 ? Infinity : this.#due[0]!
  }

  get size(): number {
    return this.#size
  }

  put(dueMs: number, what: number): void {
    if (this.#size === this.#due.length) this.#grow()
    const order = this.#puts
    this.#puts += 1
    let at = this.#size
    this.#size += 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      // A later put is never before an earlier one of the same instant.
      if (this.#due[parent]! <= dueMs) break
      this.#copy(parent, at)
      at = parent
    }
    this.#set(at, dueMs, order, what)
  }

  take(): number {
    const first = this.#what[0]!
    this.#size -= 1
    const last = this.#size
    const [dueMs, order, what] = [this.#due[last]!, this.#order[last]!, this.#what[last]!]
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= last) break
      if (child + 1 < last && this.#isBefore(child + 1, this.#due[child]!, this.#order[child]!)) child += 1
      if (!this.#isBefore(child, dueMs, order)) break
      this.#copy(child, at)
      at = child
    }
    if (last > 0) this.#set(at, dueMs, order, what)
    if (this.#size === 0) this.#puts = 0
    return first
  }

  #isBefore(at: number, dueMs: number, order: number): boolean {
    return this.#due[at]! < dueMs || (this.#due[at]! === dueMs && this.#order[at]! < order)
  }

  #copy(from: number, to: number): void {
    this.#set(to, this.#due[from]!, this.#order[from]!, this.#what[from]!)
  }

  #set(at: number, dueMs: number, order: number, what: number): void {
    this.#due[at] = dueMs
    this.#order[at] = order
    this.#what[at] = what
  }

  #grow(): void {
    const capacity = this.#due.length * 2
    const [due, order, what] = [new Float64Array(capacity), new Float64Array(capacity), new Int32Array(capacity)]
    due.set(this.#due)
    order.set(this.#order)
    what.set(this.#what)
    this.#due = due
    this.#order = order
    this.#what = what
  }
}
