import { describe, expect, it } from 'vitest'
import { namespaceOf } from '@tidemark/checkpoint'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import { keyLayout, readIndexMember, reservedDataPrefix } from '../src/checkpoint/key-layout.ts'
import { cutWrites, encodeWrites } from '../src/checkpoint/write-encoding.ts'

const zadd = (key: string, score: number, member: string): ProjectionWrite => ({
  op: 'zadd',
  key,
  mode: 'GT',
  score,
  member,
})

describe('encodeWrites', () => {
  it('[RED-15] groups writes by key in the order of each key, values as they came', () => {
    const writes: ProjectionWrite[] = [
      zadd('a', 9_007_199_254_740_991, 'm'),
      zadd('b', -5, 'x'),
      zadd('a', 2, 'n'),
      { op: 'del', key: 'a' },
      { op: 'del', key: 'a' },
      { op: 'set', key: 'c', value: 'first' },
      { op: 'set', key: 'c', value: 'last' },
      { op: 'setIfGreater', key: 'd', value: 2n ** 63n - 1n },
    ]
    expect(encodeWrites(writes, 'p:')).toEqual({
      keys: ['p:a', 'p:b', 'p:c', 'p:d'],
      program: 'G!2;X+1;G!1;W!1;M!1;',
      values: '["9007199254740991","m","2","n","-5","x","last","9223372036854775807"]',
    })
  })

  it('[RED-15] gives every kind of write its own letter', () => {
    const writes: ProjectionWrite[] = [
      { op: 'zadd', key: 'k', mode: 'LT', score: 1, member: 'm' },
      { op: 'zadd', key: 'k', mode: 'ANY', score: 1, member: 'm' },
      { op: 'zrem', key: 'k', member: 'm' },
      { op: 'sadd', key: 'k', member: 'm' },
      { op: 'srem', key: 'k', member: 'm' },
      { op: 'hset', key: 'k', field: 'f', value: 'v' },
      { op: 'hdel', key: 'k', field: 'f' },
    ]
    expect(encodeWrites(writes, '').program).toBe('L!1;A+1;Z+1;S+1;R+1;H+1;D+1;')
  })
})

describe('cutWrites', () => {
  const limits = { writesMax: 3, bytesMax: 200 }
  const step = (writes: readonly ProjectionWrite[], byteCount = 1_000) => ({ writes, byteCount })

  it('[RED-13] keeps what fits in one script and cuts the rest in order', () => {
    const writes = Array.from({ length: 7 }, (_, index) => zadd(`k${index}`, index, 'm'))
    expect(cutWrites(step([], 0), limits, '')).toEqual([[]])
    expect(cutWrites(step(writes.slice(0, 3), 150), limits, '')).toEqual([writes.slice(0, 3)])
    const cuts = cutWrites(step(writes), limits, '')
    expect(cuts.map((cut) => cut.length)).toEqual([3, 3, 1])
    expect(cuts.flat()).toEqual(writes)
  })

  it('[RED-13] cuts by bytes, prefix included, and lets a single large write stand alone', () => {
    const big = zadd('k', 1, 'x'.repeat(500))
    expect(cutWrites(step([big, zadd('k', 1, 'm'), big]), limits, '')).toHaveLength(3)
    expect(cutWrites(step([zadd('k', 1, 'm'), zadd('k', 1, 'm')], 80), limits, 'p'.repeat(100))).toHaveLength(2)
  })
})

describe('key layout', () => {
  it('[RED-4] keeps the keys of format 1 byte for byte, and side keys beside them', () => {
    const keys = keyLayout(namespaceOf('session_projection'))
    expect(keys.meta).toBe('session_projection:meta')
    expect(keys.checkpoint('dispatch', 0)).toBe('session_projection:checkpoint:dispatch:0')
    expect(keys.fence('dispatch', 0)).toBe('session_projection:fence:dispatch:0')
    expect(keys.witness('dispatch', 11)).toBe('session_projection:witness:dispatch:11')
    expect(keys.quarantine('dispatch', 0)).toBe('session_projection:quarantine:dispatch:0')
    expect([keys.incarnation, keys.partitions]).toEqual([
      'session_projection:incarnation',
      'session_projection:partitions',
    ])
  })

  it('[RED-4] reads back only index members it could have written', () => {
    expect(readIndexMember('dispatch.v1:12')).toEqual({ topic: 'dispatch.v1', partition: 12 })
    for (const member of ['', 'dispatch', 'a:b:1', 'dispatch:01', 'dispatch:-1', 'dispatch:1e3', 'dispatch:9999999']) {
      expect(readIndexMember(member), member).toBeUndefined()
    }
  })

  it('[RED-4] reserves the namespace behind a data prefix that begins it', () => {
    const namespace = namespaceOf('app:projection')
    expect(reservedDataPrefix(namespace, '')).toBe('app:projection:')
    expect(reservedDataPrefix(namespace, 'app:')).toBe('projection:')
    expect(reservedDataPrefix(namespace, 'other:')).toBe('app:projection:')
  })
})
