import { describe, expect, it } from 'vitest'
import { createPartitionPositions, envelopeWitness } from '@tidemark/window'
import type { PartitionPositions, PositionsState } from '@tidemark/window'
import { place, recordOf } from './record-of.ts'

const payloadDigest = (payload: unknown): string => JSON.stringify(payload) ?? 'none'

function positionsAt(...offsets: readonly number[]): PartitionPositions<unknown> {
  const partitions = offsets.map((_, partition) => ({ ...place, partition }))
  return createPartitionPositions({ partitions, payloadDigest, start: { kind: 'at', offsets } })
}

function restored(state: unknown): PartitionPositions<unknown> {
  const start = { kind: 'restore', state: state as PositionsState } as const
  return createPartitionPositions({ partitions: [{ ...place, partition: 0 }], payloadDigest, start })
}

function problemsOf(state: unknown): unknown {
  try {
    restored(state)
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'TM_WINDOW_STATE_INVALID', details: { part: 'positions' } })
    return (thrown as { readonly details: { readonly problems: unknown } }).details.problems
  }
  return undefined
}

function coverage(positions: PartitionPositions<unknown>, index = 0): readonly number[] {
  return [positions.nextOffset(index), positions.recordsTaken(index), positions.holeOffsets(index)]
}

describe('what an offset says', () => {
  it('[WIN-22] the next one, one beyond it, and the offsets between as a hole', () => {
    const positions = positionsAt(10)
    expect(positions.judge(0, recordOf(10))).toBe('NEXT')
    expect(coverage(positions)).toEqual([10, 0, 0])
    positions.take(0, recordOf(10))
    expect(positions.judge(0, recordOf(12))).toBe('HOLE')
    expect(positions.judge(0, recordOf(11))).toBe('NEXT')
    positions.take(0, recordOf(14))
    expect(coverage(positions)).toEqual([15, 2, 3])
  })

  it('[WIN-22] the last record again is a replay by its witness; another there is a conflict, by any field that tells it apart', () => {
    const positions = positionsAt(10)
    positions.take(0, recordOf(10))
    positions.take(0, recordOf(11))
    expect(positions.judge(0, recordOf(11))).toBe('REPLAY')
    // What a broker or an adapter may say otherwise at another reading does not make it another event.
    expect(positions.judge(0, recordOf(11, { ingestTime: 9, schemaGeneration: 2 }))).toBe('REPLAY')
    for (const change of [{ eventId: 'e10' }, { eventTime: 1 }, { key: 'l' }, { payload: { amount: 12 } }]) {
      expect(positions.judge(0, recordOf(11, change)), JSON.stringify(change)).toBe('SOURCE_OFFSET_CONFLICT')
    }
    expect(coverage(positions)).toEqual([12, 2, 0])
  })

  it('[WIN-22] an older record again is a replay that nothing verifies, also below the first offset', () => {
    const positions = positionsAt(10)
    expect(positions.judge(0, recordOf(9))).toBe('REPLAY_UNVERIFIED')
    positions.take(0, recordOf(10))
    positions.take(0, recordOf(11))
    expect(positions.judge(0, recordOf(10, { eventId: 'other' }))).toBe('REPLAY_UNVERIFIED')
    expect(positions.judge(0, recordOf(9))).toBe('REPLAY_UNVERIFIED')
    expect(positions.judge(0, recordOf(0))).toBe('REPLAY_UNVERIFIED')
  })

  it('[WIN-22] a record where the log was proven to hold none is a conflict, before and after a cut', () => {
    const positions = positionsAt(10)
    expect(positions.passHole(0, 12)).toEqual({ kind: 'passed', from: 10, to: 12 })
    expect([9, 10, 11, 12].map((offset) => positions.judge(0, recordOf(offset)))).toEqual([
      'REPLAY_UNVERIFIED',
      'SOURCE_OFFSET_CONFLICT',
      'SOURCE_OFFSET_CONFLICT',
      'NEXT',
    ])
    positions.take(0, recordOf(12))
    positions.passHole(0, 15)
    // The very event of the last record, at another offset, is not that record again.
    expect(positions.judge(0, recordOf(12, { offset: 13 }))).toBe('SOURCE_OFFSET_CONFLICT')
    for (const each of [positions, restored(positions.state())]) {
      expect([12, 13, 14, 15].map((offset) => each.judge(0, recordOf(offset)))).toEqual([
        'REPLAY',
        'SOURCE_OFFSET_CONFLICT',
        'SOURCE_OFFSET_CONFLICT',
        'NEXT',
      ])
    }
  })

  it('[WIN-22] news of a hole that ends where the partition stands, or before, changes nothing', () => {
    const positions = positionsAt(10)
    expect(positions.passHole(0, 10)).toEqual({ kind: 'nothing' })
    expect(positions.passHole(0, 9)).toEqual({ kind: 'nothing' })
    expect(positions.passHole(0, 11)).toEqual({ kind: 'passed', from: 10, to: 11 })
    for (const to of [NaN, -1, 11.5, Infinity, 2 ** 53]) {
      expect(() => positions.passHole(0, to)).toThrow(expect.objectContaining({ code: 'TM_WINDOW_OPTION_INVALID' }))
    }
    expect(coverage(positions)).toEqual([11, 0, 1])
  })

  it('[WIN-22] partitions do not touch each other', () => {
    const positions = positionsAt(0, 100)
    positions.take(1, recordOf(103))
    expect([coverage(positions, 0), coverage(positions, 1)]).toEqual([
      [0, 0, 0],
      [104, 1, 3],
    ])
    expect(positions.judge(0, recordOf(0))).toBe('NEXT')
  })
})

