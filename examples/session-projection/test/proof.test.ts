import type { ProjectedDataReader, ProjectedValue } from '@tidemark/checkpoint'
import { encodeOffset, offsetOf } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { renderProof } from '../src/demo/proof-table.ts'
import { encodeDispatch } from '../src/dispatch-record.ts'
import { compareSessions } from '../src/proof/compare-sessions.ts'
import { createDispatchSource } from '../src/proof/dispatch-source.ts'
import { createLoggedSessions } from '../src/proof/logged-sessions.ts'
import { replayWindows } from '../src/proof/replay-window.ts'

/** Record `offset` of partition 0: conversation `c<offset>` for two users, at a time of its own. */
function record(offset: number, partition = 0): LogRecord {
  const createdAt = 1_000 * partition + offset + 1
  const dispatch = {
    dispatchId: `d${offset}`,
    conversationId: `c${partition}-${offset % 3}`,
    createdAt,
    recipients: ['ada', 'bob'],
  }
  const value = encodeDispatch(dispatch)
  return { partition, offset: offsetOf(offset), leaderEpoch: 0, timestampMs: 0, key: null, value, headers: [] }
}

function loggedUpTo(...ends: readonly number[]) {
  const logged = createLoggedSessions()
  for (const [partition, end] of ends.entries()) {
    for (let offset = 0; offset < end; offset += 1) logged.take(record(offset, partition))
  }
  return logged
}

/** A store into which the first so many records of each partition were applied, then a hand reached in. */
function storeOf(
  applied: readonly number[],
  reach: (data: Map<string, Map<string, number>>) => void = () => {},
): ProjectedDataReader {
  const data = new Map(
    [...loggedUpTo(...applied).sessions].map(([user, sessions]) => [`convs:${user}`, new Map(sessions)]),
  )
  reach(data)
  return {
    readValues: async (keys) =>
      keys.map((key): ProjectedValue => {
        const scores = data.get(key)
        return scores === undefined ? { kind: 'absent' } : { kind: 'sorted-set', scores }
      }),
  }
}

describe('the comparison of sessions', () => {
  it('finds nothing where nothing differs', async () => {
    const compared = await compareSessions(loggedUpTo(9).sessions, storeOf([9]), ['ghost'])
    expect(compared).toEqual({ users: 3, sessions: 6, lost: [], unexplained: [] })
  })

  it('finds a session that is missing, and one that is older than the log says', async () => {
    const store = storeOf([9], (data) => {
      data.get('convs:ada')!.delete('c0-1')
      data.get('convs:bob')!.set('c0-2', 6)
    })
    const { lost, unexplained } = await compareSessions(loggedUpTo(9).sessions, store)
    expect(unexplained).toEqual([])
    expect(lost).toEqual([
      { user: 'ada', conversationId: 'c0-1', expected: 8, found: undefined },
      { user: 'bob', conversationId: 'c0-2', expected: 9, found: 6 },
    ])
  })

  it('finds what no committed record put there', async () => {
    const store = storeOf([9], (data) => {
      data.get('convs:ada')!.set('c0-1', 77)
      data.set('convs:ghost', new Map([['aborted', 5]]))
    })
    const { lost, unexplained } = await compareSessions(loggedUpTo(9).sessions, store, ['ghost'])
    expect(lost).toEqual([])
    expect(unexplained).toEqual([
      { user: 'ada', conversationId: 'c0-1', expected: 8, found: 77 },
      { user: 'ghost', conversationId: 'aborted', expected: undefined, found: 5 },
    ])
  })
})

describe('the window a crash leaves', () => {
  it('is empty when data and position were written together', async () => {
    const windows = await replayWindows(loggedUpTo(9).dispatches, new Map([[0, offsetOf(4)]]), storeOf([4]))
    expect(windows).toEqual([{ partition: 0, nextOffset: 4n, replayed: 0, lost: 0 }])
  })

  it.each([1, 2, 3, 5])('counts %d records that are applied beyond the position', async (beyond) => {
    const windows = await replayWindows(loggedUpTo(9).dispatches, new Map([[0, offsetOf(4)]]), storeOf([4 + beyond]))
    expect(windows).toEqual([{ partition: 0, nextOffset: 4n, replayed: beyond, lost: 0 }])
  })

  it('counts a record that is applied for one recipient only', async () => {
    const store = storeOf([4], (data) => data.get('convs:bob')!.set('c0-1', 5))
    const [window] = await replayWindows(loggedUpTo(9).dispatches, new Map([[0, offsetOf(4)]]), store)
    expect(window).toMatchObject({ replayed: 1, lost: 0 })
  })

  it('finds a position that is ahead of the data, also for one recipient of one partition', async () => {
    const positions = new Map([
      [0, offsetOf(5)],
      [1, offsetOf(5)],
    ])
    const store = storeOf([5, 5], (data) => data.get('convs:bob')!.delete('c1-1'))
    const windows = await replayWindows(loggedUpTo(9, 9).dispatches, positions, store)
    expect(windows.map(({ partition, lost }) => [partition, lost])).toEqual([
      [0, 0],
      [1, 2],
    ])
  })

  it('takes a partition without a position for one that nothing was applied of', async () => {
    const [window] = await replayWindows(loggedUpTo(9).dispatches, new Map(), storeOf([2]))
    expect(window).toEqual({ partition: 0, nextOffset: 0n, replayed: 2, lost: 0 })
    expect(encodeOffset(window!.nextOffset)).toBe('0')
  })
})

describe('the dispatch source', () => {
  it('gives every dispatch a time of its own, and names users of aborted ones in no other', () => {
    const source = createDispatchSource({ users: 20, startMs: 5, random: Math.random })
    const logged = createLoggedSessions()
    const messages = [...source.next(50), ...source.nextAborted(50), ...source.next(50)]
    for (const [offset, message] of messages.entries()) logged.take({ ...record(offset), value: message.value })
    expect(new Set(logged.dispatches.map(({ dispatch }) => dispatch.createdAt)).size).toBe(150)
    expect([...source.abortedUsers].filter((user) => source.users.has(user))).toEqual([])
    expect([...logged.sessions.keys()].sort()).toEqual([...source.users, ...source.abortedUsers].sort())
  })
})

describe('the proof table', () => {
  const good = { what: 'lost', measured: 0, due: '0', holds: true }

  it('holds only when every row does, and says so in its last line', () => {
    expect(renderProof([good, { ...good, what: 'replays', measured: 25 }])).toEqual({
      text: 'ok      lost      0  (0)\nok      replays  25  (0)\nproof: sessions equal those recomputed from the log',
      holds: true,
    })
    expect(renderProof([good, { ...good, measured: 3, holds: false }])).toEqual({
      text: 'ok      lost  0  (0)\nBROKEN  lost  3  (0)\nproof: FAILED',
      holds: false,
    })
  })
})
