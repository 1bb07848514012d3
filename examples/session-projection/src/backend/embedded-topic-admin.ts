import { createEmbeddedProducer } from '@tidemark/embedded'
import type { EmbeddedProducer } from '@tidemark/embedded'
import type { EmbeddedLogPlace } from '../settings/place-settings.ts'
import { embeddedLogDirectory } from './log/embedded-log.ts'

/** Creates a topic in the log in files. */
export async function createEmbeddedTopic(
  place: EmbeddedLogPlace,
  topic: string,
  partitionCount: number,
): Promise<void> {
  await withProducer(place, (producer) => producer.createTopic(topic, { partitionCount }))
}

/** Deletes a topic of the log in files. */
export async function deleteEmbeddedTopic(place: EmbeddedLogPlace, topic: string): Promise<void> {
  await withProducer(place, (producer) => producer.deleteTopic(topic))
}

/** Topics are changed by the log's one writer, so no other may be open meanwhile. */
async function withProducer(place: EmbeddedLogPlace, work: (producer: EmbeddedProducer) => Promise<unknown>) {
  const producer = await createEmbeddedProducer({ directory: embeddedLogDirectory(place), durability: 'fsync' })
  try {
    await work(producer)
  } finally {
    await producer.close()
  }
}
