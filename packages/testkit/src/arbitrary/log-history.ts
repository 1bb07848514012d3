import { createSeededChooser } from '../sim/seeded-chooser.ts'
import type { SimCluster } from '../sim/sim-cluster.ts'
import type { SimTransaction } from '../sim/sim-topic.ts'
import fc from 'fast-check'

/** One thing that happens to a log. Partitions and amounts are taken modulo what there is. */
export type LogEvent =
  | { readonly kind: 'append'; readonly partition: number; readonly count: number }
  | {
      readonly kind: 'transaction'
      readonly partitions: readonly number[]
      readonly count: number
      readonly outcome: 'commit' | 'abort' | 'open'
    }
  | { readonly kind: 'end-open'; readonly outcome: 'commit' | 'abort' }
  | { readonly kind: 'retention'; readonly partition: number; readonly portion: number }
  | { readonly kind: 'compaction'; readonly partition: number; readonly seed: number }
  | { readonly kind: 'truncation'; readonly partition: number; readonly lost: number }
  | { readonly kind: 'recreation' }
  | { readonly kind: 'growth' }

/** What may happen to a log besides appending. */
export interface LogHistoryOptions {
  readonly maxLength?: number
  /** Events that a projection must go on through: transactions, compaction behind it. */
  readonly harmless?: boolean
  /** Events that a projection must stop at: retention, truncation, recreation, growth. */
  readonly harmful?: boolean
}

const partition: fc.Arbitrary<number> = fc.nat(5)
const count: fc.Arbitrary<number> = fc.integer({ min: 1, max: 6 })

/** Histories of a log, mostly appends and transactions. */
export function logHistory(options: LogHistoryOptions = {}): fc.Arbitrary<readonly LogEvent[]> {
  const { maxLength = 30, harmless = true, harmful = false } = options
  const append = fc.record({ kind: fc.constant('append' as const), partition, count })
  const events: { weight: number; arbitrary: fc.Arbitrary<LogEvent> }[] = [{ weight: 8, arbitrary: append }]
  if (harmless) {
    events.push(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('transaction' as const),
          partitions: fc.uniqueArray(partition, { minLength: 1, maxLength: 3 }),
          count,
          outcome: fc.constantFrom('commit' as const, 'commit' as const, 'abort' as const, 'open' as const),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('end-open' as const),
          outcome: fc.constantFrom('commit' as const, 'abort' as const),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('compaction' as const), partition, seed: fc.nat() }) },
    )
  }
  if (harmful) {
    events.push(
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('retention' as const), partition, portion: fc.nat(4) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncation' as const), partition, lost: count }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'recreation' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'growth' as const }) },
    )
  }
  return fc.array(fc.oneof(...events), { maxLength })
}

/** Lets a history happen to a topic of a simulated cluster, event by event. */
export interface HistoryPlayer {
  /** Plays one event. Values count up, so that every record of a run is told apart. */
  play(event: LogEvent): void
  /** Ends every open transaction, so that a log can be read to its end. */
  settle(outcome: 'commit' | 'abort'): void
}

/** A player for one topic, which must exist. Promises: TST-10. */
export function createHistoryPlayer(cluster: SimCluster, name: string): HistoryPlayer {
  let written = 0
  let open: SimTransaction[] = []
  const values = (amount: number): readonly { readonly key: string; readonly value: string }[] =>
    Array.from({ length: amount }, () => ({ key: `k${written % 4}`, value: `v${(written += 1)}` }))
  const play = (event: LogEvent): void => {
    const topic = cluster.topic(name)
    const pick = (wanted: number): number => wanted % topic.partitionCount
    switch (event.kind) {
      case 'append':
        topic.append(pick(event.partition), ...values(event.count))
        return
      case 'transaction': {
        const transaction = topic.begin()
        for (const each of new Set(event.partitions.map(pick))) transaction.append(each, ...values(event.count))
        if (event.outcome === 'open') open.push(transaction)
        else transaction[event.outcome]()
        return
      }
      case 'end-open':
        open.shift()?.[event.outcome]()
        return
      case 'retention': {
        const { low, lastStableOffset } = topic.partition(pick(event.partition)).bounds()
        topic.deleteRecordsBefore(pick(event.partition), low + ((lastStableOffset - low) * BigInt(event.portion)) / 4n)
        return
      }
      case 'compaction': {
        const chooser = createSeededChooser(event.seed)
        const { lastStableOffset } = topic.partition(pick(event.partition)).bounds()
        // The newest record always stays, as in the active segment of a real log.
        topic.compact(pick(event.partition), ({ offset }) => offset + 1n >= lastStableOffset || chooser.chance(0.6))
        return
      }
      case 'truncation':
        truncate(cluster, name, pick(event.partition), event.lost)
        return
      case 'recreation':
        open = []
        cluster.recreateTopic(name)
        return
      case 'growth':
        topic.grow(topic.partitionCount + 1)
    }
  }
  return {
    play,
    settle(outcome) {
      for (const transaction of open) transaction[outcome]()
      open = []
    },
  }
}

function truncate(cluster: SimCluster, name: string, at: number, lost: number): void {
  const topic = cluster.topic(name)
  const { low, lastStableOffset } = topic.partition(at).bounds()
  const end = lastStableOffset - BigInt(lost)
  // Only ended transactions are cut: half of an open one would be a state no broker leaves behind.
  if (topic.partition(at).bounds().highWatermark === lastStableOffset) topic.truncate(at, end < low ? low : end)
}
