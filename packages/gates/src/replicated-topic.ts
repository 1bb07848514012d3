import { setTimeout as sleep } from 'node:timers/promises'
import type { KafkaBroker, KafkaCluster } from '@tidemark/testkit/service'
import { createKafkaAdmin } from './kafka-admin.ts'
import type { PartitionPlacement } from './kafka-topics.ts'

/** A topic of one partition on a cluster of one's own, and who keeps it. */
export interface ReplicatedTopic {
  readonly topic: string
  placement(): Promise<PartitionPlacement>
  /** The brokers that keep it, the leader first. */
  replicas(): Promise<readonly KafkaBroker[]>
  until(holds: (placement: PartitionPlacement) => boolean): Promise<void>
  /** Deletes it and creates it anew under the same name. */
  recreate(replicas: number): Promise<void>
  /** Appends by a client that has no memory of an earlier leader. */
  append(values: readonly string[]): Promise<void>
}

/**
 * Creates a topic of one partition and waits until every replica is in sync.
 *
 * Where only some nodes are controllers, the others keep it first, so that its leader can be frozen or killed without the
 * cluster losing its controller: what the cluster is asked to do meanwhile would wait for an election, and for a broker that
 * was frozen as the controller to find its place again, which took from a second to minutes (measured).
 */
export async function createReplicatedTopic(
  cluster: KafkaCluster,
  replicas: number,
  config: Readonly<Record<string, string>> = {},
): Promise<ReplicatedTopic> {
  const keepers = (count: number): readonly number[] =>
    cluster.brokers
      .filter((broker) => broker.state() === 'running')
      .toSorted((a, b) => Number(a.isController) - Number(b.isController))
      .slice(0, count)
      .map(({ nodeId }) => nodeId)
  const asking = async <T>(ask: (admin: ReturnType<typeof createKafkaAdmin>) => Promise<T>): Promise<T> => {
    const alive = cluster.brokers.filter((broker) => broker.state() === 'running')
    const admin = createKafkaAdmin(alive.map(({ address }) => address))
    try {
      return await ask(admin)
    } finally {
      await admin.close()
    }
  }
  const topic = await asking((admin) => admin.createTopic(1, config, keepers(replicas)))
  const placement = (): Promise<PartitionPlacement> => asking((admin) => admin.placement(topic, 0))
  const until: ReplicatedTopic['until'] = async (holds) => {
    const untilMs = performance.now() + 45_000
    let last: PartitionPlacement | undefined
    while (performance.now() < untilMs) {
      last = await placement()
      if (holds(last)) return
      await sleep(250)
    }
    throw new Error(`${topic} did not get there in 45 s: ${JSON.stringify(last)}`)
  }
  await until(({ leader, inSync }) => leader !== undefined && inSync.length === replicas)
  return {
    topic,
    placement,
    until,
    async replicas() {
      const { leader, replicas: ids } = await placement()
      const ordered = [...ids].sort((a, b) => Number(b === leader) - Number(a === leader))
      return ordered.map((id) => cluster.brokers.find(({ nodeId }) => nodeId === id)!)
    },
    recreate: (count) => asking((admin) => admin.recreateTopic(topic, 1, keepers(count))),
    append: (values) => asking((admin) => admin.append(topic, 0, values)),
  }
}
