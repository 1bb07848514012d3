import { describe, expect, it } from 'vitest'
import { judgeMark } from '@tidemark/window'
import type { Mark, MarkedPartition, MarkVerdict } from '@tidemark/window'

const held: MarkedPartition = { generation: 4, nextOffset: 17, status: 'ACTIVE' }

function mark(kind: string, change: Partial<Record<keyof Mark, unknown>> = {}): Mark {
  return { kind, partition: 2, generation: 4, atOffset: 17, ...change } as Mark
}

function verdictOf(verdict: MarkVerdict): string {
  return verdict.kind === 'rejected' ? verdict.reason : verdict.kind
}

describe('marks', () => {
  it('[WW-45] [WIN-28] a mark of the generation before a reassignment is refused and told; one that repeats does nothing', () => {
    const stale = mark('idle', { generation: 3 })
    expect(judgeMark(stale, held)).toEqual({
      kind: 'rejected',
      mark: stale,
      reason: 'STALE_GENERATION',
      message: 'idle mark of partition 2: generation 3 ended; 4 is read',
    })
    const again = mark('idle')
    expect(judgeMark(again, held)).toEqual({ kind: 'accepted', mark: again })
    expect(judgeMark(again, { ...held, status: 'IDLE' })).toEqual({ kind: 'duplicate', mark: again })
  })

  it('[WIN-28] every status against every mark', () => {
    const table = {
      ACTIVE: { idle: 'accepted', active: 'duplicate', finished: 'accepted' },
      IDLE: { idle: 'duplicate', active: 'accepted', finished: 'accepted' },
      FINISHED: { idle: 'AFTER_FINISHED', active: 'AFTER_FINISHED', finished: 'duplicate' },
    } as const
    for (const status of ['ACTIVE', 'IDLE', 'FINISHED'] as const) {
      for (const kind of ['idle', 'active', 'finished'] as const) {
        const verdict = judgeMark(mark(kind), { ...held, status })
        expect(verdictOf(verdict), `${kind} on ${status}`).toBe(table[status][kind])
      }
    }
  })

  it('[WIN-28] a mark speaks of the next offset, not of the one before and not of the one after', () => {
    expect(judgeMark(mark('idle', { atOffset: 16 }), held)).toMatchObject({
      reason: 'NOT_AT_NEXT_OFFSET',
      message: 'idle mark of partition 2: it speaks of offset 16, the next one is 17',
    })
    expect(verdictOf(judgeMark(mark('idle', { atOffset: 18 }), held))).toBe('NOT_AT_NEXT_OFFSET')
    expect(verdictOf(judgeMark(mark('idle', { atOffset: 17 }), held))).toBe('accepted')
    // Overtaken by a record, it does not count as a repetition either.
    expect(verdictOf(judgeMark(mark('idle', { atOffset: 16 }), { ...held, status: 'IDLE' }))).toBe('NOT_AT_NEXT_OFFSET')
    expect(verdictOf(judgeMark(mark('finished', { atOffset: 16 }), { ...held, status: 'FINISHED' }))).toBe(
      'NOT_AT_NEXT_OFFSET',
    )
  })

  it('[WIN-28] a generation not read yet and a partition nobody reads are refused', () => {
    expect(judgeMark(mark('active', { generation: 5 }), held)).toMatchObject({
      reason: 'UNKNOWN_GENERATION',
      message: 'active mark of partition 2: generation 5 is not read yet; 4 is',
    })
    expect(verdictOf(judgeMark(mark('idle'), undefined))).toBe('UNKNOWN_PARTITION')
  })

  it('[WIN-28] the generation is looked at before the offset: a stale mark is stale wherever it stands', () => {
    expect(verdictOf(judgeMark(mark('idle', { generation: 3, atOffset: 1 }), held))).toBe('STALE_GENERATION')
  })

  it('[WIN-28] what is no mark is refused as such', () => {
    const zero = { generation: 0, nextOffset: 0, status: 'ACTIVE' } as const
    expect(verdictOf(judgeMark(mark('idle', { partition: 0, generation: 0, atOffset: 0 }), zero))).toBe('accepted')
    for (const field of ['partition', 'generation', 'atOffset']) {
      for (const value of [-1, 1.5, NaN, 2 ** 53, '17', 17n, null, undefined]) {
        expect(verdictOf(judgeMark(mark('idle', { [field]: value }), held)), `${field} ${value}`).toBe('MALFORMED')
      }
    }
    expect(verdictOf(judgeMark(mark('paused'), held))).toBe('MALFORMED')
    expect(verdictOf(judgeMark(mark('toString'), held))).toBe('MALFORMED')
  })
})
