import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CommittedLog, PartitionPosition } from '@tidemark/log'
import { judgeSurvey } from '@tidemark/log'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { createKafkaLog } from '../src/index.ts'
import type { KafkaFixture } from './kafka-fixture.ts'
import { at, endsOf, offsetsOf, openFixture, readUntil, sleep } from './kafka-fixture.ts'

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

const from = (...offsets: number[]): readonly PartitionPosition[] =>
  offsets.map((offset, partition) => ({ partition, nextOffset: at(offset) }))
const read = (topic: string, ...offsets: number[]) =>
  log.openReader({ topic, positions: from(...offsets), deadlineMs: 10_000 })
const survey = (topic: string) => log.inspector.surveyIdentity(topic, { deadlineMs: 5000 })
const provenIdentity = async (topic: string) => {
  const verdict = judgeSurvey(await survey(topic), undefined)
  if (verdict.kind !== 'proven') throw new Error(JSON.stringify(verdict))
  return verdict.identity
}

describe('a position outside the log', () => {
  it('[KAF-6] [CK-35] above the end of one of two partitions surfaces although the other flows', async () => {
    const topic = await kafka.createTopic(2)
    await kafka.append(topic, 0, 3)
    await kafka.append(topic, 1, 120_000)
    // The binding drops the one error when the same pull already holds records. Waiting lets both queue up before the
    // first pull, so that over a few rounds both ways of noticing are taken.
    for (const queuedMs of [0, 400, 0, 400]) {
      const reader = await read(topic, 9, 0)
      await sleep(queuedMs)
      const before = performance.now()
      const delivered = await readUntil(reader, () => false, 10_000, 200)
      expect(delivered.failure).toMatchObject({ reason: 'out-of-range' })
      expect(performance.now() - before).toBeLessThan(4000)
      expect(offsetsOf(delivered, 0)).toEqual([])
      // Finished for good: the same answer again.
      expect(await reader.poll({ recordsMax: 10, waitMs: 10 })).toEqual({ kind: 'failed', failure: delivered.failure })
      await reader.close()
    }
  })

  it('[KAF-6] below the low end surfaces, never a reset to earliest or latest', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 10)
    await kafka.deleteRecordsBelow(topic, 0, 6)
    const reader = await read(topic, 3)
    const delivered = await readUntil(reader, () => false, 10_000)
    expect(delivered).toMatchObject({ records: [], failure: { reason: 'out-of-range' } })
    await reader.close()
  })

  it('[KAF-6] [CK-50] [CK-55] retention that overtakes a paused reader surfaces when it goes on', async () => {
    const topic = await kafka.createTopic(2)
    await kafka.append(topic, 0, 3)
    const reader = await read(topic, 0, 0)
    expect(offsetsOf(await readUntil(reader, ({ ends }) => ends.size === 2))).toEqual([0, 1, 2])
    reader.pause([0])
    await sleep(300)
    await kafka.append(topic, 0, 20)
    await kafka.deleteRecordsBelow(topic, 0, 10)
    reader.resume([0])
    const delivered = await readUntil(reader, () => false, 10_000)
    expect(delivered).toMatchObject({ records: [], failure: { reason: 'out-of-range' } })
    await reader.close()
  })
})

