import { describe, expect, it } from 'vitest'
import { isTidemarkError } from '@tidemark/core'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import { applyWrite, applyWrites, createMemoryData, readMemoryValue } from '@tidemark/checkpoint/memory'

function after(...writes: readonly ProjectionWrite[]) {
  const data = createMemoryData()
  applyWrites(data, writes)
  return (key: string) => readMemoryValue(data, key)
}

describe('the model of the write vocabulary', () => {
  it('zadd GT keeps the larger score, LT the smaller, ANY the last', () => {
    const read = after(
      { op: 'zadd', key: 'z', mode: 'GT', score: 5, member: 'a' },
      { op: 'zadd', key: 'z', mode: 'GT', score: 3, member: 'a' },
      { op: 'zadd', key: 'z', mode: 'LT', score: 7, member: 'b' },
      { op: 'zadd', key: 'z', mode: 'LT', score: 9, member: 'b' },
      { op: 'zadd', key: 'z', mode: 'LT', score: 2, member: 'b' },
      { op: 'zadd', key: 'z', mode: 'ANY', score: 9, member: 'c' },
      { op: 'zadd', key: 'z', mode: 'ANY', score: 1, member: 'c' },
    )
    expect(read('z')).toEqual({ kind: 'sorted-set', scores: new Map(Object.entries({ a: 5, b: 2, c: 1 })) })
  })

  it('a key goes with its last member, of every kind', () => {
    const read = after(
      { op: 'zadd', key: 'z', mode: 'ANY', score: 1, member: 'a' },
      { op: 'zrem', key: 'z', member: 'a' },
      { op: 'sadd', key: 's', member: 'a' },
      { op: 'srem', key: 's', member: 'a' },
      { op: 'hset', key: 'h', field: 'a', value: '1' },
      { op: 'hdel', key: 'h', field: 'a' },
      { op: 'set', key: 't', value: '1' },
      { op: 'del', key: 't' },
    )
    for (const key of ['z', 's', 'h', 't']) expect(read(key)).toEqual({ kind: 'absent' })
  })

  it('setIfGreater compares whole numbers exactly beyond 2^53, and set replaces any kind', () => {
    const read = after(
      { op: 'setIfGreater', key: 'n', value: 9007199254740992n },
      { op: 'setIfGreater', key: 'n', value: 9007199254740993n },
      { op: 'setIfGreater', key: 'n', value: 9n },
      { op: 'sadd', key: 's', member: 'a' },
      { op: 'set', key: 's', value: 'text' },
    )
    expect(read('n')).toEqual({ kind: 'string', value: '9007199254740993' })
    expect(read('s')).toEqual({ kind: 'string', value: 'text' })
  })

  it.each<[string, ProjectionWrite]>([
    ['zadd on a string', { op: 'zadd', key: 't', mode: 'GT', score: 1, member: 'a' }],
    ['sadd on a string', { op: 'sadd', key: 't', member: 'a' }],
    ['srem on a string', { op: 'srem', key: 't', member: 'a' }],
    ['hset on a string', { op: 'hset', key: 't', field: 'a', value: 'b' }],
    ['hdel on a string', { op: 'hdel', key: 't', field: 'a' }],
    ['zrem on a string', { op: 'zrem', key: 't', member: 'a' }],
    ['setIfGreater on a text', { op: 'setIfGreater', key: 't', value: 1n }],
    ['setIfGreater on a set', { op: 'setIfGreater', key: 's', value: 1n }],
  ])('%s is an error that changes nothing', (_title, write) => {
    const data = createMemoryData()
    applyWrites(data, [
      { op: 'set', key: 't', value: '007' },
      { op: 'sadd', key: 's', member: 'a' },
    ])
    const before = structuredClone(data.values)
    const attempt = (): unknown => applyWrite(data, write)
    expect(attempt).toThrow(expect.objectContaining({ code: 'TM_CHECKPOINT_WRITE_INVALID' }))
    expect(attempt).toThrow(new RegExp(`${write.op} on key "${write.key}"`))
    expect(data.values).toEqual(before)
  })

  it('a failing write takes every earlier one of its step back', () => {
    const data = createMemoryData()
    applyWrites(data, [
      { op: 'set', key: 't', value: 'x' },
      { op: 'sadd', key: 's', member: 'a' },
    ])
    const before = structuredClone(data.values)
    let thrown: unknown
    try {
      applyWrites(data, [
        { op: 'srem', key: 's', member: 'a' },
        { op: 'sadd', key: 's', member: 'b' },
        { op: 'del', key: 't' },
        { op: 'hset', key: 't', field: 'f', value: 'v' },
        { op: 'zadd', key: 't', mode: 'GT', score: 1, member: 'm' },
      ])
    } catch (error) {
      thrown = error
    }
    expect(isTidemarkError(thrown, 'TM_CHECKPOINT_WRITE_INVALID')).toBe(true)
    expect(data.values).toEqual(before)
  })
})
