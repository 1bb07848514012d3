import { systemClock } from '@tidemark/core'
import type { BoundsReading, IdentitySurvey, InspectOptions, TopicInspector, TopicSettingsReading } from '@tidemark/log'
import { newBrokerConnections } from './broker-connections.ts'
import { loadInspectorClient, requireInspectorClient } from './client-packages.ts'
import { checkConnection } from './connection-options.ts'
import type { BrokerAddress, KafkaConnectionOptions } from './connection-options.ts'
import { readPartitionBounds } from './list-offsets.ts'
import type { FreshMetadata } from './list-offsets.ts'
import { surveyBrokers } from './metadata-survey.ts'
import type { SurveyResult } from './metadata-survey.ts'
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

  return {
    async surveyIdentity(topic: string, inspect: InspectOptions): Promise<IdentitySurvey> {
      await loaded
      return (await survey(topic, inspect)).survey
    },

    async readBounds(topic: string, partitionCount: number, inspect: InspectOptions): Promise<BoundsReading> {
      await loaded
      const metadata: FreshMetadata = async (deadlineMs) => {
        const result = await survey(topic, { ...inspect, deadlineMs })
        for (const { brokerId, statement } of result.survey.answers) {
          const answer = result.answers.get(brokerId)
          if (statement.kind === 'described' && answer !== undefined) return { kind: 'metadata', answer }
        }
        return { kind: 'none', message: silenceText(result.survey) }
      }
      return readPartitionBounds(connections, topic, partitionCount, inspect.deadlineMs, metadata)
    },

    async readSettings(topic: string, inspect: InspectOptions): Promise<TopicSettingsReading> {
      await loaded
      const until = systemClock.monotonicMs() + inspect.deadlineMs
      const remainingMs = (): number => Math.max(0, until - systemClock.monotonicMs())
      if (members.size === 0) await survey(topic, inspect)
      const asked = members.size > 0 ? [...members.values()] : connection.brokers
      let last: TopicSettingsReading = { kind: 'unreadable', message: 'no broker was reached' }
      for (const address of asked) {
        if (remainingMs() <= 0 || inspect.signal?.aborted === true) break
        const exchange = await connections.exchange(address, remainingMs(), askSettings(topic))
        if (exchange.kind === 'answer') return settingsOfAnswer(topic, exchange.answer)
        last = { kind: 'unreadable', message: exchange.message }
      }
      return last
    },

    async close() {
      await connections.close()
      await loaded
    },
  }
}

function silenceText(survey: IdentitySurvey): string {
  const words = survey.answers.flatMap(({ statement }) => (statement.kind === 'no-answer' ? [statement.message] : []))
  return words.length === 0 ? 'no broker answered' : [...new Set(words)].slice(0, 5).join('; ')
}
