import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CommittedLog } from '@tidemark/log'
import { witnessOf } from '@tidemark/log'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { createKafkaLog } from '../src/index.ts'
import type { KafkaFixture } from './kafka-fixture.ts'
import { at, called, openFixture, readUntil, sleep } from './kafka-fixture.ts'

let kafka: KafkaFixture
let log: CommittedLog

beforeAll(async () => {
  kafka = await openFixture(await sharedKafkaBrokers())
  log = createKafkaLog({ brokers: kafka.brokers })
})

afterAll(async () => {
  await log?.close()
  await kafka?.close()
})

const back = async (
  topic: string,
  wanted: readonly (readonly [partition: number, offset: number])[],
  deadlineMs = 15_000,
) => {
  const records = wanted.map(([partition, offset]) => ({ partition, offset: at(offset) }))
  const answers = await log.readBack({ topic, records, deadlineMs })
  return new Map(answers.map((answer) => [`${answer.partition}:${answer.offset}`, answer]))
}

describe('reading back', () => {
  it('[KAF-10] finds the very record, nothing at aborted offsets, and no answer at open or unwritten ones', async () => {
    const topic = await kafka.createTopic(3)
    await kafka.append(topic, 0, 3)
    await kafka.transaction(topic, 0, 2, 'abort')
    await kafka.append(topic, 0, 2)
    await kafka.append(topic, 1, 1)
    const open = await kafka.openTransaction(topic, 1, 2)
    const reader = await log.openReader({ topic, positions: [{ partition: 0, nextOffset: at(0) }], deadlineMs: 10_000 })
    const { records } = await readUntil(reader, ({ ends }) => ends.has(0))
    await reader.close()
    const answers = await back(topic, [
      [0, 2],
      [0, 3],
      [0, 5],
      [0, 7],
      [0, 8],
      [1, 0],
      [1, 1],
      [2, 0],
    ])
    const kinds = Object.fromEntries([...answers].map(([key, { kind }]) => [key, kind]))
    expect(kinds).toEqual({
      '0:2': 'record',
      '0:3': 'absent',
      '0:5': 'absent',
      '0:7': 'record',
      '0:8': 'unreadable',
      '1:0': 'record',
      '1:1': 'unreadable',
      '2:0': 'unreadable',
    })
    const found = answers.get('0:7')
    const read = records.find((record) => record.offset === 7n)!
    expect(found?.kind === 'record' && found.witness).toEqual(witnessOf(read))
    await open.abort()
  })

  it('[KAF-10] [CK-26] finds nothing at a compacted offset, and a reader goes on through the gap', async () => {
    const topic = await kafka.createTopic(1, {
      'cleanup.policy': 'compact',
      'min.cleanable.dirty.ratio': '0.001',
      'segment.ms': '100',
      'min.compaction.lag.ms': '0',
      'delete.retention.ms': '0',
    })
    const producer = await kafka.producer()
    const put = async (value: string): Promise<void> => {
      producer.produce(topic, 0, Buffer.from(value), 'same-key')
      await called((done) => producer.flush(10_000, done))
      await sleep(150)
    }
    for (const value of ['a', 'b', 'c', 'd']) await put(value)
    let kind = 'record'
    for (let round = 0; round < 60 && kind === 'record'; round += 1) {
      await put(`more${round}`)
      await sleep(500)
      kind = (await back(topic, [[0, 1]])).get('0:1')!.kind
    }
    expect(kind).toBe('absent')
    const reader = await log.openReader({ topic, positions: [{ partition: 0, nextOffset: at(1) }], deadlineMs: 10_000 })
    const delivered = await readUntil(reader, ({ ends }) => ends.has(0))
    expect(delivered.failure).toBeUndefined()
    expect(delivered.records[0]!.offset > 1n).toBe(true)
    await reader.close()
  })

  it('[KAF-10] a position outside the log is unreadable, never absent', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 5)
    await kafka.deleteRecordsBelow(topic, 0, 3)
    expect((await back(topic, [[0, 1]])).get('0:1')).toMatchObject({ kind: 'unreadable' })
    expect((await back(topic, [[0, 50]])).get('0:50')).toMatchObject({ kind: 'unreadable' })
    await expect(back('never-made', [[0, 0]])).rejects.toMatchObject({ code: 'TM_KAFKA_UNKNOWN_TOPIC' })
  })

  it('[KAF-10] records larger than one fetch are read back too', async () => {
    const topic = await kafka.createTopic(6)
    const producer = await kafka.producer()
    for (let partition = 0; partition < 6; partition += 1) {
      for (let i = 0; i < 2; i += 1) producer.produce(topic, partition, Buffer.alloc(400_000, partition), 'k')
    }
    await called((done) => producer.flush(30_000, done))
    const wanted = Array.from({ length: 6 }, (_, partition) => [partition, 1] as const)
    const answers = [...(await back(topic, wanted)).values()]
    const positions = wanted.map(([partition, offset]) => ({ partition, nextOffset: at(offset) }))
    const reader = await log.openReader({ topic, positions, deadlineMs: 10_000 })
    const { records } = await readUntil(reader, ({ ends }) => ends.size === 6)
    await reader.close()
    expect(records.map(({ value }) => value?.byteLength)).toEqual(Array.from({ length: 6 }, () => 400_000))
    for (const answer of answers) {
      const read = records.find(({ partition }) => partition === answer.partition)!
      expect(answer).toMatchObject({ kind: 'record', witness: witnessOf(read) })
    }
  })

  it('[KAF-10] hundreds of partitions are read back within seconds', async () => {
    const topic = await kafka.createTopic(200)
    const producer = await kafka.producer()
    for (let partition = 0; partition < 200; partition += 2) {
      for (let i = 0; i < 3; i += 1) producer.produce(topic, partition, Buffer.alloc(2000, i), 'k')
    }
    await called((done) => producer.flush(30_000, done))
    const wanted = Array.from({ length: 200 }, (_, partition) => [partition, partition % 2 === 0 ? 1 : 0] as const)
    const before = performance.now()
    const answers = await back(topic, wanted, 20_000)
    expect(performance.now() - before).toBeLessThan(8000)
    expect([...answers.values()].filter(({ kind }) => kind === 'record')).toHaveLength(100)
    expect([...answers.values()].filter(({ kind }) => kind === 'unreadable')).toHaveLength(100)
    await kafka.deleteTopic(topic)
  })
})
