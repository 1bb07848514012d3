import { expect } from 'vitest'
import { createFrontierTracker } from '@tidemark/window'
import type {
  FrontierOptions,
  FrontierStart,
  FrontierState,
  FrontierTracker,
  InputPartition,
  StoredFrontier,
} from '@tidemark/window'

type AllIdle = FrontierOptions['allIdle']
type ResumeBehind = FrontierOptions['resumeBehind']

/** Under which policies a table holds; where a choice is not said, under every one. */
export interface Setting {
  readonly partitions: number
  readonly boundMs?: number
  readonly allIdle?: AllIdle
  readonly resumeBehind?: ResumeBehind
}

/**
 * One row of a table: `p1=60` is a record of partition 1 at 60, `p1 idle`, `p1 active`, `p1 finished` are accepted marks;
 * then the frontier after it, and with `behind` whether the partition is behind after its resumption.
 */
export type Row = readonly [step: string, frontier: StoredFrontier, behind?: 'behind' | 'level']

/** Partitions of one source in generation 4. */
export function partitionsOf(count: number, source: string = 'orders'): InputPartition[] {
  return Array.from({ length: count }, (_, partition) => ({ source, partition, generation: 4 }))
}

export function trackerOf(
  count: number,
  boundMs: number,
  allIdle: AllIdle,
  resumeBehind: ResumeBehind,
  start: FrontierStart = { kind: 'replay' },
): FrontierTracker {
  return createFrontierTracker({ partitions: partitionsOf(count), boundMs, allIdle, resumeBehind, start })
}

/** Does what a row says; whether the tracker says that its frontier moved. */
export function take(tracker: FrontierTracker, step: string): boolean {
  const [, index, time, mark] = /^p(\d+)(?:=(-?\d+)| (idle|active|finished))$/.exec(step) ?? []
  if (index === undefined) throw new TypeError(`no step: ${step}`)
  if (time !== undefined) return tracker.observe(Number(index), Number(time))
  if (mark === 'idle') return tracker.markIdle(Number(index))
  return mark === 'active' ? tracker.markActive(Number(index)) : tracker.markFinished(Number(index))
}

/** Stored as a cut stores it, and read again. */
export function stored(tracker: FrontierTracker): FrontierState {
  return JSON.parse(JSON.stringify(tracker.state())) as FrontierState
}

/** Runs a table under every policy it holds for, once straight through and once restored before every row. */
export function proveFrontier(setting: Setting, rows: readonly Row[]): void {
  const { partitions, boundMs = 0 } = setting
  for (const allIdle of setting.allIdle === undefined ? (['HOLD', 'FLUSH_MAX'] as const) : [setting.allIdle]) {
    for (const resumeBehind of setting.resumeBehind === undefined
      ? (['HOLD', 'EXCLUDE'] as const)
      : [setting.resumeBehind]) {
      const tracker = trackerOf(partitions, boundMs, allIdle, resumeBehind)
      let restored = trackerOf(partitions, boundMs, allIdle, resumeBehind)
      for (const [at, [step, frontier, behind]] of rows.entries()) {
        const where = `row ${at}, ${step}, ${allIdle}, ${resumeBehind}`
        const before = tracker.frontier
        const moved = take(tracker, step)
        expect(tracker.state().frontier, where).toBe(frontier)
        expect(moved, where).toBe(tracker.frontier !== before)
        if (behind !== undefined)
          expect(tracker.resumedBehind(Number(/\d+/.exec(step)![0])), where).toBe(behind === 'behind')
        const start = { kind: 'restore', state: stored(restored) } as const
        restored = trackerOf(partitions, boundMs, allIdle, resumeBehind, start)
        take(restored, step)
        expect(restored.state(), `${where}, restored before it`).toEqual(tracker.state())
      }
    }
  }
}

/** Every order of a list. */
export function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [item, ...rest]))
}
