import { startPostgresInDocker } from '../docker-services.ts'
import { openEndpoint } from '../open-endpoint.ts'
import { waitUntilReady } from '../process/wait-until-ready.ts'
import type { ServiceEndpoint } from '../service-endpoint.ts'
import { findPostgres, postgresRemedy } from './postgres-binaries.ts'
import { probePostgres } from './postgres-readiness.ts'
import { startPostgres } from './postgres-server.ts'

/** The shared server keeps its data like a careful operator would. */
const sharedConfig = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }

/**
 * A real Postgres that answers: the one named by POSTGRES_URL, else one in Docker, else a local `postgres`.
 *
 * Throws: TM_SERVICE_UNAVAILABLE with the remedy when there is none; TM_SERVICE_NOT_READY when the named one does not answer.
 */
export function postgresEndpoint(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ServiceEndpoint> {
  return openEndpoint({
    service: 'Postgres',
    variable: 'POSTGRES_URL',
    named: env['POSTGRES_URL'],
    localFound: async () => findPostgres(env['PATH']) !== undefined,
    remedy: postgresRemedy,
    atAddress: namedPostgres,
    inDocker: startPostgresInDocker,
    async startLocal() {
      const server = await startPostgres({ config: sharedConfig })
      return { service: 'postgres', backend: 'local', address: server.url, close: () => server.close() }
    },
  })
}

async function namedPostgres(address: string): Promise<ServiceEndpoint> {
  const { hostname, port } = new URL(address)
  await waitUntilReady({
    service: 'Postgres',
    address: `${hostname}:${port || 5432}`,
    timeoutMs: 15_000,
    probe: (timeoutMs) => probePostgres(hostname.replaceAll(/[[\]]/g, ''), Number(port || 5432), timeoutMs),
  })
  return { service: 'postgres', backend: 'address', address, close: async () => {} }
}
