import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isCanonicalTopicId } from '@tidemark/core'
import { judgeSurvey } from '@tidemark/log'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { createKafkaInspector, createKafkaLog } from '../src/index.ts'
import type { KafkaInspector } from '../src/index.ts'
import type { KafkaFixture, RawMetadata } from './kafka-fixture.ts'
import { at, called, openFixture, rawClient, waitFor } from './kafka-fixture.ts'

let kafka: KafkaFixture
let inspector: KafkaInspector

beforeAll(async () => {
  kafka = await openFixture(await sharedKafkaBrokers())
  inspector = createKafkaInspector({ brokers: kafka.brokers })
})

afterAll(async () => {
  await inspector?.close()
  await kafka?.close()
})

const limits = { deadlineMs: 5000 }

describe('identity', () => {
  it('[KAF-9] comes from one answer a broker, in the one stored spelling, and twice the same', async () => {
    const topic = await kafka.createTopic(3)
    const first = judgeSurvey(await inspector.surveyIdentity(topic, limits), undefined)
    if (first.kind !== 'proven') throw new Error(JSON.stringify(first))
    expect(first.identity).toMatchObject({ topic, partitionCount: 3 })
    expect(isCanonicalTopicId(first.identity.topicId)).toBe(true)
    expect(first.identity.clusterId).not.toBe('')
    expect(judgeSurvey(await inspector.surveyIdentity(topic, limits), first.identity)).toEqual(first)
  })

  it('[KAF-8] a steady survey opens no further connection and takes milliseconds', async () => {
    const topic = await kafka.createTopic()
    const own = createKafkaInspector({ brokers: kafka.brokers })
    await own.surveyIdentity(topic, limits)
    const tookMs: number[] = []
    for (let round = 0; round < 20; round += 1) {
      const before = performance.now()
      expect((await own.surveyIdentity(topic, limits)).answers).toHaveLength(1)
      tookMs.push(performance.now() - before)
    }
    expect(tookMs.sort((a, b) => a - b)[10]).toBeLessThan(50)
    await own.close()
  })

  it('[KAF-9] a bootstrap alias is resolved to the broker it stands for', async () => {
    const topic = await kafka.createTopic()
    const alias = kafka.brokers.map((broker) => broker.replace('127.0.0.1', 'localhost'))
    const own = createKafkaInspector({ brokers: ['127.0.0.1:1', ...alias] })
    expect(judgeSurvey(await own.surveyIdentity(topic, limits), undefined)).toMatchObject({ kind: 'proven' })
    expect((await own.surveyIdentity(topic, limits)).answers).toHaveLength(1)
    await own.close()
    expect(judgeSurvey(await own.surveyIdentity(topic, limits), undefined)).toMatchObject({ kind: 'unproven' })
  })

  it('[KAF-9] an unknown or impossible topic is no answer, and is not created by asking', async () => {
    for (const topic of ['never-made', 'bad name!']) {
      for (let round = 0; round < 2; round += 1) {
        const verdict = judgeSurvey(await inspector.surveyIdentity(topic, limits), undefined)
        expect(verdict).toMatchObject({ kind: 'unproven', reason: 'unknown-topic' })
      }
    }
  })

  it('[KAF-9] the mock cluster of the official client cannot prove an identity and cannot be opened', async () => {
    const mock = new rawClient.KafkaConsumer({ 'group.id': 'mock', 'test.mock.num.brokers': 1 }, {})
    const { brokers } = await called<RawMetadata>((done) => mock.connect({ timeout: 10_000 }, done))
    const log = createKafkaLog({ brokers: brokers.map(({ host, port }) => `${host}:${port}`) })
    const verdict = judgeSurvey(await log.inspector.surveyIdentity('mocked', limits), undefined)
    expect(verdict.kind).toBe('unproven')
    const positions = [{ partition: 0, nextOffset: at(0) }]
    const refused = await log.openReader({ topic: 'mocked', positions, deadlineMs: 4000 }).then(
      () => undefined,
      (error: { code: string }) => error.code,
    )
    expect(refused).toMatch(/^TM_KAFKA_/)
    await log.close()
    await called((done) => mock.disconnect(done))
  })
})

describe('bounds', () => {
  it('[KAF-11] [CK-33] tell low, the committed end and the high watermark apart', async () => {
    const topic = await kafka.createTopic(3)
    await kafka.append(topic, 0, 7)
    await kafka.append(topic, 1, 10)
    await kafka.deleteRecordsBelow(topic, 1, 4)
    await kafka.append(topic, 2, 2)
    const open = await kafka.openTransaction(topic, 2, 3)
    await kafka.append(topic, 2, 5)
    const bounds = await inspector.readBounds(topic, 3, limits)
    expect(bounds).toEqual({
      kind: 'bounds',
      partitions: [
        { partition: 0, low: 0n, lastStableOffset: 7n, highWatermark: 7n },
        { partition: 1, low: 4n, lastStableOffset: 10n, highWatermark: 10n },
        { partition: 2, low: 0n, lastStableOffset: 2n, highWatermark: 10n },
      ],
    })
    await open.abort()
    await waitFor(async () => {
      const reading = await inspector.readBounds(topic, 3, limits)
      return reading.kind === 'bounds' && reading.partitions[2]!.lastStableOffset === 11n
    })
  })

  it('[KAF-11] [CK-05] are unreadable for another partition count or an unknown topic', async () => {
    const topic = await kafka.createTopic(4)
    const reading = await inspector.readBounds(topic, 8, limits)
    expect(reading).toMatchObject({ kind: 'unreadable', message: expect.stringContaining('has 4 partitions, 8') })
    expect(await inspector.readBounds('never-made', 1, limits)).toMatchObject({ kind: 'unreadable' })
  })

  it('[KAF-11] of hundreds of partitions come in under a second', async () => {
    const topic = await kafka.createTopic(256)
    // Metadata shows the leaders before the broker has made their logs.
    await waitFor(async () => (await inspector.readBounds(topic, 256, limits)).kind === 'bounds')
    const before = performance.now()
    const reading = await inspector.readBounds(topic, 256, limits)
    const tookMs = performance.now() - before
    expect(reading.kind === 'bounds' && reading.partitions.map(({ partition }) => partition)).toEqual(
      Array.from({ length: 256 }, (_, partition) => partition),
    )
    expect(tookMs).toBeLessThan(1000)
    await kafka.deleteTopic(topic)
  })
})

describe('settings', () => {
  it('[KAF-12] [CK-22] tell retention and compaction, also of both policies at once', async () => {
    const kept = await kafka.createTopic(1, { 'retention.ms': '-1', 'cleanup.policy': 'delete' })
    const both = await kafka.createTopic(1, { 'retention.ms': '86400000', 'cleanup.policy': 'compact,delete' })
    const compacted = await kafka.createTopic(1, { 'cleanup.policy': 'compact' })
    expect(await inspector.readSettings(kept, limits)).toEqual({
      kind: 'settings',
      settings: { retentionMs: -1n, compacted: false, cleanupPolicy: 'delete' },
    })
    expect(await inspector.readSettings(both, limits)).toEqual({
      kind: 'settings',
      settings: { retentionMs: 86_400_000n, compacted: true, cleanupPolicy: 'compact,delete' },
    })
    expect(await inspector.readSettings(compacted, limits)).toMatchObject({ settings: { compacted: true } })
    expect(await inspector.readSettings('never-made', limits)).toMatchObject({ kind: 'unreadable' })
  })
})
