import { brokersText } from '../connection-options.ts'
import type { CheckedConnection } from '../connection-options.ts'
import { kafkaErrors } from '../errors.ts'
import { consumerSecurity } from '../security.ts'

/** Client options a host may set: they change sizes and times, never what is read or from where. */
export type ClientTuning = Readonly<Record<string, number | boolean>>

/** The range of each tunable option. Booleans are marked so. Source: librdkafka CONFIGURATION.md. */
const tunable: Readonly<Record<string, readonly [min: number, max: number] | 'boolean'>> = {
  'fetch.wait.max.ms': [0, 300_000],
  'fetch.min.bytes': [1, 100_000_000],
  'fetch.max.bytes': [1000, 2_147_483_135],
  'fetch.message.max.bytes': [1, 1_000_000_000],
  'max.partition.fetch.bytes': [1, 1_000_000_000],
  'message.max.bytes': [1000, 1_000_000_000],
  'receive.message.max.bytes': [1000, 2_147_483_647],
  'fetch.queue.backoff.ms': [0, 300_000],
  'fetch.error.backoff.ms': [0, 300_000],
  'queued.min.messages': [1, 10_000_000],
  'queued.max.messages.kbytes': [1, 2_097_151],
  'socket.timeout.ms': [10, 300_000],
  'socket.connection.setup.timeout.ms': [1000, 2_147_483_647],
  'socket.keepalive.enable': 'boolean',
  'socket.nagle.disable': 'boolean',
  'socket.send.buffer.bytes': [0, 100_000_000],
  'socket.receive.buffer.bytes': [0, 100_000_000],
  'socket.max.fails': [0, 1_000_000],
  'connections.max.idle.ms': [0, 2_147_483_647],
  'reconnect.backoff.ms': [0, 3_600_000],
  'reconnect.backoff.max.ms': [0, 3_600_000],
  'retry.backoff.ms': [1, 300_000],
  'retry.backoff.max.ms': [1, 300_000],
  'broker.address.ttl': [0, 86_400_000],
  'topic.metadata.refresh.interval.ms': [100, 60_000],
  'topic.metadata.refresh.fast.interval.ms': [1, 60_000],
}

/** The names of the client options a host may tune. */
export const TUNABLE_CLIENT_OPTIONS: readonly string[] = Object.keys(tunable)

/** Why the best known unsafe options are refused; any other unknown option is refused without a lesson. */
const reasons: Readonly<Record<string, string>> = {
  'auto.offset.reset': 'a position outside the log must stop the reader, never jump',
  'enable.auto.commit': 'the position lives in the checkpoint store; the group is never written',
  'auto.commit.enable': 'the position lives in the checkpoint store; the group is never written',
  'auto.commit.interval.ms': 'nothing is committed to the group',
  'enable.auto.offset.store': 'nothing is stored for the group',
  'isolation.level': 'only committed records may be applied',
  'enable.partition.eof': 'the end of a partition is how gaps and readiness are proven',
  'group.id': 'the group name is private and only a client name',
  'group.instance.id': 'the reader is never a member of a group',
  'group.protocol': 'the reader is never a member of a group',
  'group.remote.assignor': 'the reader is never a member of a group',
  'partition.assignment.strategy': 'partitions are assigned explicitly, with offsets',
  'session.timeout.ms': 'the reader is never a member of a group',
  'heartbeat.interval.ms': 'the reader is never a member of a group',
  'max.poll.interval.ms': 'the reader is never a member of a group',
  rebalance_cb: 'partitions are assigned explicitly, with offsets',
  offset_commit_cb: 'nothing is committed to the group',
  'client.rack': 'an out-of-range answer of a follower is not final',
  'check.crcs': 'damaged records must be noticed',
  'allow.auto.create.topics': 'a topic created by its reader would pass for an empty one',
  'statistics.interval.ms': 'the statistics tell when a partition stopped being fetched',
  'bootstrap.servers': 'set it by `brokers`',
  'metadata.broker.list': 'set it by `brokers`',
  'client.id': 'set it by `clientName`',
  'security.protocol': 'set it by `security`',
  'plugin.library.paths': 'a plug-in could change any other option',
  'test.mock.num.brokers': 'a mock cluster has no identity',
}

