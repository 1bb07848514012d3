import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

interface KafkaErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_KAFKA_OPTION_INVALID: ErrorSpec<{ readonly option: string; readonly reason: string }>
  readonly TM_KAFKA_UNSAFE_OPTION: ErrorSpec<{ readonly option: string; readonly reason: string }>
  readonly TM_KAFKA_CLIENT_MISSING: ErrorSpec<{ readonly package: string; readonly reason: string }>
  readonly TM_KAFKA_POSITION_INVALID: ErrorSpec<{
    readonly topic: string
    readonly partition: number
    readonly reason: string
  }>
  readonly TM_KAFKA_UNREACHABLE: ErrorSpec<{
    readonly brokers: string
    readonly deadlineMs: number
    readonly reason: string
  }>
  readonly TM_KAFKA_AUTHENTICATION_FAILED: ErrorSpec<{ readonly brokers: string; readonly reason: string }>
  readonly TM_KAFKA_AUTHORIZATION_FAILED: ErrorSpec<{ readonly topic: string; readonly reason: string }>
  readonly TM_KAFKA_UNKNOWN_TOPIC: ErrorSpec<{ readonly topic: string; readonly reason: string }>
  readonly TM_KAFKA_UNKNOWN_PARTITION: ErrorSpec<{
    readonly topic: string
    readonly partition: number
    readonly partitionCount: number
  }>
  readonly TM_KAFKA_TOPIC_ID_CHANGED: ErrorSpec<{
    readonly topic: string
    readonly held: string
    readonly found: string
  }>
  readonly TM_KAFKA_PINNING_UNSUPPORTED: ErrorSpec<{ readonly brokers: string; readonly reason: string }>
  readonly TM_KAFKA_CLIENT_FAILED: ErrorSpec<{
    readonly operation: string
    readonly clientCode: number
    readonly reason: string
  }>
  readonly TM_KAFKA_CLOSED: ErrorSpec<{ readonly operation: string }>
}

/** Every error the Kafka adapter can raise. */
export const kafkaErrors: ErrorCatalogue<KafkaErrorSpecs> = defineErrors<KafkaErrorSpecs>('KAFKA', {
  TM_KAFKA_OPTION_INVALID: {
    retriable: false,
    message: (d) => `option ${d.option}: ${d.reason}`,
    remedy: 'Correct the named option; nothing was connected.',
  },
  TM_KAFKA_UNSAFE_OPTION: {
    retriable: false,
    message: (d) => `client option ${d.option} cannot be set here: ${d.reason}`,
    remedy:
      'Remove the option; only the sizes, time-outs and queue limits listed in TUNABLE_CLIENT_OPTIONS may be tuned.',
  },
  TM_KAFKA_CLIENT_MISSING: {
    retriable: false,
    message: (d) => `peer dependency ${d.package} cannot be loaded: ${d.reason}`,
    remedy:
      'Install the named package beside @tidemark/kafka; the native client also needs its compiled binding for this platform.',
  },
  TM_KAFKA_POSITION_INVALID: {
    retriable: false,
    message: (d) => `start position of ${d.topic}[${d.partition}]: ${d.reason}`,
    remedy:
      'Name every partition once, with an explicit next offset of at most 2^53-1; a larger one needs the pinned entry.',
  },
  TM_KAFKA_UNREACHABLE: {
    retriable: true,
    message: (d) => `no usable answer from ${d.brokers} within ${d.deadlineMs} ms: ${d.reason}`,
    remedy: 'Check addresses, network and TLS; the broker must advertise listeners that this host can reach.',
  },
  TM_KAFKA_AUTHENTICATION_FAILED: {
    retriable: false,
    message: (d) => `${d.brokers} refused the credentials: ${d.reason}`,
    remedy: 'Check the mechanism, the user and the password, and whether the listener expects TLS.',
  },
  TM_KAFKA_AUTHORIZATION_FAILED: {
    retriable: false,
    message: (d) => `no permission on topic ${d.topic}: ${d.reason}`,
    remedy:
      'Grant Read, Describe and DescribeConfigs on the topic, and Describe on the group name prefix, to this principal.',
  },
  TM_KAFKA_UNKNOWN_TOPIC: {
    retriable: false,
    message: (d) => `topic ${d.topic} is not there: ${d.reason}`,
    remedy: 'Check the topic name and the cluster; the topic is never created by this library.',
  },
  TM_KAFKA_UNKNOWN_PARTITION: {
    retriable: false,
    message: (d) => `topic ${d.topic} has ${d.partitionCount} partitions; partition ${d.partition} is not one of them`,
    remedy: 'Compare the stored partition count with the topic; a changed count needs a rebuild into a new namespace.',
  },
  TM_KAFKA_TOPIC_ID_CHANGED: {
    retriable: false,
    message: (d) => `topic ${d.topic} has the id ${d.found}; ${d.held} is held`,
    remedy: 'The topic was deleted and created again; a projection of the new one is built in a new namespace.',
  },
  TM_KAFKA_PINNING_UNSUPPORTED: {
    retriable: false,
    message: (d) => `${d.brokers} cannot be read by topic id: ${d.reason}`,
    remedy: 'Use brokers that fetch by topic id (Apache Kafka 3.1 or newer), or the log of the official client.',
  },
  TM_KAFKA_CLIENT_FAILED: {
    retriable: true,
    message: (d) => `${d.operation} failed in the client (code ${d.clientCode}): ${d.reason}`,
    remedy: 'Look the code up in the librdkafka documentation; a repeated failure needs its cause removed.',
  },
  TM_KAFKA_CLOSED: {
    retriable: false,
    message: (d) => `${d.operation} was called after close`,
    remedy: 'Create a new log; a closed one is not reopened.',
  },
})
