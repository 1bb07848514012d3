import { randomUUID } from 'node:crypto'
import { Admin } from '@platformatic/kafka'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import type { CommittedLog, ReadBack } from '@tidemark/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKafkaLog } from '../src/index.ts'
import { createPinnedKafkaLog } from '../src/pinned/index.ts'
import type { KafkaFixture } from './kafka-fixture.ts'
import { at, called, endsOf, offsetsOf, openFixture, rawClient, readUntil, waitFor } from './kafka-fixture.ts'
import { observeFetches } from './pinned/observed-fetches.ts'

const aborted = process.env['TIDEMARK_SIZE'] === 'full' ? 200_000 : 20_000
const committed = 10
/** After the committed records come the aborted ones and the marker. */
const end = committed + aborted + 1
const valueBytes = 100

/** What a start gives one question by default; the whole tail must be read within one. */
const deadlineMs = 5_000

let kafka: KafkaFixture
let topic: string
const logs: CommittedLog[] = []
const open = (name: string, clientName = 'aborted-tail'): CommittedLog => {
  const log = (name === 'pinned' ? createPinnedKafkaLog : createKafkaLog)({ brokers: kafka.brokers, clientName })
  logs.push(log)
  return log
}

beforeAll(async () => {
  kafka = await openFixture(await sharedKafkaBrokers())
  topic = await kafka.createTopic()
  await kafka.append(topic, 0, committed)
  await appendAborted()
  const { inspector } = open('pinned')
  await waitFor(async () => {
    const reading = await inspector.readBounds(topic, 1, { deadlineMs: 5_000 })
    return reading.kind === 'bounds' && Number(reading.partitions[0]!.lastStableOffset) === end
  })
})

afterAll(async () => {
  await Promise.all(logs.map((log) => log.close()))
  await kafka?.close()
})

/** One transaction in batches of the size that producers use by default. */
async function appendAborted(): Promise<void> {
  const producer = new rawClient.Producer({
    'bootstrap.servers': kafka.brokers.join(','),
    'transactional.id': randomUUID(),
    'transaction.timeout.ms': 120_000,
    'linger.ms': 20,
    'batch.size': 16_384,
  })
  await called((done) => producer.connect({ timeout: 20_000 }, done))
  await called((done) => producer.initTransactions(20_000, done))
  await called((done) => producer.beginTransaction(done))
  for (let written = 0; written < aborted; written += 1) {
    producer.produce(topic, 0, Buffer.alloc(valueBytes, 'x'), 'k')
    if (written % 20_000 === 19_999) await called((done) => producer.flush(60_000, done))
  }
  await called((done) => producer.flush(60_000, done))
  await called((done) => producer.abortTransaction(60_000, done))
  await called((done) => producer.disconnect(done))
}

/** As a start asks: the last applied record, and everything passed behind it. */
const asked = [
  { partition: 0, offset: at(committed - 1) },
  { partition: 0, offset: at(committed), before: at(end) },
]
const kindsOf = (answers: readonly ReadBack[]): readonly string[] =>
  [...answers].sort((a, b) => (a.offset < b.offset ? -1 : 1)).map(({ kind }) => kind)

describe.each(['official', 'pinned'])('a log that ends in many aborted records, read by the %s client', (name) => {
  it('[KAF-5] [KAF-21] [KAF-27] is read to its end, which is told after the records before it', async () => {
    const log = open(name)
    const reader = await log.openReader({ topic, positions: [{ partition: 0, nextOffset: at(0) }], deadlineMs: 15_000 })
    const delivered = await readUntil(reader, (so) => endsOf(so)[0] === end, 30_000)
    expect(delivered.failure).toBeUndefined()
    expect(offsetsOf(delivered)).toEqual(Array.from({ length: committed }, (_, offset) => offset))
    expect(endsOf(delivered)).toEqual({ 0: end })
    await reader.close()
  })

  it('[KAF-10] a read-back of all that was passed is decided within the deadline of one question', async () => {
    const log = open(name)
    const startedMs = performance.now()
    expect(kindsOf(await log.readBack({ topic, records: asked, deadlineMs }))).toEqual(['record', 'absent'])
    console.log(`${name}: ${aborted} aborted records read through in ${Math.round(performance.now() - startedMs)} ms`)
  })

  it('[KAF-10] a read-back whose time is up on the way says so, and never takes what it did not read for a gap', async () => {
    const log = open(name)
    // However far it came: right, open, or refused at the opening.
    for (const shortMs of [1, 20, 60]) {
      const startedMs = performance.now()
      const outcome = await log
        .readBack({ topic, records: asked, deadlineMs: shortMs })
        .then(kindsOf, () => ['rejected'])
      expect(performance.now() - startedMs).toBeLessThan(shortMs + 3_000)
      expect([
        ['rejected'],
        ['unreadable', 'unreadable'],
        ['record', 'unreadable'],
        ['record', 'absent'],
      ]).toContainEqual(outcome)
      if (shortMs === 1) expect(outcome).not.toContain('absent')
    }
  })
})

describe('a broker that lets its readers wait for their quota', () => {
  const names = ['official', 'pinned'] as const
  const clientNames = names.map((name) => `slow-${name}-${randomUUID()}`)
  /** A little less than what lets the tail through at once: brokers measure over ten seconds by default. */
  const bytesPerSecond = Math.round((aborted * valueBytes) / 11.5)

  it('[KAF-10] [KAF-29] is read through, though that takes longer than a deadline', async () => {
    const admin = new Admin({ clientId: 'quotas', bootstrapBrokers: [...kafka.brokers] })
    const entries = clientNames.map((entityName) => ({
      entities: [{ entityType: 'client-id' as const, entityName }],
      ops: [{ key: 'consumer_byte_rate' as const, value: bytesPerSecond, remove: false as const }],
    }))
    await admin.alterClientQuotas({ entries, validateOnly: false })
    await admin.close()
    const readSlowly = async (name: string, index: number): Promise<void> => {
      const log = open(name, clientNames[index])
      const startedMs = performance.now()
      const slow = { topic, records: asked, deadlineMs: 2_000, totalMsMax: 60_000 }
      const kinds = kindsOf(await log.readBack(slow))
      const spentMs = Math.round(performance.now() - startedMs)
      console.log(`${name}: read through under a quota of ${bytesPerSecond} bytes a second in ${spentMs} ms`)
      expect({ name, kinds }).toEqual({ name, kinds: ['record', 'absent'] })
      expect(spentMs).toBeGreaterThan(slow.deadlineMs)
    }
    await Promise.all(names.map(readSlowly))
  })
})

describe('how the pinned log reads a long stretch back', () => {
  it('[KAF-29] in fetches as large as those of a reader: each of them costs a round trip', async () => {
    const log = open('pinned')
    const observed = observeFetches()
    await log.readBack({ topic, records: asked, deadlineMs })
    observed.end()
    const bytes = observed.fetches.reduce((sum, fetch) => sum + fetch.bytes, 0)
    expect(bytes).toBeGreaterThan(aborted * valueBytes)
    // The first ones fill what is fetched ahead; one may be under way when the answer is there.
    expect(observed.fetches.length).toBeLessThanOrEqual(Math.ceil(bytes / 2 ** 19) + 3)
  })

  it('[KAF-29] and little of a partition where one record is wanted', async () => {
    const log = open('pinned')
    const observed = observeFetches()
    await log.readBack({ topic, records: asked.slice(0, 1), deadlineMs })
    observed.end()
    expect(observed.fetches[0]!.bytes).toBeLessThanOrEqual(65_536)
  })
})
