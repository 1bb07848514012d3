import type { ExactValue } from './exact/exact-value.ts'

/** Which end of a multiset is asked for. */
export type Extreme = 'min' | 'max'

/**
 * Values with how often each is held, and a heap of them with the asked extreme on top.
 *
 * The heap may hold values that are gone, and one value twice; they are passed over when they come to the top, and swept when
 * they are more than half of it.
 */
export interface ValueMultiset {
  readonly counts: Map<ExactValue, number>
  heap: ExactValue[]
}

/** Holds a value once more. Order: logarithmic for a new value, constant for one that is held. */
export function addValue(set: ValueMultiset, value: ExactValue, times: number, extreme: Extreme): void {
  const held = set.counts.get(value)
  set.counts.set(value, (held ?? 0) + times)
  if (held === undefined) push(set.heap, value, extreme)
}

/** Holds a value once less; false, and nothing changed, where it is not held. */
export function removeValue(set: ValueMultiset, value: ExactValue, extreme: Extreme): boolean {
  const held = set.counts.get(value)
  if (held === undefined) return false
  if (held > 1) set.counts.set(value, held - 1)
  else set.counts.delete(value)
  if (set.heap.length > 2 * set.counts.size + 16) set.heap = heapOf(set.counts, extreme)
  return true
}

/** The smallest or largest value that is held. Order: constant, but for values that are gone. */
export function extremeOf(set: ValueMultiset, extreme: Extreme): ExactValue | undefined {
  const { heap, counts } = set
  while (heap.length > 0 && !counts.has(heap[0]!)) pop(heap, extreme)
  return heap[0]
}

/** A heap of the values that are held, each once. */
export function heapOf(counts: ReadonlyMap<ExactValue, number>, extreme: Extreme): ExactValue[] {
  // A sorted list is a heap.
  return [...counts.keys()].toSorted((a, b) => (comesFirst(a, b, extreme) ? -1 : 1))
}

function comesFirst(a: ExactValue, b: ExactValue, extreme: Extreme): boolean {
  return extreme === 'min' ? a < b : b < a
}

function push(heap: ExactValue[], value: ExactValue, extreme: Extreme): void {
  let at = heap.length
  heap.push(value)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!comesFirst(value, heap[parent]!, extreme)) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = value
}

function pop(heap: ExactValue[], extreme: Extreme): void {
  const last = heap.pop()!
  if (heap.length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && comesFirst(heap[child + 1]!, heap[child]!, extreme)) child += 1
    if (!comesFirst(heap[child]!, last, extreme)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
}
