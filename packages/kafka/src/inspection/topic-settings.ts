import type { TopicSettingsReading } from '@tidemark/log'
import type { AnswerCallback, Send } from './broker-connections.ts'
import { answerOf } from './topic-metadata.ts'

/** A DescribeConfigs answer, as the wire carries it. */
export interface DescribeConfigsAnswer {
  readonly results: readonly {
    readonly errorCode: number
    readonly errorMessage: string | null | undefined
    readonly resourceName: string
    readonly configs: readonly { readonly name: string; readonly value: string | null | undefined }[]
  }[]
}

const DESCRIBE_CONFIGS_KEY = 32
const TOPIC_RESOURCE = 2
const RETENTION = 'retention.ms'
const CLEANUP = 'cleanup.policy'

/** Asks one broker for a topic's retention and cleanup policy. */
export function askSettings(topic: string): Send<DescribeConfigsAnswer> {
  return (link, done) => {
    const { client, connection } = link
    const answered: AnswerCallback<DescribeConfigsAnswer> = (error, answer) => {
      const partial = answerOf<DescribeConfigsAnswer>(error)
      if (partial === undefined) done(error, answer)
      else done(null, partial)
    }
    const version = link.newest(DESCRIBE_CONFIGS_KEY, [2, 3, 4])
    if (version === undefined) {
      return done(
        Object.assign(new Error('the broker speaks no known DescribeConfigs'), { code: 'UNSUPPORTED_VERSION' }),
      )
    }
    const api = { 2: client.describeConfigsV2, 3: client.describeConfigsV3, 4: client.describeConfigsV4 }[version]
    const resource = {
      resourceType: TOPIC_RESOURCE,
      resourceName: topic,
      configurationKeys: [RETENTION, CLEANUP],
    } as const
    api.api(connection, [{ ...resource, configurationKeys: [...resource.configurationKeys] }], false, false, answered)
  }
}

/** What a DescribeConfigs answer says of a topic. A value that is hidden or odd is unreadable, never a default. */
export function settingsOfAnswer(topic: string, answer: DescribeConfigsAnswer): TopicSettingsReading {
  const result = answer.results.find((entry) => entry.resourceName === topic)
  if (result === undefined) return unreadable(`the answer is not about ${topic}`)
  if (result.errorCode !== 0) {
    const words = typeof result.errorMessage === 'string' ? `: ${result.errorMessage}` : ''
    return unreadable(`error code ${result.errorCode} for ${topic}${words}`)
  }
  const valueOf = (name: string): string | null => result.configs.find((config) => config.name === name)?.value ?? null
  const retention = valueOf(RETENTION)
  const cleanupPolicy = valueOf(CLEANUP)
  if (retention === null || !/^(?:-1|0|[1-9][0-9]{0,18})$/.test(retention)) {
    return unreadable(`${RETENTION} of ${topic} is ${retention ?? 'not told'}`)
  }
  if (cleanupPolicy === null) return unreadable(`${CLEANUP} of ${topic} is not told`)
  const policies = cleanupPolicy.split(',').map((policy) => policy.trim())
  const unknown = policies.find((policy) => policy !== 'delete' && policy !== 'compact')
  if (unknown !== undefined) return unreadable(`${CLEANUP} of ${topic} is ${cleanupPolicy}, which has no known meaning`)
  const compacted = policies.includes('compact')
  return { kind: 'settings', settings: { retentionMs: BigInt(retention), compacted, cleanupPolicy } }
}

function unreadable(message: string): TopicSettingsReading {
  return { kind: 'unreadable', message }
}
