import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import type { CommittedLog, ReadBack } from '@tidemark/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKafkaLog } from '../src/index.ts'
import { createPinnedKafkaLog } from '../src/pinned/index.ts'
import { appendAborted } from './append-aborted.ts'
import type { KafkaFixture } from './kafka-fixture.ts'
import { at, endsOf, offsetsOf, openFixture, readUntil, waitFor } from './kafka-fixture.ts'
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
const open = (name: string): CommittedLog => {
  const log = (name === 'pinned' ? createPinnedKafkaLog : createKafkaLog)({ brokers: kafka.brokers })
  logs.push(log)
  return log
}

beforeAll(async () => {
  kafka = await openFixture(await sharedKafkaBrokers())
  topic = await kafka.createTopic()
  await kafka.append(topic, 0, committed)
  await appendAborted(kafka.brokers, topic, aborted, valueBytes)
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
