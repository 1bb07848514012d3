/** A user of the SASL listener; only `super` users may do anything, since no other permission is granted by itself. */
export interface KafkaUser {
  readonly name: string
  readonly password: string
  readonly super: boolean
}

/** The ports of one node. */
export interface KafkaNodePorts {
  readonly nodeId: number
  /** PLAINTEXT, for clients and between brokers. */
  readonly plaintext: number
  readonly controller: number
  /** SASL_PLAINTEXT (PLAIN), only when there are users. */
  readonly sasl: number | undefined
  /** A second PLAINTEXT listener, and the address it advertises instead of its own: that of a proxy in front of it. */
  readonly proxied?: { readonly port: number; readonly advertised: string }
}

/** What server.properties is made from. */
export interface KafkaNodeConfig {
  readonly node: KafkaNodePorts
  /** All nodes of the cluster, itself included. */
  readonly nodes: readonly KafkaNodePorts[]
  /** The nodes that are controllers as well as brokers. */
  readonly voters: readonly KafkaNodePorts[]
  readonly dataDirectory: string
  readonly users: readonly KafkaUser[]
  /** Lines that win over the others. */
  readonly overrides: Readonly<Record<string, string>>
}

/**
 * server.properties of one node (a broker, and a controller where it is a voter) as data.
 *
 * Promises: listens on 127.0.0.1 only; never creates a topic by itself; deletes a topic's files at once, so that
 * recreation is quick; small internal topics; short time-outs, so that kills are noticed within seconds.
 */
export function kafkaProperties(config: KafkaNodeConfig): Readonly<Record<string, string>> {
  const { node, nodes, voters } = config
  const isVoter = voters.some(({ nodeId }) => nodeId === node.nodeId)
  const replicas = String(Math.min(nodes.length, 3))
  const saslListener = node.sasl === undefined ? [] : [`CLIENT://127.0.0.1:${node.sasl}`]
  const clientListeners = [`PLAINTEXT://127.0.0.1:${node.plaintext}`, ...saslListener]
  const controllerListener = isVoter ? [`CONTROLLER://127.0.0.1:${node.controller}`] : []
  const { proxied } = node
  const [proxiedListener, proxiedAdvertised] =
    proxied === undefined ? [[], []] : [[`PROXIED://127.0.0.1:${proxied.port}`], [`PROXIED://${proxied.advertised}`]]
  return {
    'process.roles': isVoter ? 'broker,controller' : 'broker',
    'node.id': String(node.nodeId),
    'controller.quorum.voters': voters.map((one) => `${one.nodeId}@127.0.0.1:${one.controller}`).join(','),
    listeners: [...clientListeners, ...proxiedListener, ...controllerListener].join(','),
    'advertised.listeners': [...clientListeners, ...proxiedAdvertised].join(','),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map':
      'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CLIENT:SASL_PLAINTEXT',
    'log.dirs': config.dataDirectory,
    'auto.create.topics.enable': 'false',
    'default.replication.factor': '1',
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': '2',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '2',
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    'log.segment.delete.delay.ms': '0',
    'log.retention.check.interval.ms': '1000',
    'log.initial.task.delay.ms': '1000',
    'delete.topic.enable': 'true',
    'num.network.threads': '2',
    'num.io.threads': '2',
    'num.replica.fetchers': '1',
    'background.threads': '2',
    'log.cleaner.dedupe.buffer.size': '2097152',
    'log.cleaner.backoff.ms': '1000',
    'broker.session.timeout.ms': '4000',
    'broker.heartbeat.interval.ms': '500',
    'controlled.shutdown.enable': 'false',
    ...(node.sasl === undefined ? {} : saslProperties(config.users)),
    ...config.overrides,
  }
}

/** The plaintext listener (ANONYMOUS) stays a super user: it is for the test's own set-up and for the other brokers. */
function saslProperties(users: readonly KafkaUser[]): Record<string, string> {
  const entries = users.map((user) => `user_${user.name}="${user.password}"`)
  const supers = users.filter((user) => user.super).map((user) => `User:${user.name}`)
  return {
    'listener.name.client.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.client.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required ${entries.join(' ')};`,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': ['User:ANONYMOUS', ...supers].join(';'),
    'allow.everyone.if.no.acl.found': 'false',
  }
}

/** The text of a Java properties file; backslashes in values are doubled, as that format needs. */
export function formatProperties(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${value.replaceAll('\\', '\\\\')}\n`)
    .join('')
}
