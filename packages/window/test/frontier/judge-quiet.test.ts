import { describe, expect, it } from 'vitest'
import { judgeQuiet } from '@tidemark/window'
import type { QuietProbe } from '@tidemark/window'

const quiet: QuietProbe = {
  nowMs: 14,
  quietSinceMs: 4,
  quietMs: 10,
  position: 7,
  lastStableOffset: 7,
  highWatermark: 7,
  paused: false,
}

describe('the proof of idleness', () => {
  it('[WW-46] [WIN-29] last record at 4, quiet for 10: idle at the first probe at 14 or after', () => {
    const idleAt = (everyMs: number): number => {
      for (let nowMs = 0; ; nowMs += everyMs) if (judgeQuiet({ ...quiet, nowMs }).kind === 'idle') return nowMs
    }
    expect(idleAt(5)).toBe(15)
    expect(idleAt(7)).toBe(14)
    expect(idleAt(1)).toBe(14)
    expect(judgeQuiet({ ...quiet, nowMs: 13 })).toEqual({ kind: 'not-idle', reason: 'NOT_QUIET_YET' })
    expect(judgeQuiet(quiet)).toEqual({ kind: 'idle', atOffset: 7 })
  })

  it('[WIN-29] however long it was quiet, a record that waits, an open transaction or a pause is no idleness', () => {
    const late = { ...quiet, nowMs: 1_000_000 }
    expect(judgeQuiet({ ...late, paused: true })).toEqual({ kind: 'not-idle', reason: 'PAUSED' })
    expect(judgeQuiet({ ...late, position: 6 })).toEqual({ kind: 'not-idle', reason: 'RECORDS_WAIT' })
    expect(judgeQuiet({ ...late, highWatermark: 8 })).toEqual({ kind: 'not-idle', reason: 'TRANSACTION_OPEN' })
    expect(judgeQuiet({ ...late, highWatermark: 6 })).toEqual({ kind: 'not-idle', reason: 'TRANSACTION_OPEN' })
    expect(judgeQuiet({ ...late, position: 8 })).toEqual({ kind: 'not-idle', reason: 'BOUNDS_BEHIND' })
    expect(judgeQuiet(late)).toEqual({ kind: 'idle', atOffset: 7 })
  })

  it('[WIN-29] a clock that went back or shows nothing proves nothing', () => {
    for (const nowMs of [3, -1_000_000, NaN]) {
      expect(judgeQuiet({ ...quiet, nowMs })).toEqual({ kind: 'not-idle', reason: 'NOT_QUIET_YET' })
    }
  })
})
