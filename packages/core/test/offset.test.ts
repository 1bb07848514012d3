import {
  decodeOffset,
  encodeOffset,
  isTidemarkError,
  maxOffset,
  nextOffset,
  OFFSET_MAX,
  offsetOf,
} from '@tidemark/core'
import { describe, expect, it } from 'vitest'

const codeOf = (attempt: () => unknown): string => {
  try {
    attempt()
    return 'none'
  } catch (error) {
    return isTidemarkError(error) ? error.code : `untyped: ${String(error)}`
  }
}

describe('offsets', () => {
  it('[COR-1] are exact from 0 to 2^63-1', () => {
    for (const value of [0, 1, 9_007_199_254_740_991, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
      expect(offsetOf(value)).toBe(BigInt(value))
    }
    expect(offsetOf(-0)).toBe(0n)
  })

  it.each([-1, 1.5, Number.NaN, Infinity, 2 ** 53, -1n, 2n ** 63n, '5' as unknown as number])(
    '[COR-1] refuse %s and say where it came from',
    (value) => {
      expect(codeOf(() => offsetOf(value))).toBe('TM_CORE_OFFSET_INVALID')
      expect(() => offsetOf(value, 'partition 3')).toThrow(/^partition 3: /)
    },
  )

  it('[COR-1] the one after the last does not exist', () => {
    expect(nextOffset(offsetOf(41))).toBe(42n)
    expect(codeOf(() => nextOffset(OFFSET_MAX))).toBe('TM_CORE_OFFSET_INVALID')
    expect(maxOffset(offsetOf(2), offsetOf(10))).toBe(10n)
    expect(maxOffset(offsetOf(10), offsetOf(2))).toBe(10n)
  })

  it.each([
    '',
    '-1',
    '-0',
    '007',
    '00',
    '1e3',
    '1.5',
    '+1',
    ' 1',
    '1 ',
    '1\n',
    '0x10',
    '１',
    '٣',
    '1_000',
    '9223372036854775808',
    '9'.repeat(20),
    'null',
  ])('[COR-2] the text %j is no offset', (text) => {
    expect(decodeOffset(text)).toBeUndefined()
  })

  it('[COR-1] [COR-2] are read exactly on both sides of what a number can hold', () => {
    for (const digits of [14, 15, 16, 17, 18]) {
      for (const text of ['9'.repeat(digits), `1${'0'.repeat(digits - 1)}`, `1${'0'.repeat(digits - 2)}7`]) {
        expect(decodeOffset(text)).toBe(BigInt(text))
      }
    }
  })

  it('[COR-2] canonical texts are read exactly', () => {
    for (const text of ['0', '7', '17', '9007199254740993', '9223372036854775807']) {
      expect(encodeOffset(decodeOffset(text)!)).toBe(text)
    }
  })
})
