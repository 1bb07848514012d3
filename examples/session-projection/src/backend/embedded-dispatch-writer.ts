import { hashKey } from '@tidemark/core'
import { createEmbeddedProducer } from '@tidemark/embedded'
import type { EmbeddedLogPlace } from '../settings/place-settings.ts'
import type { DispatchMessage, DispatchWriter } from './dispatch-writer.ts'
import { embeddedLogDirectory } from './log/embedded-log.ts'

/** The one writer of the log in files. */
export async function openEmbeddedDispatchWriter(options: {
  readonly place: EmbeddedLogPlace
  readonly topic: string
}): Promise<DispatchWriter> {
  const { place, topic } = options
  const producer = await createEmbeddedProducer({ directory: embeddedLogDirectory(place), durability: 'fsync' })
  const identity = await producer.describeTopic(topic)
  if (identity === undefined) {
    await producer.close()
    throw new Error(`topic ${topic} does not exist in ${place.dataDir}`)
  }
  const { partitionCount } = identity
  return {
    async write(messages, ending) {
      const transaction = producer.beginTransaction()
      await transaction.append(
        topic,
        messages.map((message) => ({
          partition: message.partition ?? partitionOfKey(message, partitionCount),
          key: new TextEncoder().encode(message.key),
          value: message.value,
        })),
      )
      if (ending === 'commit') await transaction.commit()
      else await transaction.abort()
    },
    close: () => producer.close(),
  }
}

/** The same key always goes to the same partition; how keys are spread is the writer's own affair. */
function partitionOfKey({ key }: DispatchMessage, partitionCount: number): number {
  return Number.parseInt(hashKey('dispatch-partition', 1, [key]).slice(0, 8), 16) % partitionCount
}
