import { describe, expect, it } from 'vitest'
import { frontierReport } from '@tidemark/window'
import type { FrontierReport } from '@tidemark/window'
import { partitionsOf, take, trackerOf } from './prove-frontier.ts'

function reportOf(steps: readonly string[], resumeBehind: 'HOLD' | 'EXCLUDE' = 'HOLD'): FrontierReport {
  const tracker = trackerOf(3, 2, 'HOLD', resumeBehind)
  for (const step of steps) take(tracker, step)
  const next = [0, 7, 21]
  return frontierReport(tracker, { nextOffset: (index) => next[index]! })
}

describe('who holds the frontier', () => {
  it('[WIN-32] names the partition, its claim, its age in event time and its last offset', () => {
    const report = reportOf(['p0=100', 'p1=40', 'p2=70'])
    expect(report).toEqual({
      frontier: 38,
      heldBy: { kind: 'partition', index: 1, partition: report.partitions[1] },
      partitions: [
        { ...partitionsOf(3)[0], status: 'ACTIVE', resumedBehind: false, claimMs: 98, ageMs: 0, lastOffset: null },
        { ...partitionsOf(3)[1], status: 'ACTIVE', resumedBehind: false, claimMs: 38, ageMs: 60, lastOffset: 6 },
        { ...partitionsOf(3)[2], status: 'ACTIVE', resumedBehind: false, claimMs: 68, ageMs: 30, lastOffset: 20 },
      ],
    })
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
  })

  it('[WIN-32] a partition without a record holds it before any other, and has no age', () => {
    const report = reportOf(['p0=100', 'p2=70'])
    expect(report.frontier).toBe('MIN')
    expect(report.heldBy).toMatchObject({ index: 1, partition: { claimMs: null, ageMs: null } })
    expect(reportOf([]).heldBy).toMatchObject({ index: 0, partition: { claimMs: null, ageMs: null } })
  })

  it('[WIN-32] of several with one claim the first is named', () => {
    expect(reportOf(['p0=50', 'p1=40', 'p2=40']).heldBy).toMatchObject({ index: 1 })
  })

  it('[WIN-32] one that resumed behind holds it where it is waited for, and not where it is left out', () => {
    const steps = ['p0=50', 'p1=40', 'p2=60', 'p1 idle', 'p1=45']
    expect(reportOf(steps, 'HOLD').heldBy).toMatchObject({ index: 1, partition: { resumedBehind: true } })
    expect(reportOf(steps, 'EXCLUDE').heldBy).toMatchObject({ index: 0 })
  })

  it('[WIN-32] says why nobody holds it', () => {
    const idle = ['p0=50', 'p1=40', 'p2=60', 'p1 idle', 'p2 finished', 'p0 idle']
    expect(reportOf(idle).heldBy).toEqual({ kind: 'all-idle' })
    expect(reportOf([...idle, 'p1 active'], 'EXCLUDE').heldBy).toEqual({ kind: 'all-behind' })
    const ended = reportOf(['p0 finished', 'p1 finished', 'p2 finished'])
    expect([ended.frontier, ended.heldBy]).toEqual(['MAX', { kind: 'all-finished' }])
  })
})
