import { randomUUID } from 'node:crypto'
import { Admin } from '@platformatic/kafka'
import { called, rawClient, rawTimeoutMs } from './raw-kafka.ts'
import type { Done, NodeDescription, RawAdmin, TopicDescription } from './raw-kafka.ts'

/** Who keeps a partition. Node ids. */
export interface PartitionPlacement {
  /** Absent while there is none. */
  readonly leader: number | undefined
  readonly inSync: readonly number[]
  readonly replicas: readonly number[]
}

/** How many replicas every partition has, or which nodes keep them, the leader first. */
export type Replicas = number | readonly number[]

/** What gates do to topics. */
export interface KafkaTopics {
  createTopic(partitions: number, config?: Readonly<Record<string, string>>, replicas?: Replicas): Promise<string>
  recreateTopic(topic: string, partitions: number, replicas?: Replicas): Promise<void>
  placement(topic: string, partition: number): Promise<PartitionPlacement>
  addPartitions(topic: string, total: number): Promise<void>
  deleteRecordsBelow(topic: string, partition: number, offset: number): Promise<void>
  close(): Promise<void>
}

/** Connects an admin client. */
export function createKafkaTopics(brokers: readonly string[]): KafkaTopics {
  const admin = rawClient.AdminClient.create({ 'bootstrap.servers': brokers.join(',') })
  const describe = (topic: string): Promise<TopicDescription | undefined> => describeTopic(brokers, topic)
  const create = async (topic: string, partitions: number, config: Config, replicas: Replicas): Promise<void> => {
    if (typeof replicas === 'number') {
      const spec = { topic, num_partitions: partitions, replication_factor: replicas, config }
      await persistently(brokers, alreadyExists, (fresh, done) => fresh.createTopic(spec, attemptMs, done))
    } else {
      await createPlacedTopic(brokers, topic, partitions, config, replicas)
    }
    await untilTopic(describe, topic, (count) => count === partitions)
  }
  return {
    async createTopic(partitions, config = {}, replicas = 1) {
      const topic = `dispatch-${randomUUID()}`
      await create(topic, partitions, config, replicas)
      return topic
    },
    async recreateTopic(topic, partitions, replicas = 1) {
      await persistently(brokers, unknownTopic, (fresh, done) => fresh.deleteTopic(topic, attemptMs, done))
      await untilTopic(describe, topic, (count) => count === 0)
      await create(topic, partitions, {}, replicas)
    },
    async placement(topic, partition) {
      const description = await describe(topic)
      const found = description?.partitions.find((one) => one.partition === partition)
      const ids = (nodes: readonly NodeDescription[] = []): readonly number[] => nodes.map(({ id }) => id)
      return { leader: leaderOf(found?.leader), inSync: ids(found?.isr), replicas: ids(found?.replicas) }
    },
    async addPartitions(topic, total) {
      await called((done) => admin.createPartitions(topic, total, rawTimeoutMs, done))
      await untilTopic(describe, topic, (count) => count === total)
    },
    async deleteRecordsBelow(topic, partition, offset) {
      const options = { timeout: rawTimeoutMs, operation_timeout: rawTimeoutMs }
      await called((done) => admin.deleteRecords([{ topic, partition, offset }], options, done))
    },
    async close() {
      admin.disconnect()
    },
  }
}

type Config = Readonly<Record<string, string>>

/** Creates a topic on named nodes, which the official client cannot ask for. */
async function createPlacedTopic(
  bootstrapBrokers: readonly string[],
  topic: string,
  partitions: number,
  config: Config,
  nodes: readonly number[],
): Promise<void> {
  const admin = new Admin({ clientId: 'gates', bootstrapBrokers: [...bootstrapBrokers], timeout: rawTimeoutMs })
  try {
    await admin.createTopics({
      topics: [topic],
      // The protocol's "as assigned".
      partitions: -1,
      replicas: -1,
      assignments: Array.from({ length: partitions }, (_, partition) => ({ partition, brokers: [...nodes] })),
      configs: Object.entries(config).map(([name, value]) => ({ name, value })),
    })
  } finally {
    await admin.close()
  }
}

// Kafka's codes of "it was done already": an answer that timed out may have been to a request that was carried out.
const unknownTopic = 3
const alreadyExists = 36
/** How long one client is waited for before another one asks. */
const attemptMs = 6_000
/** The client's own code of a request without an answer. */
const timedOut = -185

/** Asks until one client gets an answer: one that has chosen a broker just killed or frozen never does. */
async function persistently(
  brokers: readonly string[],
  doneAlready: number,
  ask: (admin: RawAdmin, done: Done) => void,
): Promise<void> {
  // A broker that passed a request on to a controller just frozen waits half a minute for it, and the next ones queue behind.
  const untilMs = performance.now() + 6 * rawTimeoutMs
  for (let isFirst = true; ; isFirst = false) {
    const admin = rawClient.AdminClient.create({ 'bootstrap.servers': brokers.join(',') })
    try {
      return void (await called((done) => ask(admin, done)))
    } catch (error) {
      const { code } = error as { readonly code?: number }
      if (code === doneAlready && !isFirst) return
      if (code !== timedOut || performance.now() > untilMs) throw error
    } finally {
      admin.disconnect()
    }
  }
}

/** Waits until the topic shows so many partitions with leaders; 0 means it is gone. */
async function untilTopic(
  describe: (topic: string) => Promise<TopicDescription | undefined>,
  topic: string,
  holds: (partitions: number) => boolean,
): Promise<void> {
  const untilMs = performance.now() + 30_000
  for (;;) {
    const description = await describe(topic)
    const known = description?.error === undefined || description.error.code === 0
    const led = known ? (description?.partitions.filter(({ leader }) => leaderOf(leader) !== undefined).length ?? 0) : 0
    if (holds(led)) return
    if (performance.now() > untilMs) throw new Error(`topic ${topic} did not get there in 30 s`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/**
 * Asks for a topic, each time by a new client.
 *
 * One that has chosen a broker just killed or frozen goes on waiting for it, whatever it is asked afterwards (measured).
 */
async function describeTopic(brokers: readonly string[], topic: string): Promise<TopicDescription | undefined> {
  const untilMs = performance.now() + 2 * rawTimeoutMs
  for (;;) {
    const admin = rawClient.AdminClient.create({ 'bootstrap.servers': brokers.join(',') })
    try {
      const descriptions = await called<readonly TopicDescription[]>((done) =>
        admin.describeTopics([topic], { timeout: 3_000 }, done),
      )
      return descriptions[0]
    } catch (error) {
      if (performance.now() > untilMs) throw error
    } finally {
      admin.disconnect()
    }
  }
}

function leaderOf(node: NodeDescription | null | undefined): number | undefined {
  return node === null || node === undefined || node.id < 0 ? undefined : node.id
}
