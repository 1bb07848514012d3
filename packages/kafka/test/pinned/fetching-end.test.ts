import * as client from '@platformatic/kafka'
import { topicIdOf } from '@tidemark/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BrokerConnections, Exchange } from '../../src/inspection/broker-connections.ts'
import { newDecompress } from '../../src/pinned/batch-compression.ts'
import type { FetchAnswer, PartitionAnswer } from '../../src/pinned/fetch-answer.ts'
import { startFetching } from '../../src/pinned/leader-fetching.ts'
import type { Fetching } from '../../src/pinned/leader-fetching.ts'
import { PartitionCursor } from '../../src/pinned/partition-cursor.ts'

const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')
const codecs = { decompress: newDecompress(client), crc32c: client.crc32c }
const waitMs = 500

type Answer = Exchange<FetchAnswer>

/** Fetching over brokers whose every answer is given by hand, or comes with the close of the connections. */
interface World {
  readonly fetching: Fetching
  readonly cursors: readonly PartitionCursor[]
  /** Fetches under way, by leader. */
  readonly waiting: Map<number, (answer: Answer) => void>
  fetches: number
  /** Questions for leaders that were begun. */
  asked: number
  closeConnections(): void
}

const closed: Answer = { kind: 'silence', reason: 'unreachable', message: 'closed' }
const silent: Answer = { kind: 'silence', reason: 'timeout', message: 'did not answer' }
const answered = (partitions: readonly PartitionAnswer[]): Answer => ({
  kind: 'answer',
  answer: { throttleMs: 0, errorCode: 0, partitions },
})
const refused = (partition: number, errorCode: number): Answer =>
  answered([
    {
      topicId,
      partition,
      errorCode,
      highWatermark: 0n,
      lastStableOffset: 0n,
      logStartOffset: 0n,
      diverging: undefined,
      aborted: [],
      records: undefined,
    },
  ])

/** Partition n is led by broker n + 1; a question for leaders takes `askMs`. */
function worldOf(partitions: number, askMs: number): World {
  const cursors = Array.from({ length: partitions }, (_, partition) => new PartitionCursor(partition, 0n, 65_536))
  const waiting = new Map<number, (answer: Answer) => void>()
  const leaders = new Map(cursors.map(({ partition }) => [partition, { leaderId: partition + 1, leaderEpoch: 4 }]))
  const world = { cursors, waiting, fetches: 0, asked: 0 }
  let open = true
  const connections: BrokerConnections = {
    exchange: <T>({ port }: { readonly port: number }) => {
      world.fetches += 1
      if (!open) return Promise.resolve(closed as Exchange<T>)
      return new Promise<Exchange<T>>((resolve) => waiting.set(port, resolve as (answer: Answer) => void))
    },
    close: async () => undefined,
  }
  const fetching = startFetching({
    topic: 't',
    topicId,
    cursors,
    connections,
    codecs,
    leaders: {
      addressOf: (brokerId) => ({ host: 'b', port: brokerId }),
      async ask() {
        world.asked += 1
        if (askMs > 0) await new Promise((resolve) => setTimeout(resolve, askMs))
        return { kind: 'described', topicId, partitionCount: partitions, leaders }
      },
    },
    limits: {
      fetchWaitMs: waitMs,
      fetchBytesMax: 1_000_000,
      partitionBytesMax: 65_536,
      bufferedBytesMax: 4_000_000,
      requestMsMax: 30_000,
      unavailableMsMax: 60_000,
    },
    arrived: () => undefined,
  })
  const closeConnections = (): void => {
    open = false
    for (const answer of waiting.values()) answer(closed)
  }
  return Object.assign(world, { fetching, closeConnections })
}

/** The fetches under way get this answer. */
async function answerAll(world: World, answer: Answer): Promise<void> {
  const asked = [...world.waiting.values()]
  world.waiting.clear()
  for (const give of asked) give(answer)
  await vi.advanceTimersByTimeAsync(0)
}

/** As a reader is closed: connections first, so that nothing waits at a broker. */
async function end(world: World): Promise<void> {
  world.closeConnections()
  let stopped = false
  void world.fetching.stop().then(() => (stopped = true))
  // In small steps, so that what is left behind is still there to be seen.
  for (let step = 0; step < 300 && !stopped; step += 1) await vi.advanceTimersByTimeAsync(10)
  expect(stopped).toBe(true)
}

async function expectNothingMore(world: World): Promise<void> {
  expect(vi.getTimerCount()).toBe(0)
  const { fetches, asked } = world
  await vi.advanceTimersByTimeAsync(60_000)
  expect({ fetches: world.fetches, asked: world.asked }).toEqual({ fetches, asked })
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('fetching that has ended', () => {
  it('[KAF-28] leaves no timer behind where the end comes while a fetch waits, rests, is overdue or is repeated', async () => {
    for (const afterMs of [0, 100, waitMs, waitMs + 1_999, waitMs + 2_100, waitMs + 5_000, 20_000]) {
      const world = worldOf(2, 200)
      await vi.advanceTimersByTimeAsync(afterMs)
      await end(world)
      await expectNothingMore(world)
    }
  })

  it('[KAF-28] an answer that comes while others are asked who leads ends the asking', async () => {
    const world = worldOf(1, 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    // Overdue at 3,500: asking takes until 4,500, and the fetch fails meanwhile.
    await vi.advanceTimersByTimeAsync(waitMs + 2_000 + 500)
    expect(world.asked).toBe(2)
    await answerAll(world, silent)
    await vi.advanceTimersByTimeAsync(550)
    await end(world)
    await expectNothingMore(world)
  })

  it('[KAF-28] a fetch that was answered is not asked about again, while fetching goes on', async () => {
    const world = worldOf(1, 1_000)
    await vi.advanceTimersByTimeAsync(1_000 + waitMs + 2_000 + 500)
    await answerAll(world, silent)
    // The leader is asked for once because of the failure; its next fetch is not overdue for 2.5 s.
    await vi.advanceTimersByTimeAsync(1_100)
    const { asked } = world
    expect(asked).toBe(3)
    await vi.advanceTimersByTimeAsync(waitMs + 1_700)
    expect(world.asked).toBe(asked)
    await end(world)
  })

  it('[KAF-28] after a failure nobody is asked any more, though a fetch of another leader still waits', async () => {
    const world = worldOf(2, 0)
    await vi.advanceTimersByTimeAsync(10)
    const { asked } = world
    world.waiting.get(1)!(refused(0, 1))
    await vi.advanceTimersByTimeAsync(0)
    expect(world.fetching.failure).toMatchObject({ reason: 'out-of-range', partition: 0 })
    await vi.advanceTimersByTimeAsync(25_000)
    expect(world.asked).toBe(asked)
    await end(world)
    await expectNothingMore(world)
  })
})