describe('what was covered', () => {
  it('[WIN-23] a record that is not due cannot be taken, and moves nothing', () => {
    const positions = positionsAt(10)
    positions.take(0, recordOf(10))
    expect(() => positions.take(0, recordOf(10))).toThrow('WIN-23')
    expect(() => positions.take(0, recordOf(NaN))).toThrow('WIN-23')
    expect(coverage(positions)).toEqual([11, 1, 0])
  })

  it('[WIN-23] the state holds positions, counts and the witness of the last record, and goes on as if never stored', () => {
    const positions = positionsAt(10)
    expect(positions.state().partitions[0]).toMatchObject({ firstOffset: 10, nextOffset: 10, last: null })
    positions.take(0, recordOf(11))
    const state: unknown = JSON.parse(JSON.stringify(positions.state()))
    expect(state).toEqual({
      partitions: [
        {
          ...place,
          partition: 0,
          firstOffset: 10,
          nextOffset: 12,
          recordsTaken: 1,
          holeOffsets: 1,
          last: { offset: 11, witness: envelopeWitness(recordOf(11), payloadDigest) },
        },
      ],
    })
    const again = restored(state)
    expect(again.state()).toEqual(state)
    expect(again.judge(0, recordOf(11))).toBe('REPLAY')
    expect(again.judge(0, recordOf(11, { eventId: 'x' }))).toBe('SOURCE_OFFSET_CONFLICT')
    again.take(0, recordOf(12))
    positions.take(0, recordOf(12))
    expect(again.state()).toEqual(positions.state())
    expect(again.judge(0, recordOf(12))).toBe('REPLAY')
  })

  it('[WIN-23] a digest is asked for once for each last record, and for none before it', () => {
    const asked: unknown[] = []
    const positions = createPartitionPositions<unknown>({
      partitions: [place],
      payloadDigest: (payload) => {
        asked.push(payload)
        return 'd'
      },
      start: { kind: 'at', offsets: [0] },
    })
    for (let offset = 0; offset < 100; offset += 1) {
      expect(positions.judge(0, recordOf(offset))).toBe('NEXT')
      positions.take(0, recordOf(offset))
    }
    expect(asked).toEqual([])
    expect(positions.state()).toEqual(positions.state())
    expect(asked).toEqual([{ amount: 99 }])
  })

  it('[WIN-23] state that is damaged, contradicts itself or is of other partitions is refused with every fault', () => {
    const positions = positionsAt(10)
    positions.take(0, recordOf(12))
    positions.passHole(0, 20)
    const good = JSON.parse(JSON.stringify(positions.state())) as PositionsState
    expect(problemsOf(good)).toBeUndefined()
    const of = (change: object): object => ({ partitions: [{ ...good.partitions[0], ...change }] })
    const { witness } = good.partitions[0]!.last!
    const table: readonly (readonly [state: unknown, paths: readonly string[]])[] = [
      [undefined, ['$']],
      [{}, ['partitions']],
      [{ ...good, v: 1 }, ['$']],
      [of({ nextOffset: '20', firstOffset: -1 }), ['partitions.0.firstOffset', 'partitions.0.nextOffset']],
      [of({ last: { offset: 12, witness: witness.slice(1) } }), ['partitions.0.last.witness']],
      [of({ last: { offset: 12, witness: witness.toUpperCase() } }), ['partitions.0.last.witness']],
      [of({ nextOffset: 21 }), ['partitions.0.nextOffset']],
      [of({ recordsTaken: 2 }), ['partitions.0.nextOffset']],
      [of({ last: null }), ['partitions.0.last']],
      [of({ recordsTaken: 0, holeOffsets: 10 }), ['partitions.0.last']],
      [of({ last: { offset: 9, witness } }), ['partitions.0.last.offset']],
      [of({ last: { offset: 20, witness } }), ['partitions.0.last.offset']],
      [of({ generation: 5 }), ['partitions.0']],
      [{ partitions: [] }, ['partitions.0']],
    ]
    for (const [state, paths] of table) {
      const problems = problemsOf(state) as readonly { readonly path: string }[] | undefined
      expect(
        problems?.map(({ path }) => path),
        JSON.stringify(state),
      ).toEqual(paths)
    }
    for (const offset of [10, 19]) expect(problemsOf(of({ last: { offset, witness } }))).toBeUndefined()
  })

  it('[WIN-22] positions begin at offsets that can be counted, one for each partition', () => {
    const at = (offsets: readonly unknown[]): unknown =>
      createPartitionPositions({
        partitions: [place],
        payloadDigest,
        start: { kind: 'at', offsets: offsets as readonly number[] },
      })
    for (const offsets of [[], [0, 0], [-1], [1.5], [NaN], ['0'], [0n], [Number.MAX_SAFE_INTEGER]]) {
      expect(() => at(offsets)).toThrow(expect.objectContaining({ code: 'TM_WINDOW_OPTION_INVALID' }))
    }
    expect(at([Number.MAX_SAFE_INTEGER - 1])).toBeDefined()
  })
})

describe('witnesses', () => {
  it('[WIN-22] tell apart whatever a quarantined record may hold, without failing on it', () => {
    const odd = [undefined, null, NaN, '', 'null', 0, '0', 0n, true, 'true', '\ud800', {}, () => 1, Symbol('x'), 1.5]
    for (const field of ['eventId', 'eventTime', 'key']) {
      const witnesses = odd.map((value) => envelopeWitness(recordOf(0, { [field]: value }), payloadDigest))
      expect(new Set(witnesses).size, field).toBe(odd.length)
    }
    const swapped = envelopeWitness(recordOf(0, { eventId: 'k', key: 'e0' }), payloadDigest)
    expect(swapped).not.toBe(envelopeWitness(recordOf(0), payloadDigest))
  })
})
