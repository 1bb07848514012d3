import { setTimeout as sleep } from 'node:timers/promises'
import type { KafkaJS } from '@confluentinc/kafka-javascript'
import type { KafkaPlace } from '../settings/place-settings.ts'
import { createKafkaClient } from './kafka-client.ts'

const deadlineMs = 15_000

/** Creates a topic on Kafka and waits until the broker lists it. */
export async function createKafkaTopic(place: KafkaPlace, topic: string, numPartitions: number): Promise<void> {
  await withAdmin(place, async (admin) => {
    const created = await admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 1 }] })
    if (!created) throw new Error(`topic ${topic} exists already`)
    await waitUntil(admin, (topics) => topics.includes(topic))
  })
}

/** Deletes a topic on Kafka and waits until the broker no longer lists it. */
export async function deleteKafkaTopic(place: KafkaPlace, topic: string): Promise<void> {
  await withAdmin(place, async (admin) => {
    await admin.deleteTopics({ topics: [topic] })
    await waitUntil(admin, (topics) => !topics.includes(topic))
  })
}

async function withAdmin(place: KafkaPlace, work: (admin: KafkaJS.Admin) => Promise<void>): Promise<void> {
  const client = createKafkaClient(place, deadlineMs)
  const admin = client.kafka.admin()
  await client.within('connecting to Kafka', admin.connect())
  try {
    await client.within('changing a topic', work(admin))
  } finally {
    await client.within('disconnecting', admin.disconnect()).catch(() => undefined)
  }
}

async function waitUntil(admin: KafkaJS.Admin, holds: (topics: readonly string[]) => boolean): Promise<void> {
  for (;;) {
    if (holds(await admin.listTopics())) return
    await sleep(50)
  }
}
