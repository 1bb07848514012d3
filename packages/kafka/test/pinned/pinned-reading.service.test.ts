import { randomUUID } from 'node:crypto'
import { isTidemarkError } from '@tidemark/core'
import type { CommittedLog, LogReader } from '@tidemark/log'
import { judgeSurvey, witnessOf } from '@tidemark/log'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKafkaLog } from '../../src/index.ts'
import { createPinnedKafkaLog } from '../../src/pinned/index.ts'
import type { PinnedFetchOptions } from '../../src/pinned/index.ts'
import type { Delivered, KafkaFixture } from '../kafka-fixture.ts'
import { at, called, endsOf, offsetsOf, openFixture, rawClient, readUntil, sleep } from '../kafka-fixture.ts'

const isFull = process.env['TIDEMARK_SIZE'] === 'full'
let kafka: KafkaFixture
let pinned: CommittedLog
let official: CommittedLog

beforeAll(async () => {
  kafka = await openFixture(await sharedKafkaBrokers())
  pinned = createPinnedKafkaLog({ brokers: kafka.brokers })
  official = createKafkaLog({ brokers: kafka.brokers })
})

afterAll(async () => {
  await pinned?.close()
  await official?.close()
  await kafka?.close()
})

const openAt = (topic: string, positions: readonly number[], log: CommittedLog = pinned): Promise<LogReader> =>
  log.openReader({
    topic,
    positions: positions.map((position, partition) => ({ partition, nextOffset: at(position) })),
    deadlineMs: 15_000,
  })

async function readToEnd(topic: string, end: number, log: CommittedLog, from = 0): Promise<Delivered> {
  const reader = await openAt(topic, [from], log)
  try {
    return await readUntil(reader, (delivered) => endsOf(delivered)[0] === end, 20_000)
  } finally {
    await reader.close()
  }
}

async function endOf(topic: string): Promise<number> {
  const reading = await pinned.inspector.readBounds(topic, 1, { deadlineMs: 5_000 })
  if (reading.kind !== 'bounds') throw new Error(reading.message)
  return Number(reading.partitions[0]!.lastStableOffset)
}

async function identityOf(topic: string) {
  const verdict = judgeSurvey(await pinned.inspector.surveyIdentity(topic, { deadlineMs: 5_000 }), undefined)
  if (verdict.kind !== 'proven') throw new Error(JSON.stringify(verdict))
  return verdict.identity
}

/** A reader over its own small limits. */
async function withLimits<T>(fetch: PinnedFetchOptions, use: (log: CommittedLog) => Promise<T>): Promise<T> {
  const log = createPinnedKafkaLog({ brokers: kafka.brokers, fetch })
  try {
    return await use(log)
  } finally {
    await log.close()
  }
}

async function produceWith(settings: object, topic: string, values: readonly Buffer[]): Promise<void> {
  const producer = new rawClient.Producer({
    'bootstrap.servers': kafka.brokers.join(','),
    'linger.ms': 20,
    ...settings,
  })
  await called((done) => producer.connect({ timeout: 20_000 }, done))
  for (const value of values) producer.produce(topic, 0, value, 'k')
  await called((done) => producer.flush(20_000, done))
  await called((done) => producer.disconnect(done))
}

