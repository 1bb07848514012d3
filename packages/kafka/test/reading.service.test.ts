import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Admin } from '@platformatic/kafka'
import type { CommittedLog, PartitionPosition } from '@tidemark/log'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { createKafkaLog } from '../src/index.ts'
import { checkConnection } from '../src/connection-options.ts'
import { openGuardedConsumer } from '../src/reading/guarded-consumer.ts'
import { guardedSettings } from '../src/reading/safe-consumer-options.ts'
import type { KafkaFixture, RawConsumer } from './kafka-fixture.ts'
import { at, called, endsOf, offsetsOf, openFixture, rawClient, readUntil, sleep } from './kafka-fixture.ts'

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

describe('committed reading', () => {
  it('[KAF-3] [KAF-5] [CK-25] [CK-27] [CK-29] skips aborted records, stops at an open transaction and ends past markers', async () => {
    const topic = await kafka.createTopic()
    await kafka.transaction(topic, 0, 5, 'commit')
    await kafka.transaction(topic, 0, 5, 'abort')
    await kafka.transaction(topic, 0, 5, 'commit')
    const open = await kafka.openTransaction(topic, 0, 1)
    const reader = await read(topic, 0)
    const delivered = await readUntil(reader, ({ ends }) => ends.has(0))
    expect(offsetsOf(delivered)).toEqual([0, 1, 2, 3, 4, 12, 13, 14, 15, 16])
    expect(endsOf(delivered)).toEqual({ 0: 18 })
    const bounds = await log.inspector.readBounds(topic, 1, { deadlineMs: 5000 })
    expect(bounds).toEqual({
      kind: 'bounds',
      partitions: [{ partition: 0, low: 0n, lastStableOffset: 18n, highWatermark: 19n }],
    })
    await open.commit()
    const rest = await readUntil(reader, ({ ends }) => ends.get(0) === at(20))
    expect(offsetsOf(rest)).toEqual([18])
    expect(endsOf(rest)).toEqual({ 0: 20 })
    await reader.close()
  })

  it('[KAF-5] [CK-29] ends past an aborted tail that delivers nothing, also when started inside it', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 2)
    await kafka.transaction(topic, 0, 4, 'abort')
    for (const start of [0, 3, 7]) {
      const reader = await read(topic, start)
      const delivered = await readUntil(reader, ({ ends }) => ends.has(0))
      expect(offsetsOf(delivered)).toEqual(start === 0 ? [0, 1] : [])
      expect(endsOf(delivered)).toEqual({ 0: 7 })
      await reader.close()
    }
  })

  it('[KAF-5] [CK-30] reports the end of an emptied partition at once', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 5)
    await kafka.deleteRecordsBelow(topic, 0, 5)
    const reader = await read(topic, 5)
    expect(endsOf(await readUntil(reader, ({ ends }) => ends.has(0)))).toEqual({ 0: 5 })
    await reader.close()
  })

  it('[KAF-2] [CK-37] the settings start where assign tells, although the group has committed elsewhere', async () => {
    const topic = await kafka.createTopic(2)
    await kafka.append(topic, 0, 20)
    await kafka.append(topic, 1, 20)
    // A reader's group name is fresh each time; here the very group is given a commit, under the very same settings.
    const settings = guardedSettings(checkConnection({ brokers: kafka.brokers }), {}, topic, 2)
    const connected = async (): Promise<RawConsumer> => {
      const consumer = new rawClient.KafkaConsumer({ ...settings.global }, { ...settings.topic })
      await called((done) => consumer.connect({ timeout: 10_000 }, done))
      return consumer
    }
    const committer = await connected()
    committer.commitSync([{ topic, partition: 0, offset: 19 }])
    await called((done) => committer.disconnect(done))
    const consumer = await connected()
    consumer.setDefaultConsumeTimeout(500)
    consumer.assign([
      { topic, partition: 0, offset: 5 },
      { topic, partition: 1, offset: 0 },
    ])
    const seen: number[][] = [[], []]
    for (let pulls = 0; pulls < 40 && seen[0]!.length + seen[1]!.length < 35; pulls += 1) {
      const messages = await called<readonly { partition: number; offset: number }[]>((done) =>
        consumer.consume(10, done),
      )
      for (const { partition, offset } of messages) seen[partition]!.push(offset)
    }
    expect(seen[0]).toEqual(Array.from({ length: 15 }, (_, i) => i + 5))
    expect(seen[1]).toEqual(Array.from({ length: 20 }, (_, i) => i))
    await called((done) => consumer.disconnect(done))
  })

  it('[KAF-2] leaves no group behind', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 3)
    const clientName = `ghost-${topic}`
    const own = createKafkaLog({ brokers: kafka.brokers, clientName })
    const reader = await own.openReader({ topic, positions: from(0), deadlineMs: 10_000 })
    await readUntil(reader, ({ ends }) => ends.has(0))
    const admin = new Admin({ clientId: 'groups', bootstrapBrokers: [...kafka.brokers] })
    const ours = async (): Promise<readonly string[]> =>
      [...(await admin.listGroups()).keys()].filter((name) => name.startsWith(clientName))
    expect(await ours()).toEqual([])
    await own.close()
    expect(await ours()).toEqual([])
    await admin.close()
  })

  it('[KAF-4] pausing keeps the position: every record exactly once, in order', async () => {
    const topic = await kafka.createTopic(2)
    await kafka.append(topic, 0, 5000)
    await kafka.append(topic, 1, 5000)
    const reader = await read(topic, 0, 0)
    // Paused before its first record, in the middle of a fetched queue, and at the end.
    reader.pause([1])
    const seen: number[][] = [[], []]
    const collect = async (count: number, max: number): Promise<void> => {
      const delivered = await readUntil(reader, (d) => d.records.length >= count, 10_000, max)
      expect(delivered.failure).toBeUndefined()
      for (const record of delivered.records) seen[record.partition]!.push(Number(record.offset))
    }
    await collect(300, 100)
    for (let round = 0; round < 10; round += 1) {
      const [stop, go] = round % 2 === 0 ? [0, 1] : [1, 0]
      reader.pause([stop])
      reader.resume([go])
      await collect(200, 37)
    }
    reader.resume([0, 1])
    await collect(10_000 - seen[0]!.length - seen[1]!.length, 500)
    const all = Array.from({ length: 5000 }, (_, i) => i)
    expect(seen).toEqual([all, all])
    reader.pause([0, 1])
    await kafka.append(topic, 0, 3, 'late')
    expect((await readUntil(reader, () => false, 500)).records).toEqual([])
    reader.resume([0, 1])
    const late = await readUntil(reader, ({ records }) => records.length >= 3)
    expect(offsetsOf(late)).toEqual([5000, 5001, 5002])
    await reader.close()
  })

  it('[KAF-4] pausing at an end that lies past control records does not go back', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 2)
    await kafka.transaction(topic, 0, 4, 'abort')
    const reader = await read(topic, 0)
    await readUntil(reader, ({ ends }) => ends.has(0))
    reader.pause([0])
    await sleep(300)
    reader.resume([0])
    await kafka.append(topic, 0, 1)
    const delivered = await readUntil(reader, ({ ends }) => ends.get(0) === at(8))
    expect(offsetsOf(delivered)).toEqual([7])
    await reader.close()
  })

  it('[KAF-3] hands over null, empty and odd parts of records as they are', async () => {
    const topic = await kafka.createTopic()
    const producer = await kafka.producer()
    producer.produce(topic, 0, null, null, 1234)
    const odd = JSON.parse('{"__proto__":"proto"}') as object
    producer.produce(topic, 0, Buffer.from('v'), 'k', 5678, undefined, [{ a: 'x' }, { a: 'y' }, odd, { b: '' }])
    await called((done) => producer.flush(10_000, done))
    const reader = await read(topic, 0)
    const { records } = await readUntil(reader, ({ ends }) => ends.has(0))
    expect(records[0]).toMatchObject({
      offset: 0n,
      key: null,
      value: null,
      timestampMs: 1234,
      headers: [],
      leaderEpoch: 0,
    })
    expect(records[1]).toMatchObject({ offset: 1n, timestampMs: 5678 })
    const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString())
    expect([text(records[1]!.key), text(records[1]!.value)]).toEqual(['k', 'v'])
    expect(records[1]!.headers.map(({ name, value }) => [name, text(value)])).toEqual([
      ['a', 'x'],
      ['a', 'y'],
      ['__proto__', 'proto'],
      ['b', ''],
    ])
    await reader.close()
  })

  it('[KAF-7] an empty poll takes its wait and no more; a closed reader says so and a second poll is refused', async () => {
    const topic = await kafka.createTopic()
    const reader = await read(topic, 0)
    await readUntil(reader, ({ ends }) => ends.has(0))
    const before = performance.now()
    expect(await reader.poll({ recordsMax: 10, waitMs: 250 })).toEqual({ kind: 'fetched', batches: [] })
    const tookMs = performance.now() - before
    expect(tookMs).toBeGreaterThanOrEqual(245)
    expect(tookMs).toBeLessThan(1500)
    const first = reader.poll({ recordsMax: 10, waitMs: 100 })
    expect(await reader.poll({ recordsMax: 10, waitMs: 100 })).toMatchObject({ kind: 'failed' })
    expect(await first).toMatchObject({ kind: 'fetched' })
    await reader.close()
    await reader.close()
    expect(await reader.poll({ recordsMax: 10, waitMs: 100 })).toMatchObject({
      kind: 'failed',
      failure: { reason: 'closed' },
    })
    expect(await reader.describeTopic(100)).toMatchObject({ kind: 'no-answer' })
  })
})

describe('one client, one assignment', () => {
  it('[KAF-2] a second assignment is an error of the program, not a second chance for stored group offsets', async () => {
    const topic = await kafka.createTopic()
    const releases: Promise<void>[] = []
    const consumer = await openGuardedConsumer({
      connection: checkConnection({ brokers: kafka.brokers }),
      tuning: {},
      topic,
      partitionCount: 1,
      deadlineMs: 10_000,
      onRelease: (release) => void releases.push(release),
    })
    consumer.assign([{ topic, partition: 0, offset: 0 }])
    expect(() => consumer.assign([{ topic, partition: 0, offset: 0 }])).toThrow(
      expect.objectContaining({ code: 'TM_KAFKA_CLIENT_FAILED' }),
    )
    await consumer.close()
    await Promise.all(releases)
  })
})
