import { describe, expect, it } from 'vitest'
import { checkedAnswers } from '../src/connection/redis-link.ts'
import { countReply, fieldsReply } from '../src/connection/reply-shape.ts'
import { evictionFact, readServerFacts } from '../src/connection/server-facts.ts'
import { readPartReply } from '../src/checkpoint/advance-step.ts'
import { readValue } from '../src/checkpoint/redis-data-reader.ts'

const malformed = expect.objectContaining({ code: 'TM_REDIS_REPLY_MALFORMED' })

describe('answers of a pipeline', () => {
  it('[RED-6] [CK-41] are refused when one is missing, doubled or of another shape', () => {
    const ok: [null, string] = [null, 'OK']
    expect(checkedAnswers('x', [ok, ok], 2)).toEqual([ok, ok])
    for (const answers of [
      [ok],
      [ok, ok, ok],
      null,
      undefined,
      'OK',
      [ok, 'OK'],
      [ok, null],
      [ok, []],
      [ok, [null]],
      [ok, ['E', 1]],
    ]) {
      expect(() => checkedAnswers('x', answers, 2), JSON.stringify(answers)).toThrow(malformed)
    }
  })

  it('[RED-6] keep the error of a failed command, with or without a value beside it', () => {
    const error = new Error('WRONGTYPE')
    expect(checkedAnswers('x', [[error, undefined], [error]], 2)).toEqual([
      [error, undefined],
      [error, undefined],
    ])
  })
})

describe('the reply of a step', () => {
  it('[RED-6] is one of the known outcomes, each of its own length', () => {
    expect(readPartReply(['advanced'])).toEqual({ kind: 'advanced', resent: false })
    expect(readPartReply(['resent'])).toEqual({ kind: 'advanced', resent: true })
    expect(readPartReply(['fenced', null])).toEqual({ kind: 'fenced', found: undefined })
    expect(readPartReply(['conflict', 'k', 'f', 'e', null])).toEqual({
      kind: 'conflict',
      key: 'k',
      field: 'f',
      expected: 'e',
      found: undefined,
    })
  })

  it('[RED-6] [CK-41] is refused in every other shape', () => {
    const replies = [
      null,
      'OK',
      1,
      [],
      ['advanced', 'twice'],
      ['fenced'],
      ['conflict', 'k', 'f', 'e'],
      ['toString'],
      [1],
      ['conflict', 'k', 'f', 'e', 7],
      [['advanced']],
    ]
    for (const reply of replies) expect(() => readPartReply(reply), JSON.stringify(reply)).toThrow(malformed)
  })
})

describe('field-value replies', () => {
  it('[RED-6] [CK-41] refuse odd lengths, doubled fields and other values', () => {
    expect(fieldsReply('x', ['a', '1', '__proto__', '2'])).toEqual(
      Object.fromEntries([
        ['a', '1'],
        ['__proto__', '2'],
      ]),
    )
    for (const reply of [['a'], ['a', '1', 'a', '2'], ['a', null], { a: '1' }, null]) {
      expect(() => fieldsReply('x', reply), JSON.stringify(reply)).toThrow(malformed)
    }
  })

  it('[RED-6] counts are whole numbers inside their range', () => {
    expect(countReply('x', 3, 3)).toBe(3)
    for (const reply of [4, -1, 1.5, '3', null]) expect(() => countReply('x', reply, 3)).toThrow(malformed)
  })

  it('[RED-6] never tells the values of a malformed reply', () => {
    expect(() => fieldsReply('x', ['secret'])).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    )
  })
})

describe('facts of the server', () => {
  const info = (changes: Record<string, string | undefined> = {}): string =>
    Object.entries({
      run_id: 'r'.repeat(40),
      master_replid: 'm'.repeat(40),
      role: 'master',
      loading: '0',
      maxmemory_policy: 'noeviction',
      aof_enabled: '1',
      ...changes,
    })
      .flatMap(([field, value]) => (value === undefined ? [] : [`${field}:${value}`]))
      .join('\r\n')
  const client = 'id=3 addr=127.0.0.1:1 db=5 sub=0'

  it('[RED-16] names process, role, loading, database and durability', () => {
    const facts = readServerFacts(info(), client, 'always')
    expect(facts).toMatchObject({
      isPrimary: true,
      isLoaded: true,
      isCluster: false,
      database: '5',
      durability: 'fsync',
    })
    expect(facts.process).toBe(`${'r'.repeat(40)}:${'m'.repeat(40)}`)
    expect(readServerFacts(info(), client, 'everysec').durability).toBe('server')
    expect(readServerFacts(info(), client, undefined).durability).toBe('server')
    expect(readServerFacts(info({ role: 'slave' }), client, undefined).isPrimary).toBe(false)
    expect(readServerFacts(info({ loading: '1' }), client, undefined).isLoaded).toBe(false)
    expect(readServerFacts(info({ async_loading: '1' }), client, undefined).isLoaded).toBe(false)
    expect(readServerFacts(info({ cluster_enabled: '1' }), client, undefined).isCluster).toBe(true)
  })

  it('[RED-16] without a fact that decides correctness nothing is assumed', () => {
    for (const field of ['run_id', 'master_replid', 'role', 'loading']) {
      expect(() => readServerFacts(info({ [field]: undefined }), client, undefined), field).toThrow(malformed)
    }
    expect(() => readServerFacts(info(), 'id=3 subdb=5', undefined)).toThrow(malformed)
    expect(() => readServerFacts(null, client, undefined)).toThrow(malformed)
  })

  it('[RED-16] [CK-43] an eviction policy is what it is called, and an unknown one is unknown', () => {
    expect(evictionFact('noeviction').kind).toBe('keeps-all')
    for (const policy of ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'allkeys-lrm']) {
      expect(evictionFact(policy).kind).toBe('any-key')
    }
    for (const policy of ['volatile-lru', 'volatile-lfu', 'volatile-random', 'volatile-ttl']) {
      expect(evictionFact(policy).kind).toBe('expiring-only')
    }
    for (const policy of [undefined, '', 'novel', 'NoEviction']) expect(evictionFact(policy).kind).toBe('unknown')
  })
})

describe('data values', () => {
  it('[RED-18] are read by type, and a type the vocabulary cannot write is named', () => {
    expect(readValue('k', ['none', null])).toEqual({ kind: 'absent' })
    expect(readValue('k', ['zset', ['m', '9007199254740991', 'i', 'inf']])).toEqual({
      kind: 'sorted-set',
      scores: new Map([
        ['m', 9_007_199_254_740_991],
        ['i', Infinity],
      ]),
    })
    expect(() => readValue('k', ['list', null])).toThrow(expect.objectContaining({ code: 'TM_REDIS_WRONG_TYPE' }))
    for (const pair of [['string', null], ['zset', ['m']], ['zset', ['m', 'x']], ['set', ['a', 'a']], 'string', []]) {
      expect(() => readValue('k', pair), JSON.stringify(pair)).toThrow(malformed)
    }
  })
})