describe('what the pinned log delivers', () => {
  it.each(['none', 'gzip', 'snappy', 'lz4'])(
    '[KAF-21] [KAF-22] batches compressed with %s by the official client',
    async (codec) => {
      const topic = await kafka.createTopic()
      const values = Array.from({ length: 500 }, (_, n) =>
        Buffer.from(`{"n":${n},"text":"${'lorem ipsum '.repeat(n % 20)}"}`),
      )
      await produceWith({ 'compression.codec': codec }, topic, values)
      const delivered = await readToEnd(topic, 500, pinned)
      expect(delivered.failure).toBeUndefined()
      expect(delivered.records.map(({ value }) => Buffer.from(value!).toString())).toEqual(values.map(String))
    },
  )

  it('[KAF-23] zstd is read where Node.js can, and is a failure with the reason where it cannot, never a gap', async () => {
    const topic = await kafka.createTopic()
    await produceWith({ 'compression.codec': 'zstd' }, topic, [
      Buffer.from('a'.repeat(500)),
      Buffer.from('b'.repeat(500)),
    ])
    const delivered = await readToEnd(topic, 2, pinned)
    const canRead = 'zstdDecompressSync' in (await import('node:zlib'))
    if (canRead) return expect(offsetsOf(delivered)).toEqual([0, 1])
    expect(delivered.records).toEqual([])
    expect(delivered.failure).toMatchObject({ reason: 'other', partition: 0 })
    expect(delivered.failure?.message).toMatch(/zstd.*22\.15/)
  })

  it('[KAF-21] [KAF-27] the same as the official client, over interleaved transactions that commit, abort and stay open', async () => {
    const topic = await kafka.createTopic()
    const producers = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const producer = new rawClient.Producer({
          'bootstrap.servers': kafka.brokers.join(','),
          'transactional.id': randomUUID(),
        })
        await called((done) => producer.connect({ timeout: 20_000 }, done))
        await called((done) => producer.initTransactions(20_000, done))
        return producer
      }),
    )
    for (let round = 0; round < 4; round += 1) {
      for (const producer of producers) await called((done) => producer.beginTransaction(done))
      // Each writes twice in turn, so that their batches lie between each other's.
      for (let turn = 0; turn < 2; turn += 1) {
        for (const [index, producer] of producers.entries()) {
          for (let n = 0; n <= index; n += 1)
            producer.produce(topic, 0, Buffer.from(`${round}.${turn}.${index}.${n}`), 'k')
          await called((done) => producer.flush(20_000, done))
        }
        await kafka.append(topic, 0, 1, `plain${round}.`)
      }
      for (const [index, producer] of producers.entries()) {
        // The last round of the first producer stays open: nothing behind it may come.
        if (round === 3 && index === 0) continue
        if ((round + index) % 2 === 0) await called((done) => producer.abortTransaction(20_000, done))
        else await called((done) => producer.commitTransaction(20_000, done))
      }
    }
    const end = await endOf(topic)
    const [ours, theirs] = [await readToEnd(topic, end, pinned), await readToEnd(topic, end, official)]
    expect(ours.failure).toBeUndefined()
    expect(ours.records.length).toBeGreaterThan(20)
    expect(ours.records.map(witnessOf)).toEqual(theirs.records.map(witnessOf))
    expect(endsOf(ours)).toEqual(endsOf(theirs))
    for (const from of [1, 7, Math.floor(end / 2), end - 1]) {
      const [a, b] = [await readToEnd(topic, end, pinned, from), await readToEnd(topic, end, official, from)]
      expect(a.records.map(witnessOf), `from ${from}`).toEqual(b.records.map(witnessOf))
    }
    await called((done) => producers[0]!.abortTransaction(20_000, done))
    for (const producer of producers) await called((done) => producer.disconnect(done))
  })

  it('[KAF-26] a record larger than every limit arrives, and small ones beside it are not held up', async () => {
    const topic = await kafka.createTopic(2, { 'max.message.bytes': '8388608' })
    const huge = Buffer.alloc(3 * 2 ** 20, 'x')
    await produceWith({ 'message.max.bytes': 8_388_608 }, topic, [huge, Buffer.from('after')])
    await kafka.append(topic, 1, 2_000)
    await withLimits({ partitionBytesMax: 1_024, bytesMax: 65_536, bufferedBytesMax: 131_072 }, async (log) => {
      const reader = await openAt(topic, [0, 0], log)
      const delivered = await readUntil(reader, (so) => endsOf(so)[0] === 2 && endsOf(so)[1] === 2_000, 20_000)
      expect(delivered.failure).toBeUndefined()
      expect(offsetsOf(delivered, 0)).toEqual([0, 1])
      expect(delivered.records.find(({ partition }) => partition === 0)!.value!.byteLength).toBe(huge.length)
      expect(offsetsOf(delivered, 1)).toEqual(Array.from({ length: 2_000 }, (_, n) => n))
    })
  })

  it('[KAF-26] [KAF-20] what paused partitions hold does not starve the others, and none of it is lost', async () => {
    const topic = await kafka.createTopic(4)
    for (const partition of [0, 1, 2]) await kafka.append(topic, partition, 8_000, 'a value of some length '.repeat(2))
    const limits = { partitionBytesMax: 65_536, bytesMax: 131_072, bufferedBytesMax: 131_072 }
    await withLimits(limits, async (log) => {
      const reader = await openAt(topic, [0, 0, 0, 0], log)
      const first = await readUntil(reader, ({ records }) => records.length >= 30, 10_000, 10)
      reader.pause([0, 1, 2])
      await kafka.append(topic, 3, 500)
      const others = await readUntil(reader, (so) => endsOf(so)[3] === 500, 10_000)
      expect(offsetsOf(others, 3)).toHaveLength(500)
      expect(others.records.every(({ partition }) => partition === 3)).toBe(true)
      reader.resume([0, 1, 2])
      const rest = await readUntil(reader, (so) => [0, 1, 2].every((p) => endsOf(so)[p] === 8_000), 20_000)
      for (const partition of [0, 1, 2]) {
        const all = [...offsetsOf(first, partition), ...offsetsOf(rest, partition)]
        expect(all).toEqual(Array.from({ length: 8_000 }, (_, n) => n))
      }
    })
  })

  it('[KAF-29] [KAF-10] reads back by the id, and nothing under an id that the topic no longer has', async () => {
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 3)
    await kafka.transaction(topic, 0, 2, 'abort')
    const identity = await identityOf(topic)
    const records = [0, 2, 3, 4, 5].map((offset) => ({ partition: 0, offset: at(offset) }))
    const answers = await pinned.readBack({ topic, identity, records, deadlineMs: 10_000 })
    const kinds = new Map(answers.map(({ offset, kind }) => [Number(offset), kind]))
    expect([0, 2, 3, 4, 5].map((offset) => kinds.get(offset))).toEqual([
      'record',
      'record',
      'absent',
      'absent',
      'absent',
    ])
    await kafka.recreateTopic(topic)
    await kafka.append(topic, 0, 9, 'new')
    await expect(pinned.readBack({ topic, identity, records, deadlineMs: 5_000 })).rejects.toMatchObject({
      code: 'TM_KAFKA_TOPIC_ID_CHANGED',
    })
  })
})

