import { describe, expect, it } from 'vitest'
import { readPartitionBounds } from '../src/inspection/read-partition-bounds.ts'
import type { FreshMetadata } from '../src/inspection/read-partition-bounds.ts'
import type { ScriptedRequest } from './scripted-brokers.ts'
import { metadataOf, scriptedBrokers } from './scripted-brokers.ts'

const two = { 1: 'b1:1', 2: 'b2:1' }
const fresh =
  (leaders: readonly number[]): FreshMetadata =>
  async () => ({ kind: 'answer', answer: metadataOf(two, leaders) })

interface Asked {
  readonly isolation: number
  readonly timestamp: bigint
  readonly partitions: readonly number[]
}

const askedOf = ({ args }: ScriptedRequest): Asked => {
  const [, isolation, topics] = args as [
    number,
    number,
    { partitions: { partitionIndex: number; timestamp: bigint; currentLeaderEpoch: number }[] }[],
  ]
  const { partitions } = topics[0]!
  expect(partitions.every(({ currentLeaderEpoch }) => currentLeaderEpoch === 4)).toBe(true)
  return {
    isolation,
    timestamp: partitions[0]!.timestamp,
    partitions: partitions.map(({ partitionIndex }) => partitionIndex),
  }
}

const offsets = (asked: Asked, value: bigint, errorCode = 0) => ({
  topics: [
    { name: 't', partitions: asked.partitions.map((partitionIndex) => ({ partitionIndex, errorCode, offset: value })) },
  ],
})

/** 2 for low, 6 for the committed end, 9 for the high watermark. */
const honest = (request: ScriptedRequest) => {
  const asked = askedOf(request)
  return offsets(asked, asked.timestamp === -2n ? 2n : asked.isolation === 1 ? 6n : 9n)
}

describe('bounds', () => {
  it('[KAF-11] asks each leader three times, low first and the high watermark last, isolation said', async () => {
    const log: string[] = []
    const script = (request: ScriptedRequest) => {
      const { isolation, timestamp, partitions } = askedOf(request)
      log.push(`${partitions.join('+')}: ${timestamp}/${isolation}`)
      return honest(request)
    }
    const brokers = scriptedBrokers({ 'b1:1': script, 'b2:1': script })
    const reading = await readPartitionBounds(brokers, 't', 3, 1000, fresh([1, 2, 1]))
    expect(reading).toEqual({
      kind: 'bounds',
      partitions: [0, 1, 2].map((partition) => ({ partition, low: 2n, lastStableOffset: 6n, highWatermark: 9n })),
    })
    expect(log.filter((line) => line.startsWith('0+2'))).toEqual(['0+2: -2/0', '0+2: -1/1', '0+2: -1/0'])
    expect(log.filter((line) => line.startsWith('1:'))).toEqual(['1: -2/0', '1: -1/1', '1: -1/0'])
  })

  it('[KAF-11] a moved leader is looked up again once', async () => {
    let lookups = 0
    const metadata: FreshMetadata = async () => {
      lookups += 1
      return { kind: 'answer', answer: metadataOf(two, [lookups === 1 ? 1 : 2]) }
    }
    const brokers = scriptedBrokers({ 'b1:1': (request) => offsets(askedOf(request), -1n, 6), 'b2:1': honest })
    expect(await readPartitionBounds(brokers, 't', 1, 2000, metadata)).toMatchObject({ kind: 'bounds' })
    expect(lookups).toBe(2)
  })

  it('[KAF-11] and then it is unreadable, with partition and code', async () => {
    const brokers = scriptedBrokers({ 'b1:1': (request) => offsets(askedOf(request), -1n, 74), 'b2:1': honest })
    const reading = await readPartitionBounds(brokers, 't', 2, 2000, fresh([2, 1]))
    expect(reading).toMatchObject({
      kind: 'unreadable',
      partition: 1,
      message: expect.stringContaining('error code 74'),
    })
  })

  it.each([
    ['one partition without an answer', (asked: Asked) => offsets({ ...asked, partitions: [0] }, 1n)],
    ['a negative offset', (asked: Asked) => offsets(asked, -1n)],
    ['a permission error', (asked: Asked) => offsets(asked, -1n, 29)],
    ['low above high', (asked: Asked) => offsets(asked, asked.timestamp === -2n ? 9n : 3n)],
    [
      'another topic',
      (asked: Asked) => ({ topics: [{ name: 'other', partitions: [] as never[], asked: asked.isolation }] }),
    ],
  ])('[KAF-11] %s makes the whole reading unreadable', async (_name, answer) => {
    const brokers = scriptedBrokers({ 'b1:1': (request) => answer(askedOf(request)) })
    expect(await readPartitionBounds(brokers, 't', 2, 600, fresh([1, 1]))).toMatchObject({ kind: 'unreadable' })
  })

  it('[KAF-11] no metadata, another count, a missing or a silent leader make it unreadable in time', async () => {
    const brokers = scriptedBrokers({ 'b1:1': () => undefined })
    const read = (count: number, metadata: FreshMetadata) => readPartitionBounds(brokers, 't', count, 300, metadata)
    const before = performance.now()
    expect(await read(1, async () => ({ kind: 'none', message: 'nobody' }))).toMatchObject({ message: 'nobody' })
    expect(await read(5, fresh([1, 1]))).toMatchObject({ message: expect.stringContaining('2 partitions, 5 were') })
    expect(await read(1, fresh([-1]))).toMatchObject({ kind: 'unreadable', partition: 0 })
    expect(await read(1, fresh([9]))).toMatchObject({ message: expect.stringContaining('leader 9') })
    expect(await read(1, fresh([1]))).toMatchObject({ message: expect.stringContaining('timed out') })
    expect(performance.now() - before).toBeLessThan(2000)
  })
})
