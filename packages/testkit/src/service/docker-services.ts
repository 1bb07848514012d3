import type { ServiceEndpoint } from './service-endpoint.ts'
import { freePorts } from './process/free-port.ts'
import { kafkaVersion } from './kafka/kafka-jars.ts'

const postgresImage = 'postgres:16-alpine'
const redisImage = 'redis:7.2-alpine'
const kafkaImage = `apache/kafka:${kafkaVersion}`

/**
 * A Redis in Docker, by testcontainers.
 *
 * Not exercised where no Docker engine is at hand: the project's own machines have none, so only the local way is proven there.
 */
export async function startRedisInDocker(): Promise<ServiceEndpoint> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(redisImage)
    .withCommand(['redis-server', '--save', '', '--appendonly', 'yes'])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start()
  return {
    service: 'redis',
    backend: 'docker',
    address: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    async close() {
      await container.stop()
    },
  }
}

/**
 * A Postgres in Docker, by testcontainers.
 *
 * Not exercised where no Docker engine is at hand, see `startRedisInDocker`.
 */
export async function startPostgresInDocker(): Promise<ServiceEndpoint> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(postgresImage)
    .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: 'trust' })
    .withExposedPorts(5432)
    // The image starts the server once to set it up and once more to serve.
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
  return {
    service: 'postgres',
    backend: 'docker',
    address: `postgres://postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    async close() {
      await container.stop()
    },
  }
}

/**
 * A one-node Kafka in Docker, by testcontainers.
 *
 * The host port is fixed beforehand, because the broker must advertise the address its clients use.
 * Not exercised where no Docker engine is at hand, see `startRedisInDocker`.
 */
export async function startKafkaInDocker(): Promise<ServiceEndpoint> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const [port] = (await freePorts(1)) as [number]
  const container = await new GenericContainer(kafkaImage)
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: 'PLAINTEXT://0.0.0.0:9092,CONTROLLER://localhost:9093',
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_LOG_SEGMENT_DELETE_DELAY_MS: '0',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start()
  return {
    service: 'kafka',
    backend: 'docker',
    address: `127.0.0.1:${port}`,
    async close() {
      await container.stop()
    },
  }
}