describe('a topic that is not the same any more', () => {
  it('[KAF-9] [CK-01] [CK-03] recreated longer under a reader: records go on silently, survey and client both tell', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 5, 'old')
    const held = await provenIdentity(topic)
    const reader = await read(topic, 0)
    await readUntil(reader, ({ ends }) => ends.has(0))
    expect(await reader.describeTopic(5000)).toEqual({ kind: 'described', topicId: held.topicId, partitionCount: 1 })
    reader.pause([0])
    await kafka.recreateTopic(topic)
    await kafka.append(topic, 0, 40, 'new')
    reader.resume([0])
    const delivered = await readUntil(reader, ({ records }) => records.length > 0, 10_000)
    // This is the danger: nothing in the delivery tells that another log is being read.
    expect(delivered.failure).toBeUndefined()
    expect(offsetsOf(delivered)[0]).toBe(5)
    expect(Buffer.from(delivered.records[0]!.value!).toString()).toBe('new5')
    const found = await survey(topic)
    const client = await reader.describeTopic(5000)
    expect(client).toMatchObject({ kind: 'described' })
    expect(judgeSurvey(found, held)).toMatchObject({ kind: 'mismatch', differences: [{ field: 'topicId' }] })
    expect(judgeSurvey({ topic, answers: [] }, held, client)).toMatchObject({ kind: 'mismatch', brokerId: 'client' })
    await reader.close()
  })

  it('[KAF-6] [CK-02] recreated and left empty: the survey tells, and the reader stops', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 5)
    const held = await provenIdentity(topic)
    const reader = await read(topic, 0)
    await readUntil(reader, ({ ends }) => ends.has(0))
    await kafka.recreateTopic(topic)
    expect(judgeSurvey(await survey(topic), held)).toMatchObject({ kind: 'mismatch' })
    const delivered = await readUntil(reader, () => false, 15_000)
    expect(delivered.records).toEqual([])
    expect(['out-of-range', 'unknown-topic']).toContain(delivered.failure?.reason)
    await reader.close()
  })

  it('[KAF-6] deleted: the survey has no answer and the reader stops within seconds', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 5)
    const held = await provenIdentity(topic)
    const reader = await read(topic, 0)
    await readUntil(reader, ({ ends }) => ends.has(0))
    await kafka.deleteTopic(topic)
    expect(judgeSurvey(await survey(topic), held)).toMatchObject({ kind: 'unproven', reason: 'unknown-topic' })
    expect(await reader.describeTopic(5000)).toMatchObject({ kind: 'no-answer', reason: 'unknown-topic' })
    const delivered = await readUntil(reader, () => false, 20_000)
    expect(delivered.failure).toMatchObject({ reason: 'unknown-topic' })
    await reader.close()
  })

  it('[KAF-9] [CK-18] grown partitions are told by the survey and by the client, and read by nobody', async () => {
    const topic = await kafka.createTopic(1)
    const held = await provenIdentity(topic)
    const reader = await read(topic, 0)
    await kafka.addPartitions(topic, 3)
    await kafka.append(topic, 2, 5)
    expect(judgeSurvey(await survey(topic), held)).toMatchObject({
      kind: 'mismatch',
      differences: [{ field: 'partitionCount', expected: '1', found: '3' }],
    })
    expect(await reader.describeTopic(5000)).toMatchObject({ kind: 'described', partitionCount: 3 })
    expect(await log.inspector.readBounds(topic, 1, { deadlineMs: 5000 })).toMatchObject({ kind: 'unreadable' })
    const delivered = await readUntil(reader, () => false, 1500)
    expect(delivered).toMatchObject({ records: [], failure: undefined })
    expect(endsOf(delivered)).toEqual({ 0: 0 })
    await reader.close()
  })
})

describe('opening', () => {
  it('[KAF-7] refuses an unknown topic, an unknown partition and an inexact offset with the values', async () => {
    const topic = await kafka.createTopic(2)
    await expect(read(`${topic}-other`, 0)).rejects.toMatchObject({ code: 'TM_KAFKA_UNKNOWN_TOPIC' })
    await expect(read(topic, 0, 0, 0)).rejects.toMatchObject({
      code: 'TM_KAFKA_UNKNOWN_PARTITION',
      details: { partition: 2, partitionCount: 2 },
    })
    const inexact = [{ partition: 0, nextOffset: (2n ** 53n) as never }]
    await expect(log.openReader({ topic, positions: inexact, deadlineMs: 5000 })).rejects.toMatchObject({
      code: 'TM_KAFKA_POSITION_INVALID',
    })
    const twice = [...from(0), ...from(1)]
    await expect(log.openReader({ topic, positions: twice, deadlineMs: 5000 })).rejects.toMatchObject({
      code: 'TM_KAFKA_POSITION_INVALID',
    })
  })

  it('[KAF-7] [KAF-13] an address where nobody listens is told within the deadline, and close is quick', async () => {
    const lost = createKafkaLog({ brokers: ['127.0.0.1:1'] })
    const before = performance.now()
    await expect(lost.openReader({ topic: 't', positions: from(0), deadlineMs: 1500 })).rejects.toMatchObject({
      code: 'TM_KAFKA_UNREACHABLE',
      details: { brokers: '127.0.0.1:1' },
    })
    expect(performance.now() - before).toBeLessThan(2500)
    const verdict = judgeSurvey(await lost.inspector.surveyIdentity('t', { deadlineMs: 1500 }), undefined)
    expect(verdict).toMatchObject({ kind: 'unproven', reason: 'unreachable' })
    expect(await lost.inspector.readBounds('t', 1, { deadlineMs: 1500 })).toMatchObject({ kind: 'unreadable' })
    expect(await lost.inspector.readSettings('t', { deadlineMs: 1500 })).toMatchObject({ kind: 'unreadable' })
    await lost.close()
    expect(performance.now() - before).toBeLessThan(8000)
    await expect(lost.openReader({ topic: 't', positions: from(0), deadlineMs: 100 })).rejects.toMatchObject({
      code: 'TM_KAFKA_CLOSED',
    })
  })

  it('[KAF-7] a cancel request ends an opening', async () => {
    const lost = createKafkaLog({ brokers: ['127.0.0.1:1'] })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 200)
    const opening = lost.openReader({ topic: 't', positions: from(0), deadlineMs: 3000, signal: controller.signal })
    await expect(opening).rejects.toMatchObject({ code: 'TM_CORE_CANCELLED' })
    await lost.close()
  })
})
