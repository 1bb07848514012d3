import {
  canonicalJson,
  decodeOffset,
  encodeOffset,
  hashKey,
  isCanonicalTopicId,
  offsetOf,
  readTopicId,
} from '@tidemark/core'
import type { KeyPart } from '@tidemark/core'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runSize } from '../run-size.ts'

/** Values of the closed JSON set. */
const { value: jsonValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { maxKeys: 5, noNullPrototype: false }),
  ),
}))

const uuid: fc.Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 16, maxLength: 16 })

describe('codecs of core', () => {
  it('[COR-2] every offset survives its text, and a text that is read is the one that would be written', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 63n - 1n), (value) => {
        expect(decodeOffset(encodeOffset(offsetOf(value)))).toBe(value)
      }),
      runSize(2_000, 50_000),
    )
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789-+.eE xn'.split('')), maxLength: 21 })
    fc.assert(
      fc.property(digits, (text) => {
        const offset = decodeOffset(text)
        if (offset !== undefined) expect(encodeOffset(offset)).toBe(text)
        else expect(/^(0|[1-9]\d{0,17})$/.test(text)).toBe(false)
      }),
      runSize(5_000, 100_000),
    )
  })

  it('[COR-3] the three spellings of any id are one id, and a changed character never passes for it unnoticed', () => {
    fc.assert(
      fc.property(uuid, fc.nat(21), fc.constantFrom(...'ABCDwxyz0189+/-_='.split('')), (bytes, at, character) => {
        const hex = Buffer.from(bytes).toString('hex')
        const canonical = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
          '-',
        )
        const padded = Buffer.from(bytes).toString('base64')
        const url = Buffer.from(bytes).toString('base64url')
        const readings = [canonical, padded, padded.slice(0, 22), url].map(readTopicId)
        if (bytes.every((byte) => byte === 0)) expect(readings.every(({ kind }) => kind === 'zero')).toBe(true)
        else for (const reading of readings) expect(reading).toEqual({ kind: 'topic-id', topicId: canonical })
        const changed = `${url.slice(0, at)}${character}${url.slice(at + 1)}`
        const reading = readTopicId(changed)
        if (changed.replaceAll('+', '-').replaceAll('/', '_') !== url && reading.kind === 'topic-id') {
          expect(reading.topicId).not.toBe(canonical)
        }
        expect(isCanonicalTopicId(url)).toBe(false)
      }),
      runSize(2_000, 50_000),
    )
  })

  it('[COR-5] agrees with an implementation of RFC 8785 and with JSON itself', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value)
        expect(text).toBe(canonicalize(value))
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
      runSize(2_000, 50_000),
    )
  })

  it('[COR-5] the order in which keys were set does not matter', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.maxSafeInteger(), { noNullPrototype: true }), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse())
        expect(canonicalJson(reversed)).toBe(canonicalJson({ ...value }))
      }),
      runSize(1_000, 20_000),
    )
  })

  it('[COR-7] two different compositions never share a key', () => {
    // A tiny alphabet with every separator in it, so that joined texts collide all the time.
    const text = fc.string({ unit: fc.constantFrom('a', '|', ':', '\u0000', '\u0001'), maxLength: 4 })
    const part: fc.Arbitrary<KeyPart> = fc.oneof(
      text,
      text.map((each) => new TextEncoder().encode(each)),
      fc.constant(null),
    )
    const composition = fc.tuple(
      fc.constantFrom('a', 'a|', 'b'),
      fc.integer({ min: 1, max: 12 }),
      fc.array(part, { maxLength: 4 }),
    )
    const spell = ([domain, version, parts]: [string, number, KeyPart[]]): string =>
      JSON.stringify([
        domain,
        version,
        parts.map((each) => (each instanceof Uint8Array ? ['bytes', ...each] : each === null ? null : ['text', each])),
      ])
    fc.assert(
      fc.property(composition, composition, (one, other) => {
        const same = hashKey(...one) === hashKey(...other)
        expect(same).toBe(spell(one) === spell(other))
      }),
      runSize(5_000, 100_000),
    )
  })
})
