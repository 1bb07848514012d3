import { createEmbeddedProducer } from '@tidemark/embedded'
import type { EmbeddedProducer } from '@tidemark/embedded'
import type { LogPlace } from '../settings/place-settings.ts'
import { embeddedLogDirectory } from './embedded-backend.ts'

type EmbeddedPlace = Extract<LogPlace, { kind: 'embedded' }>

/** Creates a topic in the log in files. */
export async function createEmbeddedTopic(place: EmbeddedPlace, topic: string, partitionCount: number): Promise<void> {
  await withProducer(place, (producer) => producer.createTopic(topic, { partitionCount }))
}

/** Deletes a topic of the log in files. */
export async function deleteEmbeddedTopic(place: EmbeddedPlace, topic: string): Promise<void> {
  await withProducer(place, (producer) => producer.deleteTopic(topic))
}

/** Topics are changed by the log's one writer, so no other may be open meanwhile. */
async function withProducer(place: EmbeddedPlace, work: (producer: EmbeddedProducer) => Promise<unknown>) {
  const producer = await createEmbeddedProducer({ directory: embeddedLogDirectory(place), durability: 'fsync' })
  try {
    await work(producer)
  } finally {
    await producer.close()
  }
}
