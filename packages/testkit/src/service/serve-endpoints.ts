// Run as a process of its own: `serve-endpoints.ts kafka redis`. Starts what it is asked for, prints one JSON line
// { kafka?: { backend, address } | { error }, redis?: … }, and keeps the services until its standard input ends.
import { kafkaEndpoint } from './kafka/kafka-endpoint.ts'
import { postgresEndpoint } from './postgres/postgres-endpoint.ts'
import { redisEndpoint } from './redis/redis-endpoint.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

const starters: Readonly<Record<string, () => Promise<ServiceEndpoint>>> = {
  kafka: kafkaEndpoint,
  redis: redisEndpoint,
  postgres: postgresEndpoint,
}

const names = process.argv.slice(2)
const results = await Promise.allSettled(
  names.map((name) => starters[name]?.() ?? Promise.reject(new Error(`unknown service ${name}`))),
)
const lines = results.map((result, index) => {
  if (result.status === 'rejected') return [names[index], { error: messageOf(result.reason) }]
  const { backend, address } = result.value
  return [names[index], { backend, address }]
})
process.stdout.write(`${JSON.stringify(Object.fromEntries(lines))}\n`)

process.stdin.resume()
process.stdin.once('end', () => {
  const started = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  void Promise.allSettled(started.map((endpoint) => endpoint.close())).then(() => process.exit(0))
})

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
