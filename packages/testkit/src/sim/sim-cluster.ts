import { topicIdOf } from '@tidemark/core'
import type { TopicId } from '@tidemark/core'
import { simErrors } from './errors.ts'
import type { SeededChooser } from './seeded-chooser.ts'
import { createSimBroker } from './sim-broker.ts'
import type { SimBroker, TopicView } from './sim-broker.ts'
import { createSimTopic } from './sim-topic.ts'
import type { SimTopic } from './sim-topic.ts'

/** A whole Kafka cluster in memory, entirely under the test's control. It outlives every process that uses it. */
export interface SimCluster {
  readonly clusterId: string
  /** Restored elsewhere or pointed at wrongly: the same topics under another cluster id. */
  changeClusterId(clusterId: string): void
  createTopic(name: string, options?: SimTopicOptions): SimTopic
  deleteTopic(name: string): void
  /** Deletes a topic and creates it again: same name, new id, empty. */
  recreateTopic(name: string, options?: SimTopicOptions): SimTopic
  /** The topic as it is; throws when there is none. */
  topic(name: string): SimTopic
  findTopic(name: string): SimTopic | undefined
  /** Brokers by id; 1 to the number asked for. */
  broker(brokerId: number): SimBroker
  readonly brokerIds: readonly number[]
  addBroker(brokerId: number): SimBroker
  /** Takes a broker out of the cluster's membership: the others stop listing it. */
  removeBroker(brokerId: number): void
  /** Makes a broker go on believing what is true at this moment, as a frozen or cut-off one does. */
  makeStale(brokerId: number): void
  view(topic: string): TopicView | undefined
}

/** How a topic is created. */
export interface SimTopicOptions {
  readonly partitions?: number
  readonly retentionMs?: bigint
  readonly cleanupPolicy?: string
}

/** A cluster without topics. Topic ids come from the chooser and are never repeated. */
export function createSimCluster(chooser: SeededChooser, brokerCount: number): SimCluster {
  let clusterId = `cluster-${chooser.hex(12)}`
  const topics = new Map<string, SimTopic>()
  const brokers = new Map<number, SimBroker>()
  for (let brokerId = 1; brokerId <= brokerCount; brokerId += 1) brokers.set(brokerId, createSimBroker(brokerId))

  const viewOf = (name: string): TopicView | undefined => {
    const topic = topics.get(name)
    return topic && { clusterId, topicId: topic.topicId, partitionCount: topic.partitionCount }
  }
  const brokerOf = (brokerId: number): SimBroker => {
    const broker = brokers.get(brokerId)
    if (broker === undefined) throw invalid('find a broker', `there is no broker ${brokerId}`)
    return broker
  }
  const cluster: SimCluster = {
    get clusterId() {
      return clusterId
    },
    changeClusterId(next) {
      clusterId = next
    },
    createTopic(name, options = {}) {
      if (topics.has(name)) throw invalid('create a topic', `${name} exists`)
      const topic = createSimTopic(name, newTopicId(chooser), options.partitions ?? 1)
      if (options.retentionMs !== undefined) topic.retentionMs = options.retentionMs
      if (options.cleanupPolicy !== undefined) topic.cleanupPolicy = options.cleanupPolicy
      topics.set(name, topic)
      return topic
    },
    deleteTopic(name) {
      if (!topics.delete(name)) throw invalid('delete a topic', `there is no ${name}`)
    },
    recreateTopic(name, options = {}) {
      const partitions = options.partitions ?? cluster.topic(name).partitionCount
      cluster.deleteTopic(name)
      return cluster.createTopic(name, { ...options, partitions })
    },
    topic(name) {
      const topic = topics.get(name)
      if (topic === undefined) throw simErrors.create('TM_SIM_TOPIC_UNKNOWN', { topic: name, partition: null })
      return topic
    },
    findTopic: (name) => topics.get(name),
    broker: brokerOf,
    get brokerIds() {
      return [...brokers.keys()].sort((a, b) => a - b)
    },
    addBroker(brokerId) {
      if (brokers.has(brokerId)) throw invalid('add a broker', `broker ${brokerId} exists`)
      const broker = createSimBroker(brokerId)
      brokers.set(brokerId, broker)
      return broker
    },
    removeBroker(brokerId) {
      if (!brokers.delete(brokerId)) throw invalid('remove a broker', `there is no broker ${brokerId}`)
    },
    makeStale(brokerId) {
      const frozen = new Map([...topics.keys()].map((name) => [name, viewOf(name)]))
      brokerOf(brokerId).behave({ kind: 'stale', view: (name) => frozen.get(name) })
    },
    view: viewOf,
  }
  return cluster
}

function newTopicId(chooser: SeededChooser): TopicId {
  const hex = chooser.hex(32)
  // A random id is never the zero id, which brokers use for "none".
  const safe = hex.startsWith('0000') ? `1${hex.slice(1)}` : hex
  return topicIdOf(
    [safe.slice(0, 8), safe.slice(8, 12), safe.slice(12, 16), safe.slice(16, 20), safe.slice(20)].join('-'),
  )
}

function invalid(action: string, reason: string): Error {
  return simErrors.create('TM_SIM_WORLD_INVALID', { action, reason })
}
