import { Admin, Producer } from '@platformatic/kafka'
import { dispatchValue } from './dispatch-project.ts'

/** A topic of its own on a broker, with dispatches in it. */
export async function createDispatchTopic(
  brokers: readonly string[],
  topic: string,
  partitions: number,
  records: number,
): Promise<void> {
  const admin = new Admin({ clientId: 'cli-test', bootstrapBrokers: [...brokers] })
  try {
    await admin.createTopics({ topics: [topic], partitions, replicas: 1 })
  } finally {
    await admin.close()
  }
  await produceDispatches(brokers, topic, partitions, records)
}

/** Appends dispatches, one partition after the other. */
export async function produceDispatches(
  brokers: readonly string[],
  topic: string,
  partitions: number,
  records: number,
): Promise<void> {
  // A slow broker must not get a record twice: the tests count them.
  const producer = new Producer({ clientId: 'cli-test', bootstrapBrokers: [...brokers], idempotent: true })
  try {
    const messages = Array.from({ length: records }, (_, n) => ({
      topic,
      partition: n % partitions,
      value: Buffer.from(dispatchValue(`u${n % 5}`, `c${n}`, 1_000 + n)),
    }))
    if (messages.length > 0) await producer.send({ messages, acks: -1 })
  } finally {
    await producer.close()
  }
}

/** Deletes a topic and creates one of the same name. */
export async function recreateTopic(brokers: readonly string[], topic: string, partitions: number): Promise<void> {
  const admin = new Admin({ clientId: 'cli-test', bootstrapBrokers: [...brokers] })
  try {
    await admin.deleteTopics({ topics: [topic] })
    for (let attempt = 1; ; attempt += 1) {
      try {
        await admin.createTopics({ topics: [topic], partitions, replicas: 1 })
        return
      } catch (error) {
        // The deletion is acknowledged before every trace of the topic is gone.
        if (attempt >= 50) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  } finally {
    await admin.close()
  }
}
