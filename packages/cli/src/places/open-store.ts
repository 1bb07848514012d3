import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresDatabase } from '@tidemark/postgres/checkpoint'
import { cliErrors } from '../errors.ts'
import { loadClient } from './load-client.ts'
import { openRedisPlace } from './open-redis.ts'
import type { StorePlace } from './place.ts'
import type { OpenStorePlace, StoreAccess } from './store-access.ts'

/**
 * Opens a store's place. Clients are loaded here and not before.
 *
 * @throws {TidemarkError} TM_CLI_CLIENT_MISSING, and what the adapter says of its options.
 */
export async function openStorePlace(
  place: StorePlace,
  access: StoreAccess,
  deadlineMs: number,
): Promise<OpenStorePlace> {
  switch (place.kind) {
    case 'embedded':
      return openEmbedded(place.directory, access)
    case 'postgres':
      return openPostgres(place, access, deadlineMs)
    case 'pglite':
      return openPgliteDirectory(place, access, deadlineMs)
    default:
      return openRedisPlace(place, access, deadlineMs)
  }
}

async function openEmbedded(directory: string, access: StoreAccess): Promise<OpenStorePlace> {
  const adapter = await loadClient('--embedded', () => import('@tidemark/embedded'))
  const storage =
    access.kind === 'read'
      ? await adapter.createEmbeddedStorageView({ directory })
      : await adapter.createEmbeddedStorage({ directory, durability: 'fsync' })
  return {
    name: `embedded store in ${directory}`,
    store: (namespace, dataPrefix = '') => adapter.createEmbeddedProjectionStore({ storage, namespace, dataPrefix }),
    data: (dataPrefix) => adapter.createEmbeddedDataReader({ storage, dataPrefix }),
    inspector: (namespace) => adapter.createEmbeddedStoreInspector({ storage, namespace }),
    close: () => storage.close(),
  }
}

type PostgresPlace = Extract<StorePlace, { kind: 'postgres' | 'pglite' }>

async function openPostgres(
  place: Extract<PostgresPlace, { kind: 'postgres' }>,
  access: StoreAccess,
  deadlineMs: number,
): Promise<OpenStorePlace> {
  const { connectPostgres } = await loadClient('--postgres', () => import('@tidemark/postgres/pg'))
  const options = { deadlineMs, connectionsMax: 4, applicationName: 'tidemark-command' }
  const database = connectPostgres(withPassword(place.url, place.password), options)
  return openTables(place, access, database, `postgres at ${database.address}`)
}

async function openPgliteDirectory(
  place: Extract<PostgresPlace, { kind: 'pglite' }>,
  access: StoreAccess,
  deadlineMs: number,
): Promise<OpenStorePlace> {
  const { directory } = place
  // Opening creates what is missing or was cut off; neither a mistyped path nor a half-made one must become a database by a look.
  if (!existsSync(join(directory, 'created'))) {
    const reason = 'no PGlite database stands there'
    throw cliErrors.create('TM_CLI_FILE_UNREADABLE', { what: 'the directory', file: directory, reason })
  }
  const { openPglite } = await loadClient('--pglite', () => import('@tidemark/postgres/pglite'))
  const database = await openPglite({ directory, deadlineMs: Math.max(deadlineMs, 60_000) })
  return openTables(place, access, database, `pglite in ${directory}`)
}

async function openTables(
  place: PostgresPlace,
  access: StoreAccess,
  database: PostgresDatabase,
  name: string,
): Promise<OpenStorePlace> {
  const adapter = await loadClient(`--${place.kind}`, () => import('@tidemark/postgres/checkpoint'))
  const { schemas } = place
  const { isEmpty = neverAsked } = access
  return {
    name,
    store: (namespace, dataPrefix = '') =>
      adapter.createPostgresProjectionStore({ database, namespace, dataPrefix, isEmpty, ...schemas }),
    data: (dataPrefix) => adapter.createPostgresDataReader({ database, dataPrefix, ...schemas }),
    inspector: (namespace) => adapter.createPostgresStoreInspector({ database, namespace, ...schemas }),
    close: () => database.close(),
  }
}

function neverAsked(): Promise<boolean> {
  throw new TypeError('a store opened for looking was asked to create something')
}

/** The URL with a password that came by another way. */
function withPassword(url: string, password: string | undefined): string {
  if (password === undefined || !URL.canParse(url)) return url
  const parsed = new URL(url)
  parsed.password = encodeURIComponent(password)
  return parsed.href
}
