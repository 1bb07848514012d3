import { describe, expect, it } from 'vitest'
import { createAccounting, readAccountingState } from '../../src/engine/accounting.ts'
import { verdictNames } from '../../src/engine/verdict.ts'
import { createPartitionPositions } from '../../src/envelope/partition-positions.ts'
import type { PartitionPositions } from '../../src/envelope/partition-positions.ts'
import { recordOf } from '../envelope/record-of.ts'

const partitions = [0, 1].map((partition) => ({ source: 'orders', partition, generation: 1 }))
const positionsAt = (offsets: readonly number[]): PartitionPositions<unknown> =>
  createPartitionPositions({ partitions, payloadDigest: () => '', start: { kind: 'at', offsets } })
const codeOf = (name: (typeof verdictNames)[number]): number => verdictNames.indexOf(name)

/** Books and positions after ten records from offset 5 on, two of them read twice, with a hole of three in between. */
function balanced() {
  const books = createAccounting(partitions)
  const positions = positionsAt([5, 0])
  for (let nth = 0; nth < 10; nth += 1) {
    books.deliver(0, 1)
    positions.take(0, recordOf(nth < 4 ? 5 + nth : 8 + nth))
    books.judge(0, nth === 9 ? codeOf('TOO_LATE') : codeOf('ACCEPTED'))
  }
  books.deliver(0, 2)
  for (let nth = 0; nth < 2; nth += 1) books.judge(0, codeOf('REPLAY'))
  return { books, positions }
}

describe('the books of a partition', () => {
  it('[WIN-64] balance when every record has one verdict and every offset is a record or a hole', () => {
    const { books, positions } = balanced()
    expect(books.residue(0, positions)).toBeUndefined()
    expect(books.residue(1, positions)).toBeUndefined()
    expect([books.delivered(0), books.judged(0, 'ACCEPTED'), books.judged(0, 'TOO_LATE')]).toEqual([12, 9, 1])
    positions.passHole(0, 100)
    expect(books.residue(0, positions)).toBeUndefined()
  })

  it.each<[string, (world: ReturnType<typeof balanced>) => void, object]>([
    ['a record without a verdict', ({ books }) => books.deliver(0, 1), { unjudged: 1, uncovered: 1 }],
    ['a record with two', ({ books }) => books.judge(0, codeOf('ACCEPTED')), { unjudged: -1 }],
    ['a verdict without a record', ({ books }) => books.judge(0, codeOf('REPLAY')), { unjudged: -1, uncovered: -1 }],
    [
      'an offset that nothing was delivered for',
      ({ positions }) => positions.take(0, recordOf(18)),
      { unjudged: 0, uncovered: -1 },
    ],
    [
      'a record judged and not covered',
      ({ books }) => {
        books.deliver(0, 1)
        books.judge(0, codeOf('QUARANTINED'))
      },
      { unjudged: 0, uncovered: 1 },
    ],
  ])('[WIN-64] show %s', (_, fault, residue) => {
    const world = balanced()
    fault(world)
    expect(world.books.residue(0, world.positions)).toMatchObject(residue)
    expect(world.books.residue(1, world.positions)).toBeUndefined()
  })

  it('[WIN-64] show offsets that are neither records nor holes', () => {
    const { books, positions } = balanced()
    const forgetful = { ...bound(positions), holeOffsets: () => 1 } as unknown as PartitionPositions<never>
    expect(books.residue(0, forgetful)).toEqual({ unjudged: 0, uncovered: 0, unproven: 2 })
  })

  it('[WIN-64] go on from stored ones', () => {
    const { books, positions } = balanced()
    const state = JSON.parse(JSON.stringify(books.state())) as unknown
    const read = readAccountingState(state, partitions)
    if (read.kind !== 'state') throw new Error(JSON.stringify(read.problems))
    const again = createAccounting(partitions, read.state)
    expect(again.state()).toEqual(books.state())
    expect(again.residue(0, positions)).toBeUndefined()
    again.judge(0, codeOf('ACCEPTED'))
    expect(books.judged(0, 'ACCEPTED')).toBe(9)
  })

  it('[WIN-64] refuse stored ones that do not balance, are of other partitions, or are of another shape', () => {
    const {
      partitions: [first, second],
    } = balanced().books.state()
    const problems = (stored: unknown): unknown => {
      const read = readAccountingState(stored, partitions)
      return read.kind === 'invalid' ? read.problems.map(({ path }) => path) : 'read'
    }
    expect(problems({ partitions: [{ ...first, delivered: 13 }, second] })).toEqual(['partitions.0.verdicts'])
    expect(problems({ partitions: [first] })).toEqual(['partitions.1'])
    expect(problems({ partitions: [first, { ...second, generation: 2 }] })).toEqual(['partitions.1'])
    expect(problems({ partitions: [first, { ...second, delivered: -1 }] })).toEqual(['partitions.1.delivered'])
    expect(problems({ partitions: [first, second], more: 1 })).not.toBe('read')
    expect(problems(null)).toEqual(['$'])
  })
})

/** The methods of a class do not spread; these are what residue asks. */
function bound(positions: PartitionPositions<unknown>) {
  return {
    recordsTaken: (index: number) => positions.recordsTaken(index),
    nextOffset: (index: number) => positions.nextOffset(index),
    firstOffset: (index: number) => positions.firstOffset(index),
  }
}