describe('a log that changes under the pinned reader', () => {
  it.each([
    ['longer', 40],
    ['shorter', 2],
    ['empty', 0],
  ])(
    '[KAF-24] [A5] [CK-01] [CK-02] a recreated topic that is %s ends it, with nothing of the new one delivered',
    async (_, fresh) => {
      const topic = await kafka.createTopic()
      await kafka.append(topic, 0, 5, 'old')
      const reader = await openAt(topic, [0])
      await readUntil(reader, (so) => endsOf(so)[0] === 5)
      reader.pause([0])
      await kafka.recreateTopic(topic)
      if (fresh > 0) await kafka.append(topic, 0, fresh, 'new')
      reader.resume([0])
      const after = await readUntil(reader, () => false, 10_000)
      expect(after.records).toEqual([])
      expect(after.failure).toMatchObject({ reason: 'unknown-topic' })
      await reader.close()
    },
  )

  it('[KAF-24] a deleted topic ends it', async () => {
    const topic = await kafka.createTopic()
    const reader = await openAt(topic, [0])
    await readUntil(reader, (so) => endsOf(so)[0] === 0)
    await kafka.deleteTopic(topic)
    expect((await readUntil(reader, () => false, 10_000)).failure).toMatchObject({ reason: 'unknown-topic' })
    await reader.close()
  })

  it('[KAF-25] [CK-55] retention that overtakes it ends it while another partition flows', async () => {
    const topic = await kafka.createTopic(2)
    await kafka.append(topic, 0, 10)
    const reader = await openAt(topic, [0, 0])
    await readUntil(reader, (so) => endsOf(so)[0] === 10)
    reader.pause([0])
    // What was on its way when it was paused is kept; what comes later is not.
    await sleep(300)
    await kafka.append(topic, 0, 10)
    await kafka.append(topic, 1, 100)
    await readUntil(reader, (so) => endsOf(so)[1] === 100)
    await kafka.deleteRecordsBelow(topic, 0, 15)
    reader.resume([0])
    expect((await readUntil(reader, () => false, 10_000)).failure).toMatchObject({
      reason: 'out-of-range',
      partition: 0,
    })
    await reader.close()
  })

  it('[KAF-20] [CK-18] goes on when partitions are added, and its client tells the new count', async () => {
    const topic = await kafka.createTopic(2)
    await kafka.append(topic, 0, 3)
    const reader = await openAt(topic, [0, 0])
    await readUntil(reader, (so) => endsOf(so)[0] === 3)
    await kafka.addPartitions(topic, 4)
    await kafka.append(topic, 1, 3)
    expect(offsetsOf(await readUntil(reader, (so) => endsOf(so)[1] === 3), 1)).toEqual([0, 1, 2])
    expect(await reader.describeTopic(5_000)).toMatchObject({ kind: 'described', partitionCount: 4 })
    await reader.close()
  })
})

