import { randomInt } from 'node:crypto'
import { appendFileSync } from 'node:fs'
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
export function expectNothingLost(title: string, seed: number, batch: number, report: KillLoopReport): void {
  const { kills, killsWhileApplying, comparison } = report
  tellMeasured(title, seed, report)
  expect(report.faults).toEqual([])
  expect(report.servedWrongly).toEqual([])
  expect(report.lastExit).toEqual({ code: 0, signal: null })
  expect(comparison.lost).toEqual([])
  expect(comparison.unexplained).toEqual([])
  expect(comparison.sessions).toBeGreaterThan(0)
  expect(report.quarantined).toBe(report.undecodable)
  expect(report.replayedMax).toBeLessThanOrEqual(batch)
  // Three of four wait for a confirmed step; a loop that only ever hit starting processes would prove little.
  expect(killsWhileApplying).toBeGreaterThanOrEqual(Math.floor(kills / 2))
}

/** Prints the figures, and hands them to the run's evidence where one is kept. */
function tellMeasured(title: string, seed: number, report: KillLoopReport): void {
  const { kills, killsWhileApplying, committed, comparison, replayedTotal, replayedMax, durability } = report
  const seconds = (ms: number): number => Math.round(ms / 100) / 10
  const lost = comparison.lost.length + report.lostAtKills
  process.stdout.write(
    `SIGKILL, ${title} (${durability}): ${kills} kills (${killsWhileApplying} while applying), ${committed} dispatches, ` +
      `${comparison.sessions} sessions, ${lost} lost, ${replayedTotal} replayed, at most ${replayedMax} of one partition; ` +
      `${seconds(report.tookMs)} s (alive ${seconds(report.livingMs)}, looked at ${seconds(report.lookingMs)}); ` +
      `repeat with TIDEMARK_SEED=${seed}\n`,
  )
  const file = process.env['TIDEMARK_MEASURES_FILE']
  if (file === undefined || file === '') return
  const figures = { kills, killsWhileApplying, dispatches: committed, lost, replayedTotal, replayedMax, durability }
  appendFileSync(
    file,
    `${JSON.stringify({ gate: 'A13', what: `SIGKILL, ${title}`, ...figures, seconds: seconds(report.tookMs) })}\n`,
  )
}
