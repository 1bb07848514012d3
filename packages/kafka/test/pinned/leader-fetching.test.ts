import * as client from '@platformatic/kafka'
import { topicIdOf } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerConnections, BrokerLink, Exchange } from '../../src/inspection/broker-connections.ts'
import { newDecompress } from '../../src/pinned/batch-compression.ts'
import type { FetchAnswer, PartitionAnswer } from '../../src/pinned/fetch-answer.ts'
import { startFetching } from '../../src/pinned/leader-fetching.ts'
import type { Fetching, FetchingParts } from '../../src/pinned/leader-fetching.ts'
import { PartitionCursor } from '../../src/pinned/partition-cursor.ts'
import type { LeadersReading } from '../../src/pinned/topic-leaders.ts'
import { batchBytes } from './batch-bytes.ts'

const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')
const otherId = topicIdOf('0d9c2a51-5a4f-4d1e-9b7f-64a3a1f0c2de')
const codecs = { decompress: newDecompress(client), crc32c: client.crc32c }

/** A fetch as the scripted brokers see it. */
interface Seen {
  readonly leader: number
  readonly atMs: number
  readonly partitions: readonly { partition: number; epoch: number; offset: number; lastFetchedEpoch: number }[]
}

type Reply = Partial<PartitionAnswer> | 'silent' | { readonly throttleMs: number }
type Script = (seen: Seen, partition: number) => Reply

interface World {
  readonly seen: Seen[]
  readonly inFlightMost: () => number
  readonly fetching: Fetching
  readonly cursors: readonly PartitionCursor[]
  leaders: Readonly<Record<number, { leaderId: number; leaderEpoch: number }>>
  told: LeadersReading | undefined
  asked: number
}

let open: World | undefined
afterEach(async () => {
  await open?.fetching.stop()
  open = undefined
})

/** Fetching over brokers that answer from a script; every fetch without a script waits a little and finds nothing. */
function fetchingOver(script: Script, options: Partial<FetchingParts['limits']> & { partitions?: number } = {}): World {
  const { partitions = 1, ...limits } = options
  const cursors = Array.from({ length: partitions }, (_, partition) => new PartitionCursor(partition, 0n, 1_000_000))
  const seen: Seen[] = []
  const inFlight = new Map<number, number>()
  let most = 0
  const world = {
    seen,
    cursors,
    inFlightMost: () => most,
    leaders: Object.fromEntries(cursors.map(({ partition }) => [partition, { leaderId: 1, leaderEpoch: 4 }])),
    told: undefined as LeadersReading | undefined,
    asked: 0,
  }
  const connections: BrokerConnections = {
    async exchange<T>(
      address: { readonly port: number },
      _deadlineMs: number,
      send: (link: BrokerLink, done: never) => void,
    ) {
      const request = requestOf(send as never)
      const entry = { leader: address.port, atMs: performance.now(), partitions: request }
      seen.push(entry)
      inFlight.set(entry.leader, (inFlight.get(entry.leader) ?? 0) + 1)
      most = Math.max(most, inFlight.get(entry.leader)!)
      await new Promise((resolve) => setTimeout(resolve, 5))
      inFlight.set(entry.leader, inFlight.get(entry.leader)! - 1)
      return answerTo(entry, script) as Exchange<T>
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
        const leaders = new Map(Object.entries(world.leaders).map(([partition, leader]) => [Number(partition), leader]))
        return world.told ?? { kind: 'described', topicId, partitionCount: partitions, leaders }
      },
    },
    limits: {
      fetchWaitMs: 20,
      fetchBytesMax: 1_000_000,
      partitionBytesMax: 1_000_000,
      bufferedBytesMax: 4_000_000,
      requestMsMax: 1_000,
      unavailableMsMax: 10_000,
      ...limits,
    },
    arrived: () => undefined,
  })
  open = Object.assign(world, { fetching })
  return open
}

function requestOf(send: (link: unknown, done: () => void) => void): Seen['partitions'] {
  let body: Buffer = Buffer.alloc(0)
  const connection = { send: (_key: number, _version: number, payload: () => Buffer) => (body = payload()) }
  const Writer = { create: () => ({ append: (bytes: Buffer) => bytes }) }
  send(
    { client: { Writer }, connection, newest: (_key: number, offered: readonly number[]) => Math.max(...offered) },
    () => undefined,
  )
  const count = body[38]! - 1
  return Array.from({ length: count }, (_, index) => {
    const at = 39 + index * 33
    return {
      partition: body.readInt32BE(at),
      epoch: body.readInt32BE(at + 4),
      offset: Number(body.readBigInt64BE(at + 8)),
      lastFetchedEpoch: body.readInt32BE(at + 16),
    }
  })
}

