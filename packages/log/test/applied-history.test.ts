import { offsetOf } from '@tidemark/core'
import { answerReadBack, appliedStretches, indexReadBacks, judgeApplied, witnessOf } from '@tidemark/log'
import type { LogRecord, PartitionBounds, ReadBack } from '@tidemark/log'
import { describe, expect, it } from 'vitest'

function record(offset: number, text: string = 'v'): LogRecord {
  const value = new TextEncoder().encode(text)
  return { partition: 0, offset: offsetOf(offset), leaderEpoch: 0, timestampMs: 7, key: null, value, headers: [] }
}

const bounds = (low: number, lastStable: number, high: number): PartitionBounds => ({
  partition: 0,
  low: offsetOf(low),
  lastStableOffset: offsetOf(lastStable),
  highWatermark: offsetOf(high),
})

const single = (offset: number) => ({ partition: 0, offset: offsetOf(offset) })
const stretch = (offset: number, before: number) => ({ ...single(offset), before: offsetOf(before) })
const witness = witnessOf(record(12))
const same: ReadBack = { kind: 'record', ...single(12), witness: witnessOf(record(12)) }

function verdict(position: number, log: PartitionBounds, ...readBacks: readonly ReadBack[]): string {
  return judgeApplied(witness, log, offsetOf(position), false, indexReadBacks(readBacks)).kind
}

describe('the history read up to a position', () => {
  it('[LOG-13] is the last record, and what was passed between it and the position, as far as it is retained', () => {
    expect(appliedStretches(witness, bounds(0, 20, 20), offsetOf(13))).toEqual([single(12)])
    expect(appliedStretches(witness, bounds(0, 20, 20), offsetOf(16))).toEqual([single(12), stretch(13, 16)])
    expect(appliedStretches(witness, bounds(14, 20, 20), offsetOf(16))).toEqual([stretch(14, 16)])
    expect(appliedStretches(witness, bounds(16, 20, 20), offsetOf(16))).toEqual([])
    expect(appliedStretches(witness, bounds(0, 12, 12), offsetOf(16))).toEqual([])
    expect(appliedStretches(witness, bounds(0, 15, 15), offsetOf(16))).toEqual([single(12)])
  })

  it('[LOG-13] goes on where the gap still is one', () => {
    expect(verdict(13, bounds(0, 20, 20), same)).toBe('confirmed')
    expect(verdict(16, bounds(0, 20, 20), same, { kind: 'absent', ...stretch(13, 16) })).toBe('confirmed')
    expect(verdict(16, bounds(14, 20, 20), { kind: 'absent', ...stretch(14, 16) })).toBe('not-retained')
  })

  it('[LOG-13] is another one where a record stands in the gap, whatever the record before says', () => {
    const found: ReadBack = { kind: 'record', ...stretch(13, 16), witness: witnessOf(record(14)) }
    expect(verdict(16, bounds(0, 20, 20), same, found)).toBe('diverged')
    expect(verdict(16, bounds(13, 20, 20), found)).toBe('diverged')
  })

  it('[LOG-13] is unproven without an answer to just this question', () => {
    const log = bounds(0, 20, 20)
    expect(verdict(16, log, same)).toBe('unproven')
    expect(verdict(16, log, same, { kind: 'absent', ...stretch(13, 15) })).toBe('unproven')
    expect(verdict(16, log, same, { kind: 'unreadable', ...stretch(13, 16), message: 'timed out' })).toBe('unproven')
    expect(verdict(16, log, { kind: 'absent', ...stretch(13, 16) })).toBe('unproven')
  })
})

describe('the answer of a read-back', () => {
  const end = offsetOf

  it('[LOG-14] is the first committed record of the stretch, or that a later one comes first', () => {
    expect(answerReadBack(single(5), record(5), undefined)?.kind).toBe('record')
    expect(answerReadBack(single(5), record(6), undefined)?.kind).toBe('absent')
    expect(answerReadBack(stretch(5, 8), record(7), undefined)?.kind).toBe('record')
    expect(answerReadBack(stretch(5, 8), record(8), undefined)?.kind).toBe('absent')
  })

  it('[LOG-14] is given only once a record or the end has shown it', () => {
    expect(answerReadBack(single(5), undefined, undefined)).toBeUndefined()
    expect(answerReadBack(single(5), undefined, end(6))?.kind).toBe('absent')
    expect(answerReadBack(stretch(5, 8), undefined, end(8))?.kind).toBe('absent')
  })

  it('[LOG-14] is no answer where the committed end lies before it: a marker may still be on its way there', () => {
    expect(answerReadBack(single(5), undefined, end(5))?.kind).toBe('unreadable')
    expect(answerReadBack(stretch(5, 8), undefined, end(7))?.kind).toBe('unreadable')
    // So a leader that was just elected, whose stable end lags, is not taken for another history.
    const behind: ReadBack = answerReadBack(single(12), undefined, end(12))!
    expect(verdict(13, bounds(0, 12, 20), behind)).toBe('unproven')
  })
})
