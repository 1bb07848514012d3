import { describe, expect, it } from 'vitest'
import { readDuration, renderDuration } from '../../src/index.ts'

describe('durations', () => {
  it.each([
    ['0ms', 0],
    ['0d', 0],
    ['1ms', 1],
    ['999ms', 999],
    ['1s', 1_000],
    ['90m', 5_400_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['9007199254740991ms', Number.MAX_SAFE_INTEGER],
    ['104249991d', 104_249_991 * 86_400_000],
  ])('[WIN-1] reads %s exactly', (text, ms) => {
    expect(readDuration(text)).toEqual({ kind: 'duration', ms })
  })

  it.each([
    ...[
      '',
      '5',
      'm',
      '5 m',
      ' 5m',
      '5m ',
      '5m\n',
      '-5m',
      '+5m',
      '05m',
      '00m',
      '1.5h',
      '1e3ms',
      '0x5m',
      '5M',
      '5min',
      '5w',
    ],
    ...['1h30m', '5m5m', '٥m', '5ｍ', 'PT5M', '5_000ms', '∞d', 'NaNms', '5mm', '5us', '5y'],
  ])('[WIN-1] refuses %j', (text) => {
    expect(readDuration(text)).toEqual({ kind: 'refused', reason: expect.stringContaining('15m') })
  })

  it.each(['9007199254740992ms', '9007199254741s', '104249992d', `${'9'.repeat(400)}d`])(
    '[WIN-1] refuses %s, which whole milliseconds cannot say exactly',
    (text) => {
      expect(readDuration(text)).toEqual({ kind: 'refused', reason: expect.stringContaining('exactly') })
    },
  )

  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [1_000, '1s'],
    [1_001, '1001ms'],
    [60_000, '1m'],
    [90_000, '90s'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
    [90_000_000, '25h'],
    [172_800_000, '2d'],
  ])('[WIN-1] writes %d in the largest unit that says it: %s', (ms, text) => {
    expect(renderDuration(ms)).toBe(text)
  })
})