function answerTo(seen: Seen, script: Script): Exchange<FetchAnswer> {
  const answers: PartitionAnswer[] = []
  let throttleMs = 0
  for (const { partition, offset } of seen.partitions) {
    const reply = script(seen, partition)
    if (reply === 'silent') return { kind: 'silence', reason: 'unreachable', message: 'cut' }
    if ('throttleMs' in reply) {
      throttleMs = reply.throttleMs
      continue
    }
    const end = BigInt(offset)
    answers.push({
      topicId,
      partition,
      errorCode: 0,
      highWatermark: end,
      lastStableOffset: end,
      logStartOffset: 0n,
      diverging: undefined,
      aborted: [],
      records: undefined,
      ...reply,
    })
  }
  if (throttleMs > 0) for (const { partition } of seen.partitions) answers.push(emptyAnswer(partition))
  return { kind: 'answer', answer: { throttleMs, errorCode: 0, partitions: answers } }
}

const emptyAnswer = (partition: number): PartitionAnswer => ({
  topicId,
  partition,
  errorCode: 0,
  highWatermark: 0n,
  lastStableOffset: 0n,
  logStartOffset: 0n,
  diverging: undefined,
  aborted: [],
  records: undefined,
})

const records = (base: number, count: number, epoch = 4): Buffer =>
  batchBytes({ base: BigInt(base), epoch, records: Array.from({ length: count }, (_, delta) => ({ delta })) })
