import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { kafkaEndpoint } from './kafka/kafka-endpoint.ts'
import { postgresEndpoint } from './postgres/postgres-endpoint.ts'
import { redisEndpoint } from './redis/redis-endpoint.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

/** Names the desk where the processes of one run ask for the shared services. */
export const sharedServicesVariable = 'TIDEMARK_SHARED_SERVICES'

/** The services that one run shares. */
export type SharedServiceName = 'kafka' | 'redis' | 'postgres'

/** One broker, one Redis and one Postgres for all test files of a run, each started when it is first asked for. */
export interface SharedServices {
  /** Where the other processes of the run ask. */
  readonly url: string
  endpoint(service: SharedServiceName): Promise<ServiceEndpoint>
  /** What was started or used so far. */
  used(): readonly ServiceEndpoint[]
  close(): Promise<void>
}

const starters: Readonly<Record<SharedServiceName, () => Promise<ServiceEndpoint>>> = {
  kafka: () => kafkaEndpoint(),
  redis: () => redisEndpoint(),
  postgres: () => postgresEndpoint(),
}

/**
 * Opens the desk on a loopback port.
 *
 * A run of files that need only Redis never waits for a broker. Two askers at once get the same service; a failed start is
 * answered with its error and tried again for the next asker.
 */
export async function openSharedServices(): Promise<SharedServices> {
  const started = new Map<SharedServiceName, Promise<ServiceEndpoint>>()
  const ready: ServiceEndpoint[] = []
  const endpoint = (service: SharedServiceName): Promise<ServiceEndpoint> => {
    const running = started.get(service)
    if (running !== undefined) return running
    const starting = starters[service]().then((one) => {
      ready.push(one)
      return one
    })
    starting.catch(() => started.delete(service))
    started.set(service, starting)
    return starting
  }
  const server = createServer((request, response) => {
    const service = request.url?.slice(1) as SharedServiceName
    if (!Object.hasOwn(starters, service)) return void response.writeHead(404).end('no such service')
    endpoint(service).then(
      (one) => response.end(one.address),
      (error: unknown) => response.writeHead(503).end(error instanceof Error ? error.message : String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    endpoint,
    used: () => ready,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await Promise.allSettled(started.values())
      await Promise.all(ready.map((one) => one.close()))
    },
  }
}
