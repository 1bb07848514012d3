import type { BoundsReading, IdentitySurvey, InspectOptions, TopicInspector, TopicSettingsReading } from '@tidemark/log'
import { askAnyBroker } from './ask-any-broker.ts'
import { newBrokerConnections } from './broker-connections.ts'
import type { Send } from './broker-connections.ts'
import { loadInspectorClient, requireInspectorClient } from '../client-packages.ts'
import { checkConnection } from '../connection-options.ts'
import type { BrokerAddress, KafkaConnectionOptions } from '../connection-options.ts'
import { readPartitionBounds } from './read-partition-bounds.ts'
import type { FreshMetadata } from './read-partition-bounds.ts'
import { surveyBrokers } from './metadata-survey.ts'
import type { SurveyResult } from './metadata-survey.ts'
import { askMetadata, identityOfAnswer } from './topic-metadata.ts'
import { askSettings, settingsOfAnswer } from './topic-settings.ts'

/** An inspector that also owns connections. */
export interface KafkaInspector extends TopicInspector {
  /** Closes every connection. Calls after it answer that nobody was reached. */
  close(): Promise<void>
}

/**
 * Proves identity and bounds by Kafka's own protocol, without any consumer.
 *
 * Connections are kept between calls: in a steady cluster a survey is one round trip a broker, all in parallel.
 * Promises: KAF-8, KAF-9, KAF-11, KAF-12.
 *
 * @throws {TidemarkError} TM_KAFKA_OPTION_INVALID, TM_KAFKA_CLIENT_MISSING
 */
export function createKafkaInspector(options: KafkaConnectionOptions): KafkaInspector {
  const connection = checkConnection(options)
  requireInspectorClient()
  // Loading the client's code takes longer than a survey. It is begun here and waited for outside the deadlines, which
  // are for brokers; whether it failed is told by the first exchange.
  const loaded = loadInspectorClient().then(
    () => undefined,
    () => undefined,
  )
  const connections = newBrokerConnections(connection)
  let members: ReadonlyMap<number, BrokerAddress> = new Map()

  const survey = async (topic: string, { deadlineMs, signal }: InspectOptions): Promise<SurveyResult> => {
    const known = members
    const result = await surveyBrokers(connections, {
      topic,
      bootstrap: connection.brokers,
      known,
      deadlineMs,
      ...(signal === undefined ? {} : { signal }),
    })
    // Nobody listed anyone: what was known stays the best place to ask, bootstrap addresses are asked beside it.
    if (result.members.size > 0) members = result.members
    return result
  }

  const anyBroker = <T>(deadlineMs: number, send: Send<T>, refusal: (answer: T) => string | undefined) =>
    askAnyBroker(connections, members.size > 0 ? [...members.values()] : connection.brokers, deadlineMs, send, refusal)

  return {
    async surveyIdentity(topic: string, inspect: InspectOptions): Promise<IdentitySurvey> {
      await loaded
      return (await survey(topic, inspect)).survey
    },

    async readBounds(topic: string, partitionCount: number, inspect: InspectOptions): Promise<BoundsReading> {
      await loaded
      const metadata: FreshMetadata = (deadlineMs) =>
        anyBroker(deadlineMs, askMetadata(topic), (answer) => {
          const statement = identityOfAnswer(topic, answer)
          return statement.kind === 'described' ? undefined : statement.message
        })
      return readPartitionBounds(connections, topic, partitionCount, inspect.deadlineMs, metadata)
    },

    async readSettings(topic: string, inspect: InspectOptions): Promise<TopicSettingsReading> {
      await loaded
      const first = await anyBroker(inspect.deadlineMs, askSettings(topic), () => undefined)
      if (first.kind === 'answer') return settingsOfAnswer(topic, first.answer)
      return { kind: 'unreadable', message: first.message }
    },

    async close() {
      await connections.close()
      await loaded
    },
  }
}