const untilTrue = async (holds: () => boolean): Promise<void> => {
  const untilMs = performance.now() + 5_000
  while (!holds()) {
    if (performance.now() > untilMs) throw new Error('it did not come')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('fetching from leaders', () => {
  it.each([
    ['NOT_LEADER_OR_FOLLOWER', 6],
    ['FENCED_LEADER_EPOCH', 74],
    ['UNKNOWN_LEADER_EPOCH', 75],
    ['UNKNOWN_TOPIC_OR_PARTITION', 3],
    ['KAFKA_STORAGE_ERROR', 56],
    ['UNKNOWN_TOPIC_ID', 100],
    ['INCONSISTENT_TOPIC_ID', 103],
  ])('[KAF-20] %s: asks who leads and goes on there at the same offset, under the new epoch', async (_, errorCode) => {
    const world = fetchingOver(({ leader, partitions }) => {
      const { offset } = partitions[0]!
      if (leader === 1 && offset === 0) return { records: records(0, 7), highWatermark: 9n, lastStableOffset: 9n }
      if (leader === 1) return { errorCode }
      return {}
    })
    await untilTrue(() => world.seen.length >= 2)
    world.leaders = { 0: { leaderId: 2, leaderEpoch: 5 } }
    await untilTrue(() => world.seen.some(({ leader }) => leader === 2))
    const moved = world.seen.find(({ leader }) => leader === 2)!
    expect(moved.partitions).toEqual([{ partition: 0, epoch: 5, offset: 7, lastFetchedEpoch: 4 }])
    expect(world.seen.filter(({ leader }) => leader === 1).map(({ partitions }) => partitions[0]!.offset)).toContain(7)
    expect(world.fetching.failure).toBeUndefined()
  })

  it('[KAF-20] a leader of an earlier epoch, told by a broker that is behind, is not gone back to', async () => {
    const world = fetchingOver(() => ({ errorCode: 6 }))
    await untilTrue(() => world.seen.length >= 1)
    world.leaders = { 0: { leaderId: 3, leaderEpoch: 2 } }
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(world.seen.some(({ leader }) => leader === 3)).toBe(false)
    world.leaders = { 0: { leaderId: 2, leaderEpoch: 6 } }
    await untilTrue(() => world.seen.some(({ leader }) => leader === 2))
  })

  it('[KAF-20] what nobody serves ends in `connection` when its time is up, with growing pauses until then', async () => {
    const world = fetchingOver(() => 'silent', { unavailableMsMax: 600 })
    await untilTrue(() => world.fetching.failure !== undefined)
    expect(world.fetching.failure).toMatchObject({ reason: 'connection', partition: 0 })
    expect(world.seen.length).toBeLessThan(8)
    expect(world.seen.every(({ partitions }) => partitions[0]!.offset === 0)).toBe(true)
  })

  it.each([
    ['another id', otherId],
    ['no id', undefined],
  ])(
    '[KAF-24] an answer under %s ends it before its records are looked at',
    async (_, servedAs: TopicId | undefined) => {
      const world = fetchingOver(() => ({
        topicId: servedAs,
        records: records(0, 3),
        lastStableOffset: 3n,
        highWatermark: 3n,
      }))
      await untilTrue(() => world.fetching.failure !== undefined)
      expect(world.fetching.failure).toMatchObject({ reason: 'unknown-topic', partition: 0 })
      expect(world.cursors[0]!.isReady).toBe(false)
      expect(world.cursors[0]!.fetchOffset).toBe(0n)
    },
  )

  it.each([
    ['has another id', { kind: 'described', topicId: otherId, partitionCount: 1, leaders: new Map() }],
    ['is gone', { kind: 'gone', message: 'no such topic' }],
  ] as const)('[KAF-24] a topic that %s by name is never looked for under its new id', async (_, told) => {
    const world = fetchingOver(() => ({ errorCode: 100 }))
    await untilTrue(() => world.seen.length >= 1)
    world.told = told
    await untilTrue(() => world.fetching.failure !== undefined)
    expect(world.fetching.failure?.reason).toBe('unknown-topic')
  })

  it.each([
    [1, 'out-of-range'],
    [2, 'other'],
    [29, 'authorization'],
    [42, 'other'],
  ] as const)('[KAF-25] error code %i ends it with %s', async (errorCode, reason) => {
    const world = fetchingOver(() => ({ errorCode }))
    await untilTrue(() => world.fetching.failure !== undefined)
    expect(world.fetching.failure?.reason).toBe(reason)
    expect(world.seen).toHaveLength(1)
  })

  it('[KAF-25] a diverging epoch in an answer without error and without records is a truncation', async () => {
    const world = fetchingOver(() => ({
      diverging: { epoch: 0, endOffset: 10n },
      lastStableOffset: 20n,
      highWatermark: 20n,
    }))
    await untilTrue(() => world.fetching.failure !== undefined)
    expect(world.fetching.failure).toMatchObject({ reason: 'out-of-range' })
    expect(world.fetching.failure?.message).toMatch(/truncated.*epoch 0 ends at 10/)
  })

  it('[KAF-26] one fetch is in flight a leader, and who was served last is asked for last', async () => {
    const world = fetchingOver(
      ({ partitions }, partition) =>
        partition === partitions[0]!.partition && partitions[0]!.offset < 30
          ? { records: records(partitions[0]!.offset, 10), lastStableOffset: 30n, highWatermark: 30n }
          : {},
      { partitions: 3 },
    )
    await untilTrue(() => world.seen.length >= 10)
    expect(world.inFlightMost()).toBe(1)
    expect(world.seen.slice(0, 4).map(({ partitions }) => partitions.map(({ partition }) => partition))).toEqual([
      [0, 1, 2],
      [1, 2, 0],
      [2, 0, 1],
      [0, 1, 2],
    ])
  })

  it('[KAF-26] a broker that throttles is left alone for as long as it says', async () => {
    let throttled = false
    const world = fetchingOver((): Reply => {
      if (throttled) return {}
      throttled = true
      return { throttleMs: 300 }
    })
    await untilTrue(() => world.seen.length >= 2)
    expect(world.seen[1]!.atMs - world.seen[0]!.atMs).toBeGreaterThanOrEqual(295)
  })

  it('[KAF-26] empty answers before their time do not turn into a storm of requests', async () => {
    const world = fetchingOver(() => ({ lastStableOffset: 5n, highWatermark: 5n }), { fetchWaitMs: 500 })
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(world.seen.length).toBeLessThan(15)
    expect(world.fetching.failure).toBeUndefined()
  })

  it('[KAF-26] fetches ahead as far as the buffer has room, and no further', async () => {
    const big = (offset: number): Buffer =>
      batchBytes({ base: BigInt(offset), records: [{ delta: 0, value: Buffer.alloc(60_000, offset % 250) }] })
    const world = fetchingOver(
      ({ partitions }, partition) => {
        const { offset } = partitions.find((each) => each.partition === partition)!
        return { records: big(offset), lastStableOffset: 1_000n, highWatermark: 1_000n }
      },
      { partitions: 4, bufferedBytesMax: 300_000, fetchBytesMax: 130_000 },
    )
    await new Promise((resolve) => setTimeout(resolve, 500))
    const buffered = world.cursors.reduce((sum, cursor) => sum + cursor.bufferedBytes, 0)
    // One more answer can come for every fetch that there was room for: here that is four batches.
    expect(buffered).toBeGreaterThan(150_000)
    expect(buffered).toBeLessThanOrEqual(300_000 + 4 * 61_000)
    const fetches = world.seen.length
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(world.seen.length).toBe(fetches)
  })
})
