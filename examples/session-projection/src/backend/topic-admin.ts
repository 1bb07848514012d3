import type { LogPlace } from '../settings/place-settings.ts'

/** Creates a topic; fails when it exists. */
export async function createTopic(place: LogPlace, topic: string, partitions: number): Promise<void> {
  if (place.kind === 'kafka') {
    await (await import('./kafka-topic-admin.ts')).createKafkaTopic(place, topic, partitions)
  } else {
    await (await import('./embedded-topic-admin.ts')).createEmbeddedTopic(place, topic, partitions)
  }
}

/** Deletes a topic with everything in it; resolves when it is gone. */
export async function deleteTopic(place: LogPlace, topic: string): Promise<void> {
  if (place.kind === 'kafka') await (await import('./kafka-topic-admin.ts')).deleteKafkaTopic(place, topic)
  else await (await import('./embedded-topic-admin.ts')).deleteEmbeddedTopic(place, topic)
}
