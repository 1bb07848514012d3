import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceErrors } from '../errors.ts'
import { freePorts } from '../process/free-port.ts'
import { findJava } from './java-binary.ts'
import { findKafkaLibraries, kafkaRemedy } from './kafka-jars.ts'
import { formatProperties, kafkaProperties } from './kafka-properties.ts'
import type { KafkaNodePorts, KafkaUser } from './kafka-properties.ts'
import { probeKafka } from './kafka-readiness.ts'
import { formatKafkaStorage, newKafkaUuid } from './kafka-storage.ts'
import { startOwnedProcess } from '../process/owned-process.ts'
import type { ProcessState } from '../process/owned-process.ts'
import { OwnedServer } from '../process/owned-server.ts'
import { makePrivateDirectory, removePrivateDirectory } from '../process/private-directory.ts'
import { waitUntilReady } from '../process/wait-until-ready.ts'

/** How a Kafka of one's own is configured. */
export interface KafkaClusterOptions {
  /** Nodes, each a broker: one, or three for the cases that name them. */
  readonly brokers?: 1 | 3
  /**
   * Which nodes are controllers too. With `first` alone the others can be frozen or killed, and nothing has to be elected before
   * the cluster carries out a request; the default is every one.
   */
  readonly controllers?: 'every' | 'first'
  /** Lines of server.properties that win over the defaults, for every node. */
  readonly properties?: Readonly<Record<string, string>>
  /** Opens a SASL_PLAINTEXT (PLAIN) listener where these users log in, and turns authorization on. */
  readonly users?: readonly KafkaUser[]
  /**
   * Opens a second plaintext listener on every node and gives its address; what is returned, `host:port` of a proxy in
   * front of it, is what clients of that listener are told to connect to. The plaintext listener stays as it is.
   */
  readonly throughProxy?: (listener: ProxiedListener) => Promise<string>
  readonly heapMegabytes?: number
  readonly readyTimeoutMs?: number
}

