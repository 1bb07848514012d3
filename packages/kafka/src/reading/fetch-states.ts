import type { PartitionPosition } from '@tidemark/log'

/** Whether and where a partition is being fetched, as the client's statistics tell. */
export interface FetchStateReport {
  readonly partition: number
  readonly fetching: boolean
  /** True when the client's metadata no longer holds the partition. */
  readonly unknown: boolean
  /** The next offset that is asked for; negative before the first answer. */
  readonly nextOffset: number
}

interface StatisticsPartition {
  readonly partition?: number
  readonly fetch_state?: string
  readonly unknown?: boolean
  readonly next_offset?: number
}

/** The fetch state of every partition of a topic in a statistics text; nothing when the text tells nothing. */
export function readFetchStates(text: string, topic: string): readonly FetchStateReport[] {
  let statistics: { readonly topics?: Readonly<Record<string, { readonly partitions?: object }>> }
  try {
    statistics = JSON.parse(text)
  } catch {
    return []
  }
  const topics = statistics.topics ?? {}
  const partitions = Object.hasOwn(topics, topic) ? (topics[topic]?.partitions ?? {}) : {}
  return Object.values(partitions as Record<string, StatisticsPartition>).flatMap((entry) =>
    typeof entry.partition !== 'number' || entry.partition < 0
      ? []
      : [
          {
            partition: entry.partition,
            fetching: entry.fetch_state !== 'none' && entry.fetch_state !== 'stopped',
            unknown: entry.unknown === true,
            nextOffset: entry.next_offset ?? -1,
          },
        ],
  )
}

/** Remembers reports, to name a partition that has silently stopped. */
export interface StoppedFetchWatch {
  /** Takes a report; answers with a partition that two reports in a row found not fetching, or `undefined`. */
  report(states: readonly FetchStateReport[]): { readonly partition: number; readonly unknown: boolean } | undefined
}

/**
 * Watches for a partition that the client no longer fetches although it is assigned.
 *
 * The client reports a lost position once, in an error that its binding drops when the same pull already holds records;
 * after that the partition is silent while others flow. One report may fall between assignment and the first fetch, so
 * two in a row decide. Promises: KAF-6.
 */
export function newStoppedFetchWatch(assigned: ReadonlySet<number>): StoppedFetchWatch {
  let suspects = new Set<number>()
  return {
    report(states) {
      const now = new Map<number, boolean>()
      for (const { partition, fetching, unknown } of states) {
        if (assigned.has(partition) && (!fetching || unknown)) now.set(partition, unknown)
      }
      for (const [partition, unknown] of now) if (suspects.has(partition)) return { partition, unknown }
      suspects = new Set(now.keys())
      return undefined
    },
  }
}

/** Remembers where fetching stood, to tell whether it gets on. */
export interface FetchProgress {
  /** Takes a report; whether any assigned partition is fetched further on than it ever was. */
  moved(states: readonly Pick<FetchStateReport, 'partition' | 'nextOffset'>[]): boolean
}

/** Fetching gets on over aborted transactions too, of which nothing is handed over. */
export function newFetchProgress(positions: readonly PartitionPosition[]): FetchProgress {
  const furthest = new Map(positions.map(({ partition, nextOffset }) => [partition, Number(nextOffset)]))
  return {
    moved(states) {
      let moved = false
      for (const { partition, nextOffset } of states) {
        if (nextOffset <= (furthest.get(partition) ?? Infinity)) continue
        furthest.set(partition, nextOffset)
        moved = true
      }
      return moved
    },
  }
}
