import { randomUUID } from 'node:crypto'
import { Producer as PlainProducer } from '@platformatic/kafka'
import { judgeSurvey } from '@tidemark/log'
import type { CommittedLog } from '@tidemark/log'
import type { CommittedLogWorld, LogCapability, WorldRecord, WorldTransaction } from '@tidemark/testkit/contract'
import { called, openFixture, rawClient, waitFor } from './kafka-fixture.ts'

/** What a test may do to a topic on one broker. Truncation needs three; compaction comes when the cleaner pleases. */
export const brokerCapabilities: Readonly<Omit<Record<LogCapability, boolean>, 'pinned-identity'>> = {
  transactions: true,
  retention: true,
  recreation: true,
  truncation: false,
  compaction: false,
  headers: true,
}

type Producer = InstanceType<typeof rawClient.Producer>

/** A contract world on real brokers: a topic of its own, written by the official client. */
export async function createKafkaLogWorld(
  brokers: readonly string[],
  openLog: (brokers: readonly string[]) => CommittedLog,
): Promise<CommittedLogWorld> {
  const kafka = await openFixture(brokers)
  // Cases write records with time stamps of years ago, which retention would remove while they are read.
  const topic = await kafka.createTopic(2, { 'retention.ms': '-1' })
  const logs: CommittedLog[] = []
  const open = async (): Promise<CommittedLog> => {
    const log = openLog(brokers)
    logs.push(log)
    return log
  }
  const { inspector } = await open()
  const flushed = (producer: Producer) => called((done) => producer.flush(20_000, done))

  /** A transaction's end is acknowledged before its marker stands in the log. */
  const settled = (partition: number): Promise<void> =>
    waitFor(async () => {
      const reading = await inspector.readBounds(topic, 2, { deadlineMs: 5_000 })
      if (reading.kind !== 'bounds') return false
      const { lastStableOffset, highWatermark } = reading.partitions[partition]!
      return lastStableOffset === highWatermark
    })

  const begin = async (partition: number, records: readonly WorldRecord[]): Promise<WorldTransaction> => {
    const producer = new rawClient.Producer({
      'bootstrap.servers': brokers.join(','),
      'transactional.id': randomUUID(),
      'transaction.timeout.ms': 120_000,
    })
    await called((done) => producer.connect({ timeout: 20_000 }, done))
    await called((done) => producer.initTransactions(20_000, done))
    await called((done) => producer.beginTransaction(done))
    produceAll(producer, topic, partition, records)
    await flushed(producer)
    const end = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      await called((done) => producer.disconnect(done))
      await settled(partition)
    }
    return {
      commit: () => end(() => called((done) => producer.commitTransaction(20_000, done))),
      abort: () => end(() => called((done) => producer.abortTransaction(20_000, done))),
    }
  }

  return {
    topic,
    deadlineMs: 10_000,
    slackMs: 5_000,
    openLog: open,
    append: (partition, records) => appendAll(brokers, topic, partition, records),
    begin,
    deleteRecordsBefore: (partition, low) => kafka.deleteRecordsBelow(topic, partition, Number(low)),
    async recreate() {
      await kafka.recreateTopic(topic, 2)
      const verdict = judgeSurvey(await inspector.surveyIdentity(topic, { deadlineMs: 5_000 }), undefined)
      if (verdict.kind !== 'proven') throw new Error(`not recreated: ${JSON.stringify(verdict)}`)
    },
    async close() {
      await Promise.all(logs.map((log) => log.close()))
      await kafka.close()
    },
  }
}

/** The official client writes an empty part as null, so records outside transactions come from the other one. */
async function appendAll(
  brokers: readonly string[],
  topic: string,
  partition: number,
  records: readonly WorldRecord[],
): Promise<void> {
  const producer = new PlainProducer({ clientId: 'contract', bootstrapBrokers: [...brokers] })
  try {
    const messages = records.map(({ key, value, timestampMs, headers = [] }) => ({
      topic,
      partition,
      key: bytesOf(key)!,
      value: bytesOf(value)!,
      timestamp: BigInt(timestampMs ?? Date.now()),
      // Names as bytes: a map keyed by text would take a repeated name once.
      headers: new Map(headers.map((header) => [Buffer.from(header.name), bytesOf(header.value)!])),
    }))
    await producer.send({ messages, acks: -1 })
  } finally {
    await producer.close()
  }
}

function produceAll(producer: Producer, topic: string, partition: number, records: readonly WorldRecord[]): void {
  for (const { key, value, timestampMs, headers = [] } of records) {
    const named = headers.map((header) => ({
      [header.name]: header.value === null ? null : Buffer.from(header.value),
    }))
    producer.produce(topic, partition, bytesOf(value), bytesOf(key), timestampMs, undefined, named)
  }
}

function bytesOf(part: Uint8Array | string | null | undefined): Buffer | null {
  return part === null || part === undefined ? null : Buffer.from(part as string)
}
