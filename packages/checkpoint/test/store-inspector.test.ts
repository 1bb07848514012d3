import { describe, expect, it } from 'vitest'
import { newestEntries } from '@tidemark/checkpoint'

describe('the newest entries of a listing', () => {
  it('are those of the highest offsets, as numbers, whatever order they come in', () => {
    const entries = newestEntries(3)
    for (const offset of ['9', '100', '20', '3', '18446744073709551615', '11']) entries.add(offset, `e${offset}`)
    expect(entries.newest()).toEqual([
      { offset: '18446744073709551615', text: 'e18446744073709551615' },
      { offset: '100', text: 'e100' },
      { offset: '20', text: 'e20' },
    ])
  })

  it('keep what is no offset behind all that is one', () => {
    const entries = newestEntries(3)
    for (const offset of ['x', '007', '1']) entries.add(offset, '')
    expect(entries.newest().map(({ offset }) => offset)).toEqual(['1', 'x', '007'])
  })

  it('hold a bounded number of a listing of any length', () => {
    const entries = newestEntries(2)
    for (let offset = 0; offset < 100_000; offset += 1) entries.add(String((offset * 7_919) % 100_003), '')
    expect(entries.newest().map(({ offset }) => offset)).toEqual(['100002', '100001'])
    expect(newestEntries(0).newest()).toEqual([])
  })
})
