import { describe, expect, it } from 'vitest'
import type { Offset } from '@tidemark/core'
import { newFetchProgress, newStoppedFetchWatch, readFetchStates } from '../src/reading/fetch-states.ts'

const statistics = (partitions: Record<string, object>): string => JSON.stringify({ topics: { t: { partitions } } })
const state = (partition: number, fetching: boolean, unknown = false, nextOffset = -1) => {
  return { partition, fetching, unknown, nextOffset }
}

describe('fetch states', () => {
  it('[KAF-6] are read for the assigned topic only, without the internal partition', () => {
    const text = statistics({
      '0': { partition: 0, fetch_state: 'active', unknown: false, next_offset: 9_354 },
      '1': { partition: 1, fetch_state: 'none' },
      '2': { partition: 2, fetch_state: 'offset-query', unknown: true },
      '-1': { partition: -1, fetch_state: 'none' },
    })
    expect(readFetchStates(text, 't')).toEqual([state(0, true, false, 9_354), state(1, false), state(2, true, true)])
    expect(readFetchStates(text, 'other')).toEqual([])
    expect(readFetchStates(text, 'constructor')).toEqual([])
    for (const odd of ['', 'null{', '{}', '{"topics":{}}', '{"topics":{"t":{}}}'])
      expect(readFetchStates(odd, 't')).toEqual([])
  })

  it('[KAF-6] a partition that two reports in a row find stopped is named; one report is not enough', () => {
    const watch = newStoppedFetchWatch(new Set([0, 1]))
    expect(watch.report([state(0, false), state(1, true)])).toBeUndefined()
    expect(watch.report([state(0, true), state(1, true)])).toBeUndefined()
    expect(watch.report([state(0, true), state(1, false)])).toBeUndefined()
    expect(watch.report([state(0, false), state(1, false)])).toEqual({ partition: 1, unknown: false })
  })

  it('[KAF-6] a partition the client no longer knows is named, one that is not assigned never', () => {
    const watch = newStoppedFetchWatch(new Set([0]))
    const reports = [state(0, true, true), state(5, false)]
    expect(watch.report(reports)).toBeUndefined()
    expect(watch.report(reports)).toEqual({ partition: 0, unknown: true })
  })

  it('[KAF-10] fetching gets on where a partition is asked for further than ever, and by nothing else', () => {
    const progress = newFetchProgress([0, 1].map((partition) => ({ partition, nextOffset: 10n as Offset })))
    const moved = (...offsets: readonly number[]): boolean =>
      progress.moved(offsets.map((nextOffset, partition) => ({ partition, nextOffset })))
    // Before the first answer, and at the assigned positions, nothing has come.
    expect([moved(-1001, -1001), moved(10, 10), moved(10, 11), moved(10, 11)]).toEqual([false, false, true, false])
    expect([moved(12, 11), moved(-1001, 11), moved(12, 11), moved(12, 11, 500)]).toEqual([true, false, false, false])
  })
})