/** A listener that a proxy stands in front of. */
export interface ProxiedListener {
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

/** One node of a cluster of one's own. */
export interface KafkaBroker {
  readonly nodeId: number
  readonly isController: boolean
  /** `127.0.0.1:<port>` of the plaintext listener. */
  readonly address: string
  /** `127.0.0.1:<port>` of the SASL listener, when there are users. */
  readonly saslAddress: string | undefined
  pid(): number
  state(): ProcessState
  logTail(): string
  /** SIGSTOP: its sockets stay open, it answers nothing, the others notice after the session time-out (4 s). */
  pause(): void
  resume(): void
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM. */
  stop(): Promise<void>
  /** Starts it again on the same ports and data; resolves when it lists itself in its metadata. */
  restart(): Promise<void>
}

/** A Kafka of one's own on 127.0.0.1. */
export interface KafkaCluster {
  readonly clusterId: string
  readonly brokers: readonly KafkaBroker[]
  /** `host:port` of every plaintext listener. */
  readonly bootstrapBrokers: readonly string[]
  /** `host:port` of every SASL listener; empty without users. */
  readonly saslBrokers: readonly string[]
  /** `host:port` of every proxy; empty unless asked for. */
  readonly proxiedBrokers: readonly string[]
  /** Ends every node and removes their directories. May be called again. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

interface Launch {
  readonly java: string
  readonly libraries: string
  readonly heapMegabytes: number
  readonly readyTimeoutMs: number
}

/**
 * Starts a local Apache Kafka (KRaft) with private directories and free ports.
 *
 * Cost: one node is ready in 5-11 s and takes about 400 MB; three in about 10 s and 1.4 GB.
 * Throws: TM_SERVICE_UNAVAILABLE without Java 17 or the jars, TM_SERVICE_DIED, TM_SERVICE_NOT_READY.
 */
export async function startKafka(options: KafkaClusterOptions = {}): Promise<KafkaCluster> {
  const launch = await findLaunch(options)
  const nodes = await planNodes(options)
  const clusterId = newKafkaUuid()
  const directories = nodes.map((node) => makePrivateDirectory(`kafka-${node.nodeId}`))
  const voters = options.controllers === 'first' ? nodes.slice(0, 1) : nodes
  const brokers = nodes.map((node, index) => new LocalBroker(launch, node, voters.includes(node), directories[index]!))
  const close = async (): Promise<void> => {
    await Promise.all(brokers.map((broker) => broker.stop()))
    directories.forEach(removePrivateDirectory)
  }
  try {
    const dataDirectories = nodes.map(({ nodeId }, index) => ({ nodeId, directory: join(directories[index]!, 'data') }))
    nodes.forEach((node, index) => {
      const dataDirectory = dataDirectories[index]!.directory
      mkdirSync(dataDirectory)
      const properties = kafkaProperties({
        node,
        nodes,
        voters,
        dataDirectory,
        users: options.users ?? [],
        overrides: options.properties ?? {},
      })
      writeFileSync(brokers[index]!.propertiesFile, formatProperties(properties))
    })
    const { java, libraries } = launch
    await formatKafkaStorage({
      java,
      libraries,
      clusterId,
      propertiesFile: brokers[0]!.propertiesFile,
      dataDirectories,
    })
    await Promise.all(brokers.map((broker) => broker.start()))
    // Every broker must know every other, or the first topic may get too few replicas.
    const nodeIds = nodes.map((node) => node.nodeId)
    await Promise.all(brokers.map((broker) => broker.waitUntilKnows(nodeIds)))
  } catch (error) {
    await close()
    throw error
  }
  return {
    clusterId,
    brokers,
    bootstrapBrokers: brokers.map((broker) => broker.address),
    saslBrokers: brokers.flatMap((broker) => broker.saslAddress ?? []),
    proxiedBrokers: nodes.flatMap((node) => node.proxied?.advertised ?? []),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function findLaunch(options: KafkaClusterOptions): Promise<Launch> {
  const java = await findJava()
  const libraries = findKafkaLibraries()
  if (java === undefined || libraries === undefined) {
    const tried = [
      java === undefined ? 'no Java 17 or newer' : undefined,
      libraries === undefined ? 'no Kafka jars' : undefined,
    ]
    const details = { service: 'Kafka', tried: tried.filter((one) => one !== undefined), remedy: kafkaRemedy }
    throw serviceErrors.create('TM_SERVICE_UNAVAILABLE', details)
  }
  const { heapMegabytes = 512, readyTimeoutMs = 90_000 } = options
  return { java, libraries, heapMegabytes, readyTimeoutMs }
}

async function planNodes(options: KafkaClusterOptions): Promise<readonly KafkaNodePorts[]> {
  const { brokers: count = 1, users = [], throughProxy } = options
  const ports = await freePorts(count * 4)
  const plan = async (index: number): Promise<KafkaNodePorts> => {
    const nodeId = index + 1
    const [plaintext, controller, sasl, port] = ports.slice(index * 4, index * 4 + 4) as [
      number,
      number,
      number,
      number,
    ]
    const own = { nodeId, plaintext, controller, sasl: users.length > 0 ? sasl : undefined }
    if (throughProxy === undefined) return own
    return { ...own, proxied: { port, advertised: await throughProxy({ nodeId, host: '127.0.0.1', port }) } }
  }
  return Promise.all(Array.from({ length: count }, (_, index) => plan(index)))
}

class LocalBroker extends OwnedServer implements KafkaBroker {
  readonly nodeId: number
  readonly isController: boolean
  readonly address: string
  readonly saslAddress: string | undefined
  readonly propertiesFile: string
  readonly #launch: Launch
  readonly #node: KafkaNodePorts
  readonly #directory: string

  constructor(launch: Launch, node: KafkaNodePorts, isController: boolean, directory: string) {
    super(`Kafka node ${node.nodeId}`)
    this.#launch = launch
    this.#node = node
    this.#directory = directory
    this.nodeId = node.nodeId
    this.isController = isController
    this.address = `127.0.0.1:${node.plaintext}`
    this.saslAddress = node.sasl === undefined ? undefined : `127.0.0.1:${node.sasl}`
    this.propertiesFile = join(directory, 'server.properties')
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
    await this.waitUntilKnows([this.nodeId])
  }

  async start(): Promise<void> {
    const { java, libraries, heapMegabytes } = this.#launch
    const tuning = [
      `-Xmx${heapMegabytes}m`,
      '-Xms128m',
      '-XX:TieredStopAtLevel=1',
      '-XX:+UseSerialGC',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    ]
    this.process = await startOwnedProcess({
      name: `Kafka node ${this.nodeId} at ${this.address}`,
      command: java,
      args: [...tuning, '-cp', join(libraries, '*'), 'kafka.Kafka', this.propertiesFile],
      directory: this.#directory,
      stopTimeoutMs: 8_000,
    })
  }

  async waitUntilKnows(nodeIds: readonly number[]): Promise<void> {
    await waitUntilReady({
      service: `Kafka node ${this.nodeId}`,
      address: this.address,
      timeoutMs: this.#launch.readyTimeoutMs,
      probe: (timeoutMs) => probeKafka('127.0.0.1', this.#node.plaintext, nodeIds, timeoutMs),
      owned: this.started(),
    })
  }
}
