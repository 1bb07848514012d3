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
})