describe('opening, idling and closing', () => {
  it('[KAF-24] [KAF-28] opening under another id, for a partition or a topic that is not there, fails with its code', async () => {
    const topic = await kafka.createTopic()
    const identity = await identityOf(topic)
    const open = (change: object): Promise<string> =>
      pinned
        .openReader({ topic, positions: [{ partition: 0, nextOffset: at(0) }], deadlineMs: 5_000, ...change })
        .then(() => 'opened')
        .catch((error: unknown) => (isTidemarkError(error) ? error.code : String(error)))
    await kafka.recreateTopic(topic)
    expect(await open({ identity })).toBe('TM_KAFKA_TOPIC_ID_CHANGED')
    expect(await open({ topic: `${topic}-nowhere` })).toBe('TM_KAFKA_UNKNOWN_TOPIC')
    expect(await open({ positions: [{ partition: 9, nextOffset: at(0) }] })).toBe('TM_KAFKA_UNKNOWN_PARTITION')
    expect(await open({ positions: [] })).toBe('TM_KAFKA_OPTION_INVALID')
    expect(await open({ positions: [{ partition: 0, nextOffset: -1n }] })).toBe('TM_KAFKA_POSITION_INVALID')
    expect(await open({ signal: { aborted: true, addEventListener() {}, removeEventListener() {} } })).toBe(
      'TM_CORE_CANCELLED',
    )
    expect(await open({})).toBe('opened')
  })

  it('[KAF-25] a position beyond 2^53 is asked for exactly and is out of range, not rounded', async () => {
    const topic = await kafka.createTopic()
    const reader = await pinned.openReader({
      topic,
      positions: [{ partition: 0, nextOffset: at(0) + 2n ** 60n + 1n } as never],
      deadlineMs: 5_000,
    })
    const { failure } = await readUntil(reader, () => false, 10_000)
    expect(failure).toMatchObject({ reason: 'out-of-range' })
    expect(failure?.message).toContain(String(2n ** 60n + 1n))
    await reader.close()
  })

  it('[KAF-28] closing ends a fetch that waits at the broker, at once', async () => {
    const topic = await kafka.createTopic()
    await withLimits({ waitMs: 30_000 }, async (log) => {
      const reader = await openAt(topic, [0], log)
      const waiting = readUntil(reader, () => false, 20_000)
      await new Promise((resolve) => setTimeout(resolve, 300))
      const before = performance.now()
      await reader.close()
      expect((await waiting).failure).toMatchObject({ reason: 'closed' })
      expect(performance.now() - before).toBeLessThan(1_000)
      expect(await reader.poll({ recordsMax: 1, waitMs: 1_000 })).toMatchObject({ failure: { reason: 'closed' } })
    })
  })

  it(`[KAF-26] an idle reader of many partitions costs a small part of a processor`, async () => {
    const partitions = isFull ? 1_000 : 200
    const topic = await kafka.createTopic(partitions)
    const reader = await openAt(
      topic,
      Array.from({ length: partitions }, () => 0),
    )
    await readUntil(reader, ({ ends }) => ends.size === partitions, 30_000)
    const startedMs = performance.now()
    const before = process.cpuUsage()
    while (performance.now() - startedMs < 3_000) {
      expect(await reader.poll({ recordsMax: 1_000, waitMs: 100 })).toEqual({ kind: 'fetched', batches: [] })
    }
    const { user, system } = process.cpuUsage(before)
    const share = (user + system) / 1_000 / (performance.now() - startedMs)
    console.log(`idle reader of ${partitions} partitions: ${(share * 100).toFixed(1)} % of one processor`)
    expect(share).toBeLessThan(0.25)
    // News of one among many comes without waiting for the others.
    await kafka.append(topic, partitions - 1, 1)
    const appendedMs = performance.now()
    const { records } = await readUntil(reader, (so) => so.records.length > 0, 10_000)
    expect(records[0]!.partition).toBe(partitions - 1)
    expect(performance.now() - appendedMs).toBeLessThan(2_000)
    await reader.close()
  })
})
