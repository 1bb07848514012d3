import { describe, expect, it } from 'vitest'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import { foldWrites } from '../src/checkpoint/fold-writes.ts'

const empty = {
  checks: [],
  cleared: [],
  removed: [],
  greater: [],
  less: [],
  exact: [],
  members: [],
  values: [],
  numbers: [],
}
const z = (mode: 'GT' | 'LT' | 'ANY', score: number, member: string = 'm'): ProjectionWrite => ({
  op: 'zadd',
  key: 'k',
  mode,
  score,
  member,
})

describe('writes folded to what they come to', () => {
  it('[PGS-13] every row is written at most once, in one order for all writers', () => {
    const writes: ProjectionWrite[] = [
      { op: 'sadd', key: 'b', member: 'y' },
      { op: 'sadd', key: 'b', member: 'x' },
      { op: 'sadd', key: 'a', member: 'x' },
      { op: 'sadd', key: 'b', member: 'x' },
    ]
    const [round, ...more] = foldWrites(writes)
    expect(more).toEqual([])
    expect(round?.members.map(({ key, name }) => `${key}/${name}`)).toEqual(['a/x', 'b/x', 'b/y'])
    expect(round?.checks).toEqual([
      { key: 'a', kind: 's' },
      { key: 'b', kind: 's' },
    ])
  })

  it('[PGS-13] scores meet in order: greater, lesser and replaced', () => {
    const checks = [{ key: 'k', kind: 'z' }]
    const row = (score: number) => [{ key: 'k', member: 'm', score }]
    expect(foldWrites([z('GT', 3), z('GT', 5), z('GT', 4)])).toEqual([{ ...empty, checks, greater: row(5) }])
    expect(foldWrites([z('LT', 3), z('LT', 5)])).toEqual([{ ...empty, checks, less: row(3) }])
    expect(foldWrites([z('GT', 3), z('ANY', 1), z('GT', 2)])).toEqual([{ ...empty, checks, exact: row(2) }])
    // At least 5, then at most 3: 3, whatever stood there.
    expect(foldWrites([z('GT', 5), z('LT', 3)])).toEqual([{ ...empty, checks, exact: row(3) }])
    // At least 3, then at most 5 depends on what stands there and on which came first.
    const [first, second] = foldWrites([z('GT', 3), z('LT', 5)])
    expect([first?.greater, second?.less]).toEqual([row(3), row(5)])
  })

  it('[PGS-13] what was deleted is known to be absent', () => {
    const rounds = foldWrites([{ op: 'del', key: 'k' }, z('GT', 1), { op: 'zrem', key: 'k', member: 'gone' }])
    expect(rounds).toEqual([{ ...empty, cleared: ['k'], exact: [{ key: 'k', member: 'm', score: 1 }] }])
    const replaced = foldWrites([
      { op: 'hset', key: 'k', field: 'f', value: '1' },
      { op: 'del', key: 'k' },
      { op: 'sadd', key: 'k', member: 'm' },
    ])
    // The look at what stood there before stays: the first write needed a hash.
    expect(replaced).toEqual([
      { ...empty, checks: [{ key: 'k', kind: 'h' }], cleared: ['k'], members: [{ key: 'k', kind: 's', name: 'm' }] },
    ])
  })

  it('[PGS-13] another kind on a key that may have become empty waits for the round before', () => {
    const rounds = foldWrites([
      { op: 'srem', key: 'k', member: 'last' },
      { op: 'hset', key: 'k', field: 'f', value: 'v' },
    ])
    expect(rounds).toHaveLength(2)
    expect(rounds[1]?.checks).toEqual([{ key: 'k', kind: 'h' }])
  })

  it('[PGS-15] numbers are compared as whole numbers, and a text that is none is refused', () => {
    const number = (value: bigint): ProjectionWrite => ({ op: 'setIfGreater', key: 'k', value })
    const beyond = 2n ** 53n
    expect(foldWrites([number(beyond), number(beyond + 1n), number(9n)])[0]?.numbers).toEqual([
      { key: 'k', value: String(beyond + 1n) },
    ])
    expect(foldWrites([{ op: 'set', key: 'k', value: '9' }, number(10n)])[0]?.values).toEqual([
      { key: 'k', kind: 't', name: '', value: '10' },
    ])
    expect(() => foldWrites([{ op: 'set', key: 'k', value: '1e3' }, number(1n)])).toThrow(
      expect.objectContaining({ code: 'TM_POSTGRES_VALUE_NOT_A_NUMBER' }),
    )
  })
})