/**
 * Refuses every client option that could change what is read, where from, or what is written to the group.
 *
 * An allow-list: an option this version does not know is refused, because the next version of the client may give it
 * a meaning. Values are checked too; the message names the option and never the value.
 * Promises: KAF-1.
 *
 * @throws {TidemarkError} TM_KAFKA_UNSAFE_OPTION
 */
export function checkClientTuning(tuning: Readonly<Record<string, unknown>>): ClientTuning {
  const checked: Record<string, number | boolean> = {}
  for (const [option, value] of Object.entries(tuning)) {
    const range = Object.hasOwn(tunable, option) ? tunable[option] : undefined
    if (range === undefined) {
      const known = Object.hasOwn(reasons, option) ? reasons[option] : undefined
      const byArea = /^(ssl|sasl|enable\.ssl|enable\.sasl|oauthbearer)/.test(option)
        ? 'set it by `security`'
        : undefined
      throw unsafe(option, known ?? byArea ?? 'it is not on the list of harmless options')
    }
    if (range === 'boolean') {
      if (typeof value !== 'boolean') throw unsafe(option, 'it takes true or false')
      checked[option] = value
      continue
    }
    const [min, max] = range
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
      throw unsafe(option, `it takes a whole number from ${min} to ${max}`)
    }
    checked[option] = value
  }
  return checked
}

function unsafe(option: string, reason: string): Error {
  return kafkaErrors.create('TM_KAFKA_UNSAFE_OPTION', { option, reason })
}

/** The two configurations the fetching client takes. Both hold settings that must win over any default. */
export interface GuardedSettings {
  readonly global: Readonly<Record<string, string | number | boolean>>
  /** Topic-level settings: given here they replace ALL topic-level settings of `global`, so they live here alone. */
  readonly topic: Readonly<Record<string, string>>
}

/** Milliseconds between statistics of the fetching client, stretched so that thousands of partitions stay cheap. */
export function statisticsIntervalMs(partitionCount: number): number {
  return Math.min(5000, Math.max(500, partitionCount * 2))
}

/**
 * The complete configuration of a reader's client.
 *
 * `groupName` is only a client name: the client refuses static assignment without one. Promises: KAF-1, KAF-2.
 */
export function guardedSettings(
  connection: CheckedConnection,
  tuning: ClientTuning,
  groupName: string,
  partitionCount: number,
): GuardedSettings {
  return {
    global: {
      // Broker-side long polling delays the end-of-partition answer, and with it readiness of an idle partition.
      'fetch.wait.max.ms': 100,
      // The client's default of one second would let a drained queue stay empty.
      'fetch.queue.backoff.ms': 20,
      // The client reads ahead 100,000 records a partition and 64 MiB by default, which is memory and nothing else: what is
      // applied a second fits many times into this.
      'queued.min.messages': 2_000,
      'queued.max.messages.kbytes': 16_384,
      'topic.metadata.refresh.interval.ms': 2000,
      'reconnect.backoff.max.ms': 1000,
      'socket.keepalive.enable': true,
      'socket.connection.setup.timeout.ms': Math.max(1000, connection.connectTimeoutMs),
      ...tuning,
      // Nothing of the tuning can name an option below: checkClientTuning refused it.
      ...consumerSecurity(connection.security),
      'bootstrap.servers': brokersText(connection),
      'client.id': connection.clientName,
      'group.id': groupName,
      'isolation.level': 'read_committed',
      'enable.partition.eof': true,
      'enable.auto.commit': false,
      'enable.auto.offset.store': false,
      'allow.auto.create.topics': false,
      'check.crcs': true,
      'statistics.interval.ms': statisticsIntervalMs(partitionCount),
      // A deleted topic is reported after this long instead of the default 30 s.
      'topic.metadata.propagation.max.ms': 5000,
    },
    topic: { 'auto.offset.reset': 'error' },
  }
}
