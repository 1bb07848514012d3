import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Offset } from '@tidemark/core'
import { createCancelSource, systemClock } from '@tidemark/core'
import type { LogRecord, PollResult, ReadBackRequest } from '@tidemark/log'
import { bytesOfReadBack, readBackRecords } from '../src/reading/read-back.ts'
import type { OpenReader } from '../src/reading/read-back.ts'
import type { ServedReader } from '../src/reading/served-reader.ts'

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
      servedUntilMs: () => 0,
    } satisfies ServedReader
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

/** A log of aborted records alone: it hands out nothing, and only says until when it serves. */
function moving(servedUntilMs: (passedMs: number) => number, endAfterMs: number): OpenReader {
  return async () => {
    const openedMs = systemClock.monotonicMs()
    const passedMs = (): number => systemClock.monotonicMs() - openedMs
    return {
      poll: async ({ waitMs }) => {
        await systemClock.sleep(waitMs)
        return passedMs() < endAfterMs ? fetched() : fetched(batch(0, [], 1_000))
      },
      pause: () => undefined,
      resume: () => undefined,
      describeTopic: async () => ({ kind: 'no-answer', reason: 'unsupported', message: '' }),
      close: async () => undefined,
      servedUntilMs: () => openedMs + servedUntilMs(passedMs()),
    } satisfies ServedReader
  }
}

/** Something arrives all the time, and none of it is handed out. */
const always = (passedMs: number): number => passedMs
const never = 10_000_000

/** Reads one long stretch back, in time that passes by hand. */
async function through(
  open: OpenReader,
  limits: Pick<ReadBackRequest, 'deadlineMs' | 'totalMsMax'>,
  cancelAfterMs = never,
): Promise<{ readonly answer: string; readonly spentMs: number }> {
  const passed = { partition: 0, offset: 5n as Offset, before: 900n as Offset }
  const source = createCancelSource()
  const startedMs = systemClock.monotonicMs()
  let spentMs: number | undefined
  const request = { topic: 't', records: [passed], ...limits, signal: source.signal }
  const reading = readBackRecords(request, open).finally(() => (spentMs = systemClock.monotonicMs() - startedMs))
  for (let step = 0; step < 10_000 && spentMs === undefined; step += 1) {
    await vi.advanceTimersByTimeAsync(50)
    if (systemClock.monotonicMs() - startedMs >= cancelAfterMs) source.cancel()
  }
  if (spentMs === undefined) throw new Error('it never settled')
  const [answer] = await reading
  return { answer: answer?.kind === 'unreadable' ? answer.message : `${answer?.kind}`, spentMs }
}

describe('how long reading back goes on', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('[KAF-10] a stretch that takes many deadlines is read through while something comes', async () => {
    const limits = { deadlineMs: 5_000, totalMsMax: 600_000 }
    expect(await through(moving(always, 200_000), limits)).toMatchObject({ answer: 'absent' })
  })

  it('[KAF-10] a rest that a broker asked for is no silence', async () => {
    const limits = { deadlineMs: 5_000, totalMsMax: 600_000 }
    expect(
      await through(
        moving(() => 30_000, 34_000),
        limits,
      ),
    ).toMatchObject({ answer: 'absent' })
    expect(
      await through(
        moving(() => 30_000, 36_000),
        limits,
      ),
    ).toMatchObject({
      answer: 'no record and no end, and nothing came for 5000 ms',
    })
  })

  it.each([0, 40_000])('[KAF-10] silence from %i ms on ends it after the deadline', async (silentAfterMs) => {
    const stopping = moving((passedMs) => Math.min(passedMs, silentAfterMs), never)
    const { answer, spentMs } = await through(stopping, { deadlineMs: 5_000, totalMsMax: 600_000 })
    expect(answer).toBe('no record and no end, and nothing came for 5000 ms')
    expect(spentMs).toBeGreaterThanOrEqual(silentAfterMs + 5_000)
    expect(spentMs).toBeLessThan(silentAfterMs + 5_500)
  })

  it('[KAF-10] the total ends it however well it gets on, and where none is said the deadline does', async () => {
    const limited = { deadlineMs: 5_000, totalMsMax: 12_000 }
    for (const open of [moving(always, never), moving(() => never, never)]) {
      const { answer, spentMs } = await through(open, limited)
      expect(answer).toBe('no record and no end within 12000 ms')
      expect(spentMs).toBeLessThan(12_500)
    }
    const { answer, spentMs } = await through(moving(always, never), { deadlineMs: 5_000 })
    expect(answer).toBe('no record and no end within 5000 ms')
    expect(spentMs).toBeLessThan(5_500)
  })

  it('[KAF-10] a cancel ends it while it gets on', async () => {
    const { answer, spentMs } = await through(moving(always, never), { deadlineMs: 5_000, totalMsMax: 600_000 }, 20_000)
    expect(answer).toBe('cancelled')
    expect(spentMs).toBeLessThan(20_500)
  })
})
