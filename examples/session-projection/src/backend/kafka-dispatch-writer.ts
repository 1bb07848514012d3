import { randomUUID } from 'node:crypto'
import type { LogPlace } from '../settings/place-settings.ts'
import type { DispatchWriter } from './dispatch-writer.ts'
import { createKafkaClient } from './kafka-client.ts'

/** A transactional producer on Kafka. Its transactional id is its own, so that two writers never fence each other. */
export async function openKafkaDispatchWriter(options: {
  readonly place: Extract<LogPlace, { kind: 'kafka' }>
  readonly topic: string
  readonly deadlineMs: number
}): Promise<DispatchWriter> {
  const { topic } = options
  const client = createKafkaClient(options.place, options.deadlineMs)
  const producer = client.kafka.producer({
    kafkaJS: { transactionalId: `session-producer-${randomUUID()}`, allowAutoTopicCreation: false, acks: -1 },
    'message.timeout.ms': options.deadlineMs,
    'linger.ms': 1,
  })
  const close = async (): Promise<void> => {
    await client.within('disconnecting', producer.disconnect()).catch(() => undefined)
  }
  try {
    await client.within('connecting the producer', producer.connect())
  } catch (error) {
    // The client cannot be told to stop connecting; waiting for it would only delay the news.
    void close()
    throw error
  }
  return {
    async write(messages, ending) {
      const transaction = await client.within('beginning a transaction', producer.transaction())
      try {
        const sent = transaction.send({ topic, messages: messages.map(kafkaMessage) })
        await client.within(`writing ${messages.length} records to ${topic}`, sent)
      } catch (error) {
        await client.within('aborting', transaction.abort()).catch(() => undefined)
        throw error
      }
      if (ending === 'commit') await client.within('committing', transaction.commit())
      else await client.within('aborting', transaction.abort())
    },
    close,
  }
}

function kafkaMessage(message: {
  readonly key: string
  readonly value: Uint8Array | null
  readonly partition?: number
}) {
  const { key, value, partition } = message
  return {
    key,
    value: value === null ? null : Buffer.from(value),
    ...(partition === undefined ? {} : { partition }),
  }
}
