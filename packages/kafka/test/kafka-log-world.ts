import { randomUUID } from 'node:crypto'
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
  const topic = await kafka.createTopic(2)
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
    async append(partition, records) {
      const producer = await kafka.producer()
      produceAll(producer, topic, partition, records)
      await flushed(producer)
    },
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
