import { describe, expect, it } from 'vitest'
import type { Offset } from '@tidemark/core'
import type { LogReader, LogRecord, PollResult } from '@tidemark/log'
import { bytesOfReadBack, readBackRecords } from '../src/reading/read-back.ts'
import type { OpenReader } from '../src/reading/read-back.ts'

const record = (partition: number, offset: number): LogRecord => ({
  partition,
  offset: BigInt(offset) as Offset,
  leaderEpoch: 0,
  timestampMs: 0,
  key: null,
  value: null,
  headers: [],
})
const batch = (partition: number, offsets: readonly number[], end?: number) => ({
  partition,
  records: offsets.map((offset) => record(partition, offset)),
  ...(end === undefined ? {} : { endOffset: BigInt(end) as Offset }),
})
const fetched = (...batches: ReturnType<typeof batch>[]): PollResult => ({ kind: 'fetched', batches })

/** Opens readers that answer from a list, one list per round. */
function scripted(
  rounds: PollResult[][],
): OpenReader & { readonly opened: string[]; readonly paused: number[][]; closed: string[] } {
  const state = { opened: [] as string[], paused: [] as number[][], closed: [] as string[] }
  const open = (async (request) => {
    state.opened.push(request.positions.map(({ partition, nextOffset }) => `${partition}@${nextOffset}`).join(' '))
    const answers = rounds.shift() ?? []
    return {
      poll: async ({ waitMs }) => {
        const next = answers.shift()
        if (next === undefined) await new Promise((resolve) => setTimeout(resolve, waitMs))
        return next ?? fetched()
      },
      pause: (partitions) => void state.paused.push([...partitions]),
      resume: () => undefined,
      describeTopic: async () => ({ kind: 'no-answer', reason: 'unsupported', message: '' }),
      close: async () => void state.closed.push(request.topic),
    } satisfies LogReader
  }) as OpenReader
  return Object.assign(open, state)
}

const read = async (wanted: readonly (readonly [number, number])[], open: OpenReader, deadlineMs = 2000) => {
  const records = wanted.map(([partition, offset]) => ({ partition, offset: BigInt(offset) as Offset }))
  const answers = await readBackRecords({ topic: 't', records, deadlineMs }, open)
  return answers.map((answer) => `${answer.partition}@${answer.offset} ${answer.kind}`).sort()
}

describe('reading back', () => {
  it('[KAF-10] the first record or the end of each partition decides, and a decided one is fetched no more', async () => {
    const open = scripted([
      [
        fetched(batch(0, [5, 6])),
        fetched(batch(1, [9])),
        fetched(),
        fetched(batch(2, [], 7)),
        fetched(batch(3, [], 8)),
      ],
    ])
    expect(
      await read(
        [
          [0, 5],
          [1, 8],
          [2, 7],
          [3, 2],
        ],
        open,
      ),
    ).toEqual(['0@5 record', '1@8 absent', '2@7 unreadable', '3@2 absent'])
    expect(open.opened).toEqual(['0@5 1@8 2@7 3@2'])
    expect(open.paused).toEqual([[0], [1], [2]])
  })

  it('[KAF-10] offsets of one partition near each other are read in one go, far ones in rounds of their own', async () => {
    const open = scripted([
      [fetched(batch(0, [5]), batch(1, [1])), fetched(batch(0, [7, 8])), fetched(batch(0, [], 10))],
      [fetched(batch(0, [5_000]))],
    ])
    expect(
      await read(
        [
          [0, 5_000],
          [0, 5],
          [0, 6],
          [1, 1],
          [0, 8],
          [0, 9],
        ],
        open,
      ),
    ).toEqual(['0@5 record', '0@5000 record', '0@6 absent', '0@8 record', '0@9 absent', '1@1 record'])
    expect(open.opened).toEqual(['0@5 1@1', '0@5000'])
  })

  it('[KAF-10] an opening that fails is told; a later one costs only its own round', async () => {
    const failing: OpenReader = async () => {
      throw new Error('no broker')
    }
    await expect(read([[0, 5]], failing)).rejects.toThrow('no broker')
    const first = scripted([[fetched(batch(0, [5]))]])
    const once: OpenReader = (request) => (first.opened.length === 0 ? first(request) : failing(request))
    const both = [
      [0, 5],
      [0, 5_000],
    ] as const
    expect(await read(both, once)).toEqual(['0@5 record', '0@5000 unreadable'])
  })

  it('[KAF-10] what is not proven by the deadline, or when the reader fails, is unreadable', async () => {
    expect(
      await read(
        [
          [0, 5],
          [1, 5],
        ],
        scripted([[fetched(batch(0, [5]))]]),
        300,
      ),
    ).toEqual(['0@5 record', '1@5 unreadable'])
    const failing: PollResult = {
      kind: 'failed',
      failure: { reason: 'out-of-range', partition: undefined, message: 'm' },
    }
    const open = scripted([[fetched(batch(0, [5])), failing]])
    expect(
      await read(
        [
          [0, 5],
          [1, 5],
        ],
        open,
      ),
    ).toEqual(['0@5 record', '1@5 unreadable'])
    expect(open.closed).toEqual(['t'])
    expect(await read([[0, 5]], scripted([]), 0)).toEqual(['0@5 unreadable'])
    expect(await read([], scripted([]))).toEqual([])
  })

  it('[KAF-10] fetches little where single records are wanted, and as much as a reader where a stretch is long', () => {
    const bytes = (...lengths: readonly (number | undefined)[]): number =>
      bytesOfReadBack(
        lengths.map((length, partition) => ({
          partition,
          offset: 7n as Offset,
          ...(length === undefined ? {} : { before: BigInt(7 + length) as Offset }),
        })),
      )
    expect(bytes(undefined, undefined)).toBe(65_536)
    expect(bytes(undefined, 1, 600)).toBe(65_536)
    expect(bytes(3, 5_000, undefined)).toBe(500_000)
    expect(bytes(2 ** 50)).toBe(1_048_576)
  })
})
