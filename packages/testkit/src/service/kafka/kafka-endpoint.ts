import { startKafkaInDocker } from '../docker-services.ts'
import { serviceErrors } from '../errors.ts'
import { openEndpoint } from '../open-endpoint.ts'
import { findJava } from './java-binary.ts'
import { startKafka } from './kafka-cluster.ts'
import { findKafkaLibraries, kafkaRemedy } from './kafka-jars.ts'
import { probeKafka } from './kafka-readiness.ts'
import type { ServiceEndpoint } from '../service-endpoint.ts'
import { waitUntilReady } from '../process/wait-until-ready.ts'

/**
 * A real Kafka that answers: the one named by KAFKA_BROKERS, else one in Docker, else a local broker by Maven and Java.
 *
 * Throws: TM_SERVICE_UNAVAILABLE with the remedy when there is none; TM_SERVICE_NOT_READY when the named one does not answer.
 */
export function kafkaEndpoint(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ServiceEndpoint> {
  return openEndpoint({
    service: 'Kafka',
    variable: 'KAFKA_BROKERS',
    named: env['KAFKA_BROKERS'],
    localFound: async () => findKafkaLibraries(env) !== undefined && (await findJava(env)) !== undefined,
    remedy: kafkaRemedy,
    atAddress: namedKafka,
    inDocker: startKafkaInDocker,
    async startLocal() {
      const cluster = await startKafka()
      const address = cluster.bootstrapBrokers.join(',')
      return { service: 'kafka', backend: 'local', address, close: () => cluster.close() }
    },
  })
}

async function namedKafka(address: string): Promise<ServiceEndpoint> {
  const [first] = parseBrokers(address)
  await waitUntilReady({
    service: 'Kafka',
    address,
    timeoutMs: 15_000,
    probe: (timeoutMs) => probeKafka(first.host.replaceAll(/[[\]]/g, ''), first.port, [], timeoutMs),
  })
  return { service: 'kafka', backend: 'address', address, close: async () => {} }
}

/**
 * Splits `host:port,host:port`; at least one.
 *
 * Throws: TM_SERVICE_UNAVAILABLE when a part is not `host:port`.
 */
export function parseBrokers(address: string): [{ host: string; port: number }, ...{ host: string; port: number }[]] {
  const brokers = address.split(',').map((part) => {
    const match = /^\s*(.+):(\d{1,5})\s*$/.exec(part)
    if (match === null) {
      const details = {
        service: 'Kafka',
        tried: [`KAFKA_BROKERS has ${JSON.stringify(part)}`],
        remedy: 'write host:port[,host:port]',
      }
      throw serviceErrors.create('TM_SERVICE_UNAVAILABLE', details)
    }
    return { host: match[1]!, port: Number(match[2]) }
  })
  return brokers as [(typeof brokers)[number], ...typeof brokers]
}
