import { createHash } from 'node:crypto'
import { hashKey, isTidemarkError, sha256Hex, utf8Length } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

describe('key hashing', () => {
  it('[COR-7] is SHA-256 in lower-case hexadecimal', () => {
    expect(sha256Hex(['abc'])).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(sha256Hex(['a', new Uint8Array([98]), 'c'])).toBe(sha256Hex(['abc']))
  })

  it('[COR-7] keeps apart what joining would merge', () => {
    const keys = [
      hashKey('d', 1, ['w1|u', '2']),
      hashKey('d', 1, ['w1', 'u|2']),
      hashKey('d', 1, ['w1', 'u', '2']),
      hashKey('d', 1, ['w1|u2']),
      hashKey('d', 1, ['']),
      hashKey('d', 1, [null]),
      hashKey('d', 1, []),
      hashKey('d', 1, ['', '']),
      hashKey('d', 1, [new Uint8Array()]),
      hashKey('d', 1, ['a']),
      hashKey('d', 1, [new TextEncoder().encode('a')]),
      hashKey('d', 2, ['a']),
      hashKey('e', 1, ['a']),
      // Composed and decomposed spellings look alike and are two strings.
      hashKey('d', 1, ['\u00e9']),
      hashKey('d', 1, ['e\u0301']),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('[COR-7] refuses a lone surrogate, which UTF-8 would merge with all others', () => {
    let thrown: unknown
    try {
      hashKey('window', 1, ['fine', '\ud800'])
    } catch (error) {
      thrown = error
    }
    expect(isTidemarkError(thrown, 'TM_CORE_KEY_PART_INVALID')).toBe(true)
    expect(thrown).toMatchObject({ details: { domain: 'window', part: 1 } })
  })

  it('[COR-7] counts UTF-8 bytes as the encoder does', () => {
    for (const text of ['', 'a', 'é', '€', '💧', '\u0000', 'a€💧é'.repeat(50)]) {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).byteLength)
    }
  })

  it('[COR-7] hashes the domain, the version and every part behind its type and its length in bytes', () => {
    const framed = (type: number, bytes: Uint8Array): Buffer => {
      const head = Buffer.alloc(5)
      head.writeUInt8(type, 0)
      head.writeUInt32BE(bytes.byteLength, 1)
      return Buffer.concat([head, bytes])
    }
    const framedPart = (part: string | Uint8Array | null): Buffer => {
      if (part === null) return framed(0, new Uint8Array())
      return typeof part === 'string' ? framed(1, Buffer.from(part, 'utf8')) : framed(2, part)
    }
    const texts = [
      '',
      'a',
      '\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff',
      '\u{10000}x\u{10ffff}',
      'k'.repeat(6_000),
      '€'.repeat(6_000),
    ]
    const bytes = [new Uint8Array(), Uint8Array.of(0, 255), new Uint8Array(17_000).fill(7)]
    for (const parts of [
      [],
      [null],
      ...[...texts, ...bytes].map((part) => [part]),
      texts,
      [...bytes, null, ...texts],
    ]) {
      const whole = Buffer.concat([framedPart('tidemark:d'), framedPart('3'), ...parts.map(framedPart)])
      expect(hashKey('d', 3, parts)).toBe(createHash('sha256').update(whole).digest('hex'))
    }
  })

  it.each([
    '\ud800',
    '\udc00',
    'a\ud800b',
    '\udc00\ud800',
    `${'x'.repeat(20_000)}\ud800`,
    `\ud83d${'y'.repeat(20_000)}`,
  ])('[COR-7] refuses a lone surrogate wherever it stands, in a short key and in a long one', (text) => {
    expect(() => hashKey('window', 1, [null, text])).toThrow(/part 1 of key window/)
  })
})
