import { serviceErrors } from './errors.ts'
import { parseBrokers } from './kafka/kafka-endpoint.ts'
import { sharedServicesVariable } from './shared-services.ts'
import type { SharedServiceName } from './shared-services.ts'

/**
 * `host:port` of the run's shared Kafka, started on first demand.
 *
 * Use a topic name of your own per test; never change broker configuration or kill it (`startKafka` is for that).
 * Throws: TM_SERVICE_UNAVAILABLE with the remedy; a service test must let it fail.
 */
export async function sharedKafkaBrokers(): Promise<readonly string[]> {
  const address = await sharedAddress('kafka', 'KAFKA_BROKERS')
  return parseBrokers(address).map(({ host, port }) => `${host}:${port}`)
}

/**
 * URL of the run's shared Redis, started on first demand.
 *
 * Use a key prefix of your own per test; never FLUSHALL, CONFIG SET or kill it (`startRedis` is for that).
 * Throws: TM_SERVICE_UNAVAILABLE with the remedy; a service test must let it fail.
 */
export function sharedRedisUrl(): Promise<string> {
  return sharedAddress('redis', 'REDIS_URL')
}

/**
 * URL of the run's shared Postgres, started on first demand; its user may create schemas.
 *
 * Use a schema of your own per test and drop it; never ALTER SYSTEM or kill it (`startPostgres` is for that).
 * Throws: TM_SERVICE_UNAVAILABLE with the remedy; a service test must let it fail.
 */
export function sharedPostgresUrl(): Promise<string> {
  return sharedAddress('postgres', 'POSTGRES_URL')
}

async function sharedAddress(service: SharedServiceName, variable: string): Promise<string> {
  const desk = process.env[sharedServicesVariable]
  const unavailable = (tried: string, remedy: string): Error =>
    serviceErrors.create('TM_SERVICE_UNAVAILABLE', { service, tried: [tried], remedy })
  if (desk === undefined) {
    const named = process.env[variable]
    if (named !== undefined && named !== '') return named
    throw unavailable(
      `neither ${sharedServicesVariable} nor ${variable}`,
      'run it as a *.service.test.ts of the vitest workspace',
    )
  }
  const answer = await fetch(`${desk}/${service}`, { signal: AbortSignal.timeout(150_000) })
  const text = await answer.text()
  if (!answer.ok) throw unavailable('the shared start failed', text)
  return text
}
