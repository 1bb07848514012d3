import type { ProjectionStatus } from '@tidemark/checkpoint'
import { describe, expect, it } from 'vitest'
import { catchUpProgress, progressLine } from '../src/service/progress-lines.ts'

function statusOf(...partitions: readonly (readonly [from: number, next: number, to: number])[]): ProjectionStatus {
  return {
    partitions: partitions.map(([from, next, target], partition) => ({
      partition,
      next: String(next),
      target: String(target),
      replayAtStart: Math.max(0, target - from),
      caughtUp: next >= target,
    })),
  } as unknown as ProjectionStatus
}

describe('the progress of a catch-up', () => {
  it('counts from the start positions, and nothing beyond the target', () => {
    const progress = catchUpProgress(statusOf([10, 15, 20], [0, 130, 100], [7, 7, 7]))
    expect(progress).toEqual({ done: 105n, total: 110n, partitionsCaughtUp: 2, partitions: 3 })
    expect(progressLine(progress)).toBe('catching up: 95 % (105 of 110 offsets), 2 of 3 partitions there')
  })

  it('says 100 % only when nothing is left', () => {
    const almost = catchUpProgress(statusOf([0, 99_999, 100_000]))
    expect(progressLine(almost)).toMatch(/^catching up: 99 %/)
    expect(progressLine(catchUpProgress(statusOf([0, 0, 0])))).toMatch(/^catching up: 100 % \(0 of 0/)
  })
})
