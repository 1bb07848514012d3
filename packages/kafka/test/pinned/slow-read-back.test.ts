import * as client from '@platformatic/kafka'
import { systemClock, topicIdOf } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BrokerConnections, Exchange } from '../../src/inspection/broker-connections.ts'
import { newDecompress } from '../../src/pinned/batch-compression.ts'
import type { FetchAnswer } from '../../src/pinned/fetch-answer.ts'
import { newPinnedReader } from '../../src/pinned/pinned-reader.ts'
import { readBackRecords } from '../../src/reading/read-back.ts'
import type { OpenReader } from '../../src/reading/read-back.ts'
import { batchBytes, markerBytes } from './batch-bytes.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')
const producerId = 7n
const perAnswer = 100
const answersToEnd = 20
/** Twenty answers of aborted records, and the marker. */
const end = BigInt(answersToEnd * perAnswer + 1)

/** What the leader answers to its n-th fetch about one partition of aborted records. */
function aborted(n: number): Exchange<FetchAnswer> {
  const base = BigInt(n * perAnswer)
  const records = Array.from({ length: perAnswer }, (_, delta) => ({ delta }))
  const batch = batchBytes({ base, records, producerId, transactional: true })
  const last = n === answersToEnd - 1 ? [markerBytes(end - 1n, producerId, 'abort')] : []
  return answer(0, n < answersToEnd ? Buffer.concat([batch, ...last]) : undefined)
}

function answer(throttleMs: number, records?: Buffer): Exchange<FetchAnswer> {
  const bounds = { highWatermark: end, lastStableOffset: end, logStartOffset: 0n }
  const about = { topicId, partition: 0, errorCode: 0, diverging: undefined, ...bounds }
  const partition = { ...about, aborted: [{ producerId, firstOffset: 0n }], records }
  return { kind: 'answer', answer: { throttleMs, errorCode: 0, partitions: throttleMs > 0 ? [] : [partition] } }
}

/** One leader that answers its n-th fetch after a while, or never. */
function leaderOf(
  script: (n: number) => { readonly afterMs: number; readonly exchange: Exchange<FetchAnswer> } | 'silence',
) {
  let fetches = 0
  const open: OpenReader = async ({ topic, positions }) => {
    const hangUps: (() => void)[] = []
    const silence = { kind: 'silence', reason: 'unreachable', message: 'closed' } as const
    const connections: BrokerConnections = {
      exchange: <T>() =>
        new Promise<Exchange<T>>((resolve) => {
          hangUps.push(() => resolve(silence))
          const next = script(fetches++)
          if (next !== 'silence') setTimeout(() => resolve(next.exchange as Exchange<T>), next.afterMs)
        }),
      close: async () => hangUps.forEach((hangUp) => hangUp()),
    }
    const leaders = new Map([[0, { leaderId: 1, leaderEpoch: 3 }]])
    return newPinnedReader({
      topic,
      topicId,
      positions,
      connections,
      leaders: {
        addressOf: () => ({ host: 'b', port: 1 }),
        ask: async () => ({ kind: 'described', topicId, partitionCount: 1, leaders }),
      },
      codecs: { decompress: newDecompress(client), crc32c: client.crc32c },
      limits: {
        fetchWaitMs: 500,
        fetchBytesMax: 1_000_000,
        partitionBytesMax: 65_536,
        bufferedBytesMax: 4_000_000,
        requestMsMax: 30_000,
        unavailableMsMax: 60_000,
      },
      onClosed: () => undefined,
    })
  }
  return open
}

async function readBack(open: OpenReader): Promise<{ readonly answer: string; readonly spentMs: number }> {
  const records = [{ partition: 0, offset: 0n as Offset, before: end as Offset }]
  const startedMs = systemClock.monotonicMs()
  let spentMs: number | undefined
  const request = { topic: 't', records, deadlineMs: 5_000, totalMsMax: 600_000 }
  const reading = readBackRecords(request, open).finally(() => (spentMs = systemClock.monotonicMs() - startedMs))
  for (let step = 0; step < 5_000 && spentMs === undefined; step += 1) await vi.advanceTimersByTimeAsync(100)
  if (spentMs === undefined) throw new Error('it never settled')
  const [told] = await reading
  return { answer: told?.kind === 'unreadable' ? told.message : `${told?.kind}`, spentMs }
}

const notLeader = 6
const nothingCame = 'no record and no end, and nothing came for 5000 ms'

describe('a pinned read-back of a long passed stretch', () => {
  it('[KAF-10] [KAF-29] is read through by a leader that takes many deadlines for it but moves', async () => {
    const { answer: told, spentMs } = await readBack(leaderOf((n) => ({ afterMs: 3_000, exchange: aborted(n) })))
    expect(told).toBe('absent')
    expect(spentMs).toBeGreaterThanOrEqual(answersToEnd * 3_000)
  })

  it('[KAF-10] [KAF-29] is read through by a leader that lets its reader wait much longer than a deadline', async () => {
    const open = leaderOf((n) => ({ afterMs: 10, exchange: n % 2 === 0 ? aborted(n / 2) : answer(11_000) }))
    const { answer: told, spentMs } = await readBack(open)
    expect(told).toBe('absent')
    expect(spentMs).toBeGreaterThan((answersToEnd - 1) * 11_000)
  })

  it.each([0, 3])('[KAF-10] [KAF-29] is given up within a deadline of silence after %i answers', async (answers) => {
    const open = leaderOf((n) => (n < answers ? { afterMs: 3_000, exchange: aborted(n) } : 'silence'))
    const { answer: told, spentMs } = await readBack(open)
    expect(told).toBe(nothingCame)
    expect(spentMs).toBeLessThan(answers * 3_000 + 6_000)
  })

  it('[KAF-10] [KAF-29] is given up too when only empty answers or refusals come', async () => {
    const about = (errorCode: number): Exchange<FetchAnswer> => {
      const { answer: empty } = answer(0) as Extract<Exchange<FetchAnswer>, { kind: 'answer' }>
      return {
        kind: 'answer',
        answer: { ...empty, partitions: empty.partitions.map((one) => ({ ...one, errorCode })) },
      }
    }
    for (const errorCode of [0, notLeader]) {
      const { answer: told, spentMs } = await readBack(leaderOf(() => ({ afterMs: 400, exchange: about(errorCode) })))
      expect(told).toBe(nothingCame)
      expect(spentMs).toBeLessThan(6_000)
    }
  })
})
