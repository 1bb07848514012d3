import type { LogName, LogSide } from './log-side.ts'
import { officialLog } from './official-log.ts'
import { pgliteStore } from './pglite-store.ts'
import { pinnedLog } from './pinned-log.ts'
import { postgresStore } from './postgres-store.ts'
import { redisStore } from './redis-store.ts'
import type { StoreName, StoreSide } from './store-side.ts'

/** A client and a store that a gate runs on. */
export interface Variant {
  /** `official + redis atomic`, for titles. */
  readonly name: string
  readonly log: LogSide
  readonly store: StoreSide
}

/** The gates that run on more than one variant; `faults` are broken connections to the brokers. */
export type VariedGate =
  'A1' | 'A2' | 'A3' | 'A4' | 'A5' | 'A6' | 'A7' | 'A8' | 'A9' | 'A10' | 'A11' | 'A12' | 'CK-46' | 'faults'

type Pair = readonly [LogName, StoreName]

const logs: readonly LogSide[] = [officialLog, pinnedLog]
const stores: readonly StoreSide[] = [redisStore('atomic'), redisStore('two-step'), postgresStore, pgliteStore]

const logNames: readonly LogName[] = ['official', 'pinned']
const redisForms: readonly StoreName[] = ['redis atomic', 'redis two-step']
const everyStore: readonly StoreName[] = [...redisForms, 'postgres', 'pglite']

/** The pair that every gate of every size runs on. */
const first: Pair = ['official', 'redis atomic']
const forms: readonly Pair[] = [first, ['official', 'redis two-step']]
const others: Pair = ['pinned', 'postgres']

/**
 * Which pairs a gate runs on at CI size, and on which stores it makes sense at all: at full size it runs on every client
 * with each of them. Every gate sees the pinned client and Postgres at CI size too, where it applies to them.
 */
const table: Readonly<Record<VariedGate, { readonly ci: readonly Pair[]; readonly stores: readonly StoreName[] }>> = {
  A1: { ci: [...forms, others, ['pinned', 'pglite']], stores: everyStore },
  A2: { ci: [first, others], stores: everyStore },
  A3: { ci: [first, others, ['official', 'pglite']], stores: everyStore },
  A4: { ci: [first, others], stores: everyStore },
  A5: { ci: [...forms, others], stores: everyStore },
  A6: { ci: [first, others], stores: everyStore },
  A7: { ci: [...forms, others], stores: everyStore },
  // An embedded store has one holder, so a second writer is refused before it can be fenced.
  A8: { ci: [first, ['pinned', 'redis two-step'], others], stores: [...redisForms, 'postgres'] },
  // A server that can come back empty.
  A9: { ci: [first, ['pinned', 'redis two-step']], stores: redisForms },
  A10: { ci: [first, others], stores: everyStore },
  A11: { ci: [first, others], stores: everyStore },
  A12: { ci: [first, others], stores: ['redis atomic', 'postgres'] },
  faults: { ci: [first, others], stores: ['redis atomic', 'postgres'] },
  'CK-46': {
    ci: [
      ['official', 'postgres'],
      ['pinned', 'pglite'],
    ],
    stores: ['postgres', 'pglite'],
  },
}

/** Whether this run has the full size. */
export const fullSize: boolean = process.env['TIDEMARK_SIZE'] === 'full'

/** The variants a gate runs on in this run's size. */
export function variantsOf(gate: VariedGate): readonly Variant[] {
  const { ci, stores: applicable } = table[gate]
  const all = logNames.flatMap((log) => applicable.map((store): Pair => [log, store]))
  return (fullSize ? all : ci).map(variantOf)
}

function variantOf([logName, storeName]: Pair): Variant {
  const log = logs.find(({ name }) => name === logName)
  const store = stores.find(({ name }) => name === storeName)
  if (log === undefined || store === undefined) throw new Error(`no variant ${logName} + ${storeName}`)
  return { name: `${logName} + ${storeName}`, log, store }
}

/**
 * The rows of a table that a variant runs: all on the first pair and at full size; else so many, chosen by the run's seed.
 *
 * A row that differs only in what the planner reads is the same on every store once its bytes are there.
 */
export function rowsOn<Row>(variant: Variant, rows: readonly Row[], count: number = 1): readonly Row[] {
  if (fullSize || variant.name === variantOf(first).name) return rows
  const from = Math.abs(Number(process.env['TIDEMARK_SEED'] ?? 0)) % rows.length
  return [...rows, ...rows].slice(from, from + count)
}

/** Ends what the worlds of a file shared. */
export async function closeSharedStores(): Promise<void> {
  for (const store of stores) await store.closeShared?.()
}
