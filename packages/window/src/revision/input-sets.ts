import { invariant } from '@tidemark/core'
import type { InputPartition } from '../envelope/input-partition.ts'
import { createRecordMixer, SET_HASH_LANES, setHashText } from './record-mixer.ts'
import type { RecordMixer } from './record-mixer.ts'

/** The records of one partition that went into a window: between which offsets, and how many. */
export interface OffsetHull extends InputPartition {
  /** The lowest and the highest offset, both inside. What lies between need not all be in the set. */
  readonly fromOffset: number
  readonly toOffset: number
  readonly count: number
}

/**
 * Which records a value was made of.
 *
 * Hulls say where to look, the set hash says which set it is: hulls alone are not the input set, since late records leave gaps.
 */
export interface InputSet {
  /** In the order of the engine's partitions. */
  readonly hulls: readonly OffsetHull[]
  readonly count: number
  /** 32 hexadecimal digits: the sum over the records, whatever their order. */
  readonly setHash: string
}

/**
 * The input sets of all open windows, one a slot.
 *
 * In columns, since millions of small objects would cost several times the memory; the first partition of a slot is in the slot,
 * further ones are chained. Promises: WIN-61, WIN-62.
 */
export interface InputSets {
  /** A new, empty set; its slot may have been another's that was freed. */
  open(): number
  /** Cost: some 40 integer operations for the partition that the slot saw first, a step more for each other one. */
  add(slot: number, partitionIndex: number, offset: number): void
  /** Puts everything of a set into another; the first is empty after. */
  merge(into: number, from: number): void
  read(slot: number): InputSet
  count(slot: number): number
  free(slot: number): void
  /** How many sets are open. */
  readonly size: number
}

/** The sets of a topology. */
export function createInputSets(partitions: readonly InputPartition[]): InputSets {
  return new Columns(partitions)
}

const none = -1
const first = 256

class Columns implements InputSets {
  readonly #partitions: readonly InputPartition[]
  readonly #mixers: readonly RecordMixer[]
  /** Sets and chained hulls share the rows: a hull is a row, and the row of a set holds its first one. */
  #partition: Int32Array = new Int32Array(first)
  #from: Float64Array = new Float64Array(first)
  #to: Float64Array = new Float64Array(first)
  #count: Float64Array = new Float64Array(first)
  #next: Int32Array = new Int32Array(first)
  #lanes: Int32Array = new Int32Array(first * SET_HASH_LANES)
  #rows = 0
  #freed: number = none
  #open = 0

  constructor(partitions: readonly InputPartition[]) {
    this.#partitions = partitions
    this.#mixers = partitions.map(createRecordMixer)
  }

  get size(): number {
    return this.#open
  }

  open(): number {
    this.#open += 1
    const row = this.#newRow(none)
    this.#lanes.fill(0, row * SET_HASH_LANES, (row + 1) * SET_HASH_LANES)
    return row
  }

  add(slot: number, partitionIndex: number, offset: number): void {
    this.#widen(slot, partitionIndex, offset, offset, 1)
    this.#mixers[partitionIndex]!.addTo(this.#lanes, slot * SET_HASH_LANES, offset)
  }

  merge(into: number, from: number): void {
    invariant(into !== from, 'WIN-62', `set ${into} is merged into itself`)
    for (let row = from; row !== none; row = this.#next[row]!) {
      const partition = this.#partition[row]!
      if (partition !== none) this.#widen(into, partition, this.#from[row]!, this.#to[row]!, this.#count[row]!)
    }
    const [to, source] = [into * SET_HASH_LANES, from * SET_HASH_LANES]
    for (let lane = 0; lane < SET_HASH_LANES; lane += 1) {
      this.#lanes[to + lane] = (this.#lanes[to + lane]! + this.#lanes[source + lane]!) | 0
      this.#lanes[source + lane] = 0
    }
    this.#freeChain(this.#next[from]!)
    this.#partition[from] = none
    this.#next[from] = none
    this.#count[from] = 0
  }

  read(slot: number): InputSet {
    const rows: number[] = []
    for (let row = slot; row !== none; row = this.#next[row]!) if (this.#partition[row] !== none) rows.push(row)
    rows.sort((a, b) => this.#partition[a]! - this.#partition[b]!)
    return {
      hulls: rows.map((row) => ({
        ...this.#partitions[this.#partition[row]!]!,
        fromOffset: this.#from[row]!,
        toOffset: this.#to[row]!,
        count: this.#count[row]!,
      })),
      count: this.count(slot),
      setHash: setHashText(this.#lanes, slot * SET_HASH_LANES),
    }
  }

  count(slot: number): number {
    let count = 0
    for (let row = slot; row !== none; row = this.#next[row]!) count += this.#count[row]!
    return count
  }

  free(slot: number): void {
    this.#open -= 1
    this.#freeChain(slot)
  }

  #widen(slot: number, partition: number, from: number, to: number, count: number): void {
    const row = this.#partition[slot] === partition ? slot : this.#rowOf(slot, partition)
    if (this.#count[row] === 0 || from < this.#from[row]!) this.#from[row] = from
    if (this.#count[row] === 0 || to > this.#to[row]!) this.#to[row] = to
    this.#count[row]! += count
  }

  /** The row of a partition in a set, made where there is none. */
  #rowOf(slot: number, partition: number): number {
    if (this.#partition[slot] === none) {
      this.#partition[slot] = partition
      return slot
    }
    let last = slot
    for (let row = this.#next[slot]!; row !== none; row = this.#next[row]!) {
      if (this.#partition[row] === partition) return row
      last = row
    }
    const row = this.#newRow(partition)
    this.#next[last] = row
    return row
  }

  #newRow(partition: number): number {
    const row = this.#freed === none ? this.#appendRow() : this.#freed
    if (row === this.#freed) this.#freed = this.#next[row]!
    this.#partition[row] = partition
    this.#next[row] = none
    this.#count[row] = 0
    return row
  }

  #appendRow(): number {
    const row = this.#rows
    this.#rows += 1
    if (row < this.#partition.length) return row
    const rows = row * 2
    this.#partition = grown(this.#partition, new Int32Array(rows))
    this.#from = grown(this.#from, new Float64Array(rows))
    this.#to = grown(this.#to, new Float64Array(rows))
    this.#count = grown(this.#count, new Float64Array(rows))
    this.#next = grown(this.#next, new Int32Array(rows))
    this.#lanes = grown(this.#lanes, new Int32Array(rows * SET_HASH_LANES))
    return row
  }

  #freeChain(head: number): void {
    if (head === none) return
    let last = head
    while (this.#next[last] !== none) last = this.#next[last]!
    this.#next[last] = this.#freed
    this.#freed = head
  }
}

function grown<A extends Int32Array | Float64Array>(from: A, into: A): A {
  into.set(from as never)
  return into
}
