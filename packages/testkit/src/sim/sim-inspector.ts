import type { Clock } from '@tidemark/core'
import type { BoundsReading, BrokerAnswer, IdentitySurvey, PartitionBounds, TopicInspector } from '@tidemark/log'
import type { CallGate } from './call-gate.ts'
import type { SimCluster } from './sim-cluster.ts'

/** Faults of the offset and settings requests, which other brokers answer than those asked for identity. */
export interface InspectorFaults {
  /** Makes reading bounds fail, for one partition or for all. */
  boundsUnreadable: { readonly partition: number | undefined; readonly message: string } | undefined
  settingsUnreadable: string | undefined
  /** Rewrites what the leaders answer, for answers that cannot be true. */
  boundsRewrite: ((bounds: readonly PartitionBounds[]) => readonly PartitionBounds[]) | undefined
  /** How long each request takes. */
  latencyMs: number
}

/** The inspector of a simulated cluster. */
export function createSimInspector(
  cluster: SimCluster,
  clock: Clock,
  gate: CallGate,
  faults: InspectorFaults,
): TopicInspector {
  const latency = async (): Promise<void> => {
    if (faults.latencyMs > 0) await clock.sleep(faults.latencyMs)
  }
  return {
    surveyIdentity: (topic, options) =>
      gate.pass('surveyIdentity', async (): Promise<IdentitySurvey> => {
        const answers = askEveryBroker(cluster, topic)
        const silent = answers.some(({ statement }) => statement.kind === 'no-answer' && statement.reason === 'timeout')
        // The answers are what was true when the question arrived; the caller may hear them much later.
        if (silent) await clock.sleep(options.deadlineMs, options.signal)
        else await latency()
        return { topic, answers }
      }),
    readBounds: (name, partitionCount, options) =>
      gate.pass('readBounds', async (): Promise<BoundsReading> => {
        if (faults.boundsUnreadable !== undefined) {
          await clock.sleep(Math.min(options.deadlineMs, faults.latencyMs), options.signal)
          return { kind: 'unreadable', ...faults.boundsUnreadable }
        }
        const topic = cluster.findTopic(name)
        if (topic === undefined) return { kind: 'unreadable', partition: undefined, message: `no topic ${name}` }
        const partitions: PartitionBounds[] = []
        for (let partition = 0; partition < partitionCount; partition += 1) {
          if (partition >= topic.partitionCount) {
            return { kind: 'unreadable', partition, message: `topic ${name} has no partition ${partition}` }
          }
          partitions.push(topic.partition(partition).bounds())
        }
        await latency()
        return { kind: 'bounds', partitions: faults.boundsRewrite?.(partitions) ?? partitions }
      }),
    readSettings: (name) =>
      gate.pass('readSettings', async () => {
        await latency()
        const topic = cluster.findTopic(name)
        if (faults.settingsUnreadable !== undefined) return { kind: 'unreadable', message: faults.settingsUnreadable }
        if (topic === undefined) return { kind: 'unreadable', message: `no topic ${name}` }
        const { retentionMs, cleanupPolicy } = topic
        const compacted = cleanupPolicy.split(',').some((policy) => policy.trim() === 'compact')
        return { kind: 'settings', settings: { retentionMs, cleanupPolicy, compacted } }
      }),
  }
}

/** Asks members first, then whoever an answer lists, until nobody new turns up; unknown ids are unreachable. */
function askEveryBroker(cluster: SimCluster, topic: string): readonly BrokerAnswer[] {
  const members = cluster.brokerIds
  const asked = new Map<number, BrokerAnswer>()
  const queue: number[] = [...members]
  for (let brokerId = queue.shift(); brokerId !== undefined; brokerId = queue.shift()) {
    if (asked.has(brokerId)) continue
    const answer: BrokerAnswer = members.includes(brokerId)
      ? cluster.broker(brokerId).answer(topic, cluster.view(topic), members)
      : {
          brokerId,
          statement: { kind: 'no-answer', reason: 'unreachable', message: `broker ${brokerId} cannot be reached` },
          listedBrokerIds: [],
        }
    asked.set(brokerId, answer)
    queue.push(...answer.listedBrokerIds)
  }
  return [...asked.values()]
}
