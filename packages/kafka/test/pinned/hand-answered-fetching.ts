import * as client from '@platformatic/kafka'
import { topicIdOf } from '@tidemark/core'
import { expect, vi } from 'vitest'
import type { BrokerConnections, Exchange } from '../../src/inspection/broker-connections.ts'
import { newDecompress } from '../../src/pinned/batch-compression.ts'
import type { FetchAnswer, PartitionAnswer } from '../../src/pinned/fetch-answer.ts'
import { startFetching } from '../../src/pinned/leader-fetching.ts'
import type { Fetching } from '../../src/pinned/leader-fetching.ts'
import { PartitionCursor } from '../../src/pinned/partition-cursor.ts'

const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')
const codecs = { decompress: newDecompress(client), crc32c: client.crc32c }
/** How long the scripted fetches wait. */
export const waitMs = 500

type Answer = Exchange<FetchAnswer>

/** Fetching over brokers whose every answer is given by hand, or comes with the close of the connections. */
export interface HandAnsweredWorld {
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
export const silent: Answer = { kind: 'silence', reason: 'timeout', message: 'did not answer' }
export const answered = (partitions: readonly PartitionAnswer[], throttleMs = 0): Answer => ({
  kind: 'answer',
  answer: { throttleMs, errorCode: 0, partitions },
})
export const refused = (partition: number, errorCode: number): Answer =>
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
export function worldOf(partitions: number, askMs: number, unavailableMsMax: number = 60_000): HandAnsweredWorld {
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
      unavailableMsMax,
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
export async function answerAll(world: HandAnsweredWorld, answer: Answer): Promise<void> {
  const asked = [...world.waiting.values()]
  world.waiting.clear()
  for (const give of asked) give(answer)
  await vi.advanceTimersByTimeAsync(0)
}

/** As a reader is closed: connections first, so that nothing waits at a broker. */
export async function end(world: HandAnsweredWorld): Promise<void> {
  world.closeConnections()
  let stopped = false
  void world.fetching.stop().then(() => (stopped = true))
  // In small steps, so that what is left behind is still there to be seen.
  for (let step = 0; step < 300 && !stopped; step += 1) await vi.advanceTimersByTimeAsync(10)
  expect(stopped).toBe(true)
}
