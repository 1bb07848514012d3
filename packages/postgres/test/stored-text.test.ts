import { describe, expect, it } from 'vitest'
import { isWellFormed } from '@tidemark/core'
import { prefixEnd, readPartitionKey } from '../src/checkpoint/key-layout.ts'
import { fromStored, indexId, isDigestId, textArray, toStored } from '../src/checkpoint/stored-text.ts'

const sub = '\u001a'

describe('stored texts', () => {
  it('[PGS-15] every text comes back, and no two are stored alike', () => {
    const pieces = ['', 'a', '\u0000', sub, `${sub}0`, `${sub}1`, '0', '1', '#', '💧', '\\', '"']
    const texts = pieces.flatMap((a) => pieces.flatMap((b) => pieces.map((c) => a + b + c)))
    const distinct = new Set(texts)
    for (const text of distinct) {
      expect(fromStored(toStored(text))).toBe(text)
      expect(toStored(text)).not.toContain('\u0000')
    }
    expect(new Set([...distinct].map(toStored)).size).toBe(distinct.size)
  })

  it('[PGS-15] a long text is indexed by its beginning and a digest, and never met by a short one', () => {
    const long = 'x'.repeat(600)
    const id = indexId(long)
    expect(isDigestId(id)).toBe(true)
    expect(Buffer.byteLength(id)).toBeLessThan(512)
    expect(indexId(`${long}y`)).not.toBe(id)
    expect(isDigestId(indexId('x'.repeat(512)))).toBe(false)
    expect(isDigestId(indexId('é'.repeat(257)))).toBe(true)
    // The text that looks like an id is stored in another form.
    expect(indexId(id)).not.toBe(id)
    // The beginning is cut between characters.
    expect(isWellFormed(indexId('💧'.repeat(300)))).toBe(true)
    expect(indexId(`${'x'.repeat(127)}${'\u0000'.repeat(600)}`)).toContain(`${sub}#`)
  })

  it('writes arrays that the server reads as they were meant', () => {
    expect(textArray([])).toBe('{}')
    expect(textArray(['a', '', 'NULL', '"\\', '{,}', undefined])).toBe('{"a","","NULL","\\"\\\\","{,}",NULL}')
  })

  it('knows where the texts of a prefix end', () => {
    expect(prefixEnd('ab')).toBe('ac')
    expect(prefixEnd('a\u{10ffff}')).toBe('b')
    expect(prefixEnd('a\ud7ff')).toBe('a\ue000')
    expect(prefixEnd('\u{10ffff}')).toBeUndefined()
  })

  it('tells the keys of a namespace from those of one nested in it', () => {
    expect(readPartitionKey('ns:checkpoint:', 'ns:checkpoint:orders:17')).toEqual({ topic: 'orders', partition: 17 })
    for (const key of ['ns:checkpoint:x:checkpoint:orders:1', 'ns:checkpoint:orders:01', 'ns:checkpoint:orders']) {
      expect(readPartitionKey('ns:checkpoint:', key)).toBeUndefined()
    }
  })
})
