/** A list of which only the first items are shown; `total` counts all of it. */
export interface BoundedList<T> {
  readonly total: number
  readonly items: readonly T[]
}

/** The first items of a list. */
export function boundedList<T>(items: readonly T[], limit: number): BoundedList<T> {
  return { total: items.length, items: items.slice(0, limit) }
}

/** The first items of a list, as what is shown of each; only those are made. */
export function boundedMap<T, U>(items: readonly T[], limit: number, show: (item: T) => U): BoundedList<U> {
  return { total: items.length, items: items.slice(0, limit).map(show) }
}
