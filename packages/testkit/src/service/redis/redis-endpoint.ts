import { startRedisInDocker } from '../docker-services.ts'
import { openEndpoint } from '../open-endpoint.ts'
import { findBinary } from '../process/find-binary.ts'
import { probeRedis } from './redis-readiness.ts'
import { redisRemedy, startRedis } from './redis-server.ts'
import type { ServiceEndpoint } from '../service-endpoint.ts'
import { waitUntilReady } from '../process/wait-until-ready.ts'

/** The shared server keeps its data like a careful operator would: append-only file, no eviction. */
const sharedConfig = { appendonly: 'yes', appendfsync: 'everysec', 'maxmemory-policy': 'noeviction' }

/**
 * A real Redis that answers: the one named by REDIS_URL, else one in Docker, else a local `redis-server`.
 *
 * Throws: TM_SERVICE_UNAVAILABLE with the remedy when there is none; TM_SERVICE_NOT_READY when the named one does not answer.
 */
export function redisEndpoint(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ServiceEndpoint> {
  return openEndpoint({
    service: 'Redis',
    variable: 'REDIS_URL',
    named: env['REDIS_URL'],
    localFound: async () => findBinary('redis-server', env['PATH']) !== undefined,
    remedy: redisRemedy,
    atAddress: namedRedis,
    inDocker: startRedisInDocker,
    async startLocal() {
      const server = await startRedis({ config: sharedConfig })
      return { service: 'redis', backend: 'local', address: server.url, close: () => server.close() }
    },
  })
}

async function namedRedis(address: string): Promise<ServiceEndpoint> {
  const { protocol, hostname, port } = new URL(address)
  // A TLS server cannot be asked in plain text; its first real client reports what is wrong.
  if (protocol === 'redis:') {
    await waitUntilReady({
      service: 'Redis',
      address: `${hostname}:${port || 6379}`,
      timeoutMs: 10_000,
      probe: (timeoutMs) => probeRedis(hostname, Number(port || 6379), timeoutMs),
    })
  }
  return { service: 'redis', backend: 'address', address, close: async () => {} }
}
