import { chooseBackend } from '../backend-choice.ts'
import { dockerAnswers } from '../docker-probe.ts'
import { startKafkaInDocker } from '../docker-services.ts'
import { serviceErrors } from '../errors.ts'
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
export async function kafkaEndpoint(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ServiceEndpoint> {
  const named = env['KAFKA_BROKERS']
  const choice = chooseBackend({
    service: 'Kafka',
    variable: 'KAFKA_BROKERS',
    address: named,
    dockerAnswers: (named ?? '') === '' && (await dockerAnswers()),
    localFound: findKafkaLibraries(env) !== undefined && (await findJava(env)) !== undefined,
    remedy: kafkaRemedy,
  })
  switch (choice.kind) {
    case 'address':
      return namedKafka(choice.address)
    case 'docker':
      return startKafkaInDocker()
    case 'local': {
      const cluster = await startKafka()
      const address = cluster.bootstrapBrokers.join(',')
      return { service: 'kafka', backend: 'local', address, close: () => cluster.close() }
    }
    case 'unavailable': {
      const details = { service: 'Kafka', tried: [...choice.tried], remedy: choice.remedy }
      throw serviceErrors.create('TM_SERVICE_UNAVAILABLE', details)
    }
  }
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
