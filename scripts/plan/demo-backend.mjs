/**
 * What the demo runs on: real services when both can be had, else a log in files and a store on PGlite.
 *
 * Shape: services = { kafka: { backend, address } | { error }, redis: … }; gives { env, says: string[] }.
 */
export function demoBackend(services) {
  const faults = Object.entries(services).filter(([, service]) => service.error !== undefined)
  if (faults.length > 0) {
    const why = faults.map(([name, { error }]) => `${name}: ${error}`)
    return {
      env: { TIDEMARK_BACKEND: 'embedded' },
      says: ['backend: embedded (file-backed log, PGlite), because', ...why],
    }
  }
  const { kafka, redis } = services
  return {
    env: { KAFKA_BROKERS: kafka.address, REDIS_URL: redis.address },
    says: [
      `backend: Kafka at ${kafka.address} (${kafka.backend}), Redis at ${withoutSecret(redis.address)} (${redis.backend})`,
    ],
  }
}

/** A URL that is safe to print. */
export function withoutSecret(address) {
  return address.replace(/\/\/[^@/]*@/, '//***@')
}
