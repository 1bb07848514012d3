import { randomUUID } from 'node:crypto'
import client from '@confluentinc/kafka-javascript'
import type { LibrdKafkaError, Metadata, ProducerGlobalConfig } from '@confluentinc/kafka-javascript'
import type { KafkaPlace } from '../settings/place-settings.ts'
import type { DispatchMessage, DispatchWriter } from './dispatch-writer.ts'

/**
 * A transactional producer on Kafka. Its transactional id is its own, so that two writers never fence each other.
 *
 * The client's plain interface takes a deadline for every call; under its other one a failed connection attempt keeps the
 * process alive for half a minute.
 */
export async function openKafkaDispatchWriter(options: {
  readonly place: KafkaPlace
  readonly topic: string
  readonly deadlineMs: number
}): Promise<DispatchWriter> {
  const { place, topic, deadlineMs } = options
  // The Java client's choice of partition, so that both put a key into the same one.
  const forTopics = { partitioner: 'murmur2_random', 'message.timeout.ms': deadlineMs } as const
  const producer = new client.Producer({ ...producerConfig(place), 'linger.ms': 1 }, forTopics)
  const call = newCaller(producer, place)
  // The client ends the process when it is told to disconnect while a call of a transaction is under way.
  const turns = newTurns()
  const close = (): Promise<void> =>
    turns.last(async () => {
      if (!producer.isConnected()) return
      await new Promise<void>((resolve) => producer.disconnect(deadlineMs, () => resolve()))
    })
  try {
    const asked = { timeout: deadlineMs, topic }
    const { topics } = await call<Metadata>('connecting the producer', (done) => producer.connect(asked, done))
    // A topic without partitions is one the broker does not know, or does not show to this user.
    if (!topics.some(({ name, partitions }) => name === topic && partitions.length > 0)) {
      throw new Error(`connecting the producer failed: topic ${topic} is not there, or not for this user`)
    }
    await call('preparing transactions', (done) => producer.initTransactions(deadlineMs, done))
  } catch (error) {
    await close()
    throw error
  }
  const write: DispatchWriter['write'] = async (messages, ending) => {
    await call('beginning a transaction', (done) => producer.beginTransaction(done))
    try {
      for (const message of messages) produce(producer, topic, message)
      // A commit first waits for every record and fails when a single one does.
      if (ending === 'commit') {
        const what = `committing ${messages.length} records to ${topic}`
        await call(what, (done) => producer.commitTransaction(deadlineMs, done))
      }
    } catch (error) {
      await call('aborting', (done) => producer.abortTransaction(deadlineMs, done)).catch(() => undefined)
      throw error
    }
    if (ending === 'commit') return
    // What is to be aborted must have reached the log first, or nothing of it would be there to be aborted.
    await call('writing', (done) => producer.flush(deadlineMs, done))
    await call('aborting', (done) => producer.abortTransaction(deadlineMs, done))
  }
  return { write: (messages, ending) => turns.next(() => write(messages, ending)), close }
}

/** One thing after another; after the last one nothing is begun any more. */
function newTurns() {
  let before: Promise<unknown> = Promise.resolve()
  let ending: Promise<void> | undefined
  const after = <T>(act: () => Promise<T>): Promise<T> => {
    const outcome = before.then(act)
    before = outcome.catch(() => undefined)
    return outcome
  }
  return {
    next: (act: () => Promise<void>): Promise<void> =>
      ending === undefined ? after(act) : Promise.reject(new Error('the writer is closed')),
    last: (act: () => Promise<void>): Promise<void> => (ending ??= after(act)),
  }
}

type Done<T> = (error: LibrdKafkaError | null, value?: T) => void

/** Turns one call of the client into a promise whose error also names what the client last complained about. */
function newCaller(producer: InstanceType<typeof client.Producer>, place: KafkaPlace) {
  const { sasl } = place.security
  const redact = (text: string): string => (sasl === undefined ? text : text.replaceAll(sasl.password, '***'))
  let complaint: string | undefined
  producer.on('event.error', (error) => {
    complaint = redact(error.message)
  })
  return <T = unknown>(what: string, act: (done: Done<T>) => unknown): Promise<T> =>
    new Promise((resolve, reject) => {
      act((error, value) => {
        if (error === null || error === undefined) return resolve(value as T)
        const reason = redact(error.message)
        const also = complaint === undefined || complaint === reason ? '' : ` (${complaint})`
        reject(new Error(`${what} failed: ${reason}${also}`, { cause: error }))
      })
    })
}

function produce(producer: InstanceType<typeof client.Producer>, topic: string, message: DispatchMessage): void {
  const { key, value, partition = null } = message
  producer.produce(topic, partition, value === null ? null : Buffer.from(value), key)
}

function producerConfig(place: KafkaPlace): ProducerGlobalConfig {
  const { tls, sasl } = place.security
  const login =
    sasl === undefined
      ? {}
      : { 'sasl.mechanisms': sasl.mechanism, 'sasl.username': sasl.username, 'sasl.password': sasl.password }
  const protocol = `${sasl === undefined ? '' : 'sasl_'}${tls === undefined ? 'plaintext' : 'ssl'}` as 'plaintext'
  return {
    'metadata.broker.list': place.brokers.join(','),
    'client.id': 'session-producer',
    'security.protocol': protocol,
    ...login,
    'transactional.id': `session-producer-${randomUUID()}`,
    'allow.auto.create.topics': false,
    log_level: 0,
  }
}
