import { CANONICAL_JSON_DEPTH_MAX, canonicalJson, isTidemarkError, isWellFormed } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

class Money {
  readonly amount = 1
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)]
}

describe('canonical JSON', () => {
  it('[COR-5] orders keys by UTF-16 code units and writes no blanks', () => {
    expect(canonicalJson({ b: [1, 'x', null, true], a: { '€': 0, '\r': 0, ö: 0, '😀': 0, 1: 0 } })).toBe(
      '{"a":{"\\r":0,"1":0,"ö":0,"€":0,"😀":0},"b":[1,"x",null,true]}',
    )
  })

  it('[COR-5] 0 and -0 are equal values and share a text; a null prototype changes nothing', () => {
    expect(canonicalJson(-0)).toBe('0')
    expect(canonicalJson(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('{"a":1}')
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}')
  })

  it.each<[string, unknown, string]>([
    ['undefined', undefined, '$'],
    ['an undefined member', { a: { b: undefined } }, '$.a.b'],
    ['a function', { a: () => 1 }, '$.a'],
    ['a symbol', Symbol('s'), '$'],
    ['a symbol key', { [Symbol('s')]: 1 }, '$'],
    ['a bigint', [1n], '$[0]'],
    ['NaN', [[Number.NaN]], '$[0][0]'],
    ['infinity', Infinity, '$'],
    ['a fraction', 0.5, '$'],
    ['an unsafe integer', 2 ** 53, '$'],
    ['a date', new Date(0), '$'],
    ['a map', new Map(), '$'],
    ['bytes', new Uint8Array(1), '$'],
    ['an instance', new Money(), '$'],
    ['a boxed number', new Number(3), '$'],
    // oxlint-disable-next-line no-sparse-arrays -- the hole is what is tested
    ['a hole', [1, , 2], '$[1]'],
    ['a property of an array', Object.assign([1], { extra: 2 }), '$'],
    ['a lone surrogate', ['\ud800'], '$[0]'],
    ['a lone surrogate as a key', { '\udc00': 1 }, '$.\udc00'],
    [
      'nesting beyond the limit',
      nested(CANONICAL_JSON_DEPTH_MAX + 1),
      `$${'[0]'.repeat(CANONICAL_JSON_DEPTH_MAX + 1)}`,
    ],
  ])('[COR-6] %s is refused with its path', (_, value, path) => {
    let thrown: unknown
    try {
      canonicalJson(value)
    } catch (error) {
      thrown = error
    }
    expect(isTidemarkError(thrown, 'TM_CORE_JSON_NOT_CANONICAL')).toBe(true)
    expect(isTidemarkError(thrown) && thrown.details['path']).toBe(path)
  })

  it('[COR-6] nesting up to the limit and a cycle end without overflowing the stack', () => {
    expect(canonicalJson(nested(CANONICAL_JSON_DEPTH_MAX))).toHaveLength(2 * CANONICAL_JSON_DEPTH_MAX + 1)
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(() => canonicalJson(cycle)).toThrow(/nested deeper/)
  })

  it('[COR-6] tells well-formed strings from broken ones', () => {
    for (const text of ['', 'a', '💧', 'x💧y💧']) expect(isWellFormed(text)).toBe(true)
    for (const text of ['\ud800', '\udc00', 'a\ud83d', '\udca7b', '\udca7\ud83d'])
      expect(isWellFormed(text)).toBe(false)
  })
})
