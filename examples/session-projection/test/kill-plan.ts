import { randomInt } from 'node:crypto'
import { expect } from 'vitest'
import type { KillLoopReport } from './kill-loop.ts'

/** How many kills, by the size of the run. */
export function killsOf(size: { readonly ci: number; readonly full: number }): number {
  return process.env['TIDEMARK_SIZE'] === 'full' ? size.full : size.ci
}

/** A fresh seed, or the one to repeat. */
export function seedOfRun(): number {
  const given = process.env['TIDEMARK_SEED']
  return given === undefined || given === '' ? randomInt(2 ** 31) : Number(given)
}

/** Prints what was measured and demands what the contract demands. */
export function expectNothingLost(
  title: string,
  kills: number,
  seed: number,
  batch: number,
  report: KillLoopReport,
): void {
  const { committed, killsWhileApplying, replayedTotal, replayedMax, comparison } = report
  process.stdout.write(
    `${title}: ${kills} kills (${killsWhileApplying} while applying), ${committed} dispatches, ` +
      `${comparison.sessions} sessions, ${replayedTotal} replayed, at most ${replayedMax} of one partition; ` +
      `repeat with TIDEMARK_SEED=${seed}\n`,
  )
  expect(report.faults).toEqual([])
  expect(report.lastExit).toEqual({ code: 0, signal: null })
  expect(comparison.lost).toEqual([])
  expect(comparison.unexplained).toEqual([])
  expect(comparison.sessions).toBeGreaterThan(0)
  expect(report.quarantined).toBe(report.undecodable)
  expect(report.replayedMax).toBeLessThanOrEqual(batch)
  // Three of four wait for a confirmed step; a loop that only ever hit starting processes would prove little.
  expect(killsWhileApplying).toBeGreaterThanOrEqual(Math.floor(kills / 2))
}
