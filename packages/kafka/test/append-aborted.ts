import { randomUUID } from 'node:crypto'
import { called, rawClient } from './kafka-fixture.ts'

/** One aborted transaction in partition 0, in batches of the size that producers use by default. */
export async function appendAborted(
  brokers: readonly string[],
  topic: string,
  count: number,
  valueBytes: number,
): Promise<void> {
  const producer = new rawClient.Producer({
    'bootstrap.servers': brokers.join(','),
    'transactional.id': randomUUID(),
    'transaction.timeout.ms': 120_000,
    'linger.ms': 20,
    'batch.size': 16_384,
  })
  await called((done) => producer.connect({ timeout: 20_000 }, done))
  await called((done) => producer.initTransactions(20_000, done))
  await called((done) => producer.beginTransaction(done))
  for (let written = 0; written < count; written += 1) {
    producer.produce(topic, 0, Buffer.alloc(valueBytes, 'x'), 'k')
    if (written % 20_000 === 19_999) await called((done) => producer.flush(60_000, done))
  }
  await called((done) => producer.flush(60_000, done))
  await called((done) => producer.abortTransaction(60_000, done))
  await called((done) => producer.disconnect(done))
}
