import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { IdempotentWriter, ProjectedDataReader, ProjectionStore, StoreInspector } from '@tidemark/checkpoint'
import type { EmptyQuestion, PostgresDatabase } from '@tidemark/postgres/checkpoint'
import { cliErrors } from '../errors.ts'
import { loadClient } from './load-client.ts'
import type { StorePlace } from './place.ts'

/** How a place is opened: to look or to write, and by which form of steps. Looking is alike in all forms. */
export interface StoreAccess {
  readonly kind: 'read' | 'write'
  readonly form: 'atomic' | 'two-step'
  /** Whether the host's own tables are empty, for the first step into a Postgres. A look never asks. */
  readonly isEmpty?: (tx: EmptyQuestion) => Promise<boolean>
}

/** How the commands open a place that only look. */
export const LOOKING: StoreAccess = { kind: 'read', form: 'atomic' }

/** An open place; several namespaces of it may be looked at. */
export interface OpenStorePlace {
  /** How to call it in what is printed; no credentials. */
  readonly name: string
  store(namespace: string, dataPrefix?: string): ProjectionStore<IdempotentWriter>
  data(dataPrefix: string): ProjectedDataReader
  inspector(namespace: string): StoreInspector
  /** Closes whatever was opened, stores included. */
  close(): Promise<void>
}

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
    case 'redis':
      return openRedis(place, access, deadlineMs)
    case 'embedded':
      return openEmbedded(place.directory, access)
    case 'postgres':
      return openPostgres(place, access, deadlineMs)
    case 'pglite':
      return openPgliteDirectory(place, access, deadlineMs)
  }
}

type RedisPlace = Extract<StorePlace, { kind: 'redis' }>

async function openRedis(place: RedisPlace, access: StoreAccess, deadlineMs: number): Promise<OpenStorePlace> {
  const adapter = await loadClient('--redis', () => import('@tidemark/redis/checkpoint'))
  const redis = adapter.createSafeRedis(place.url, {
    connectionName: 'tidemark-command',
    commandDeadlineMs: deadlineMs,
    ...(place.password === undefined ? {} : { password: place.password }),
  })
  const opened: { close(): Promise<void> }[] = []
  const kept = <T extends { close(): Promise<void> }>(each: T): T => (opened.push(each), each)
  return {
    name: `redis at ${redis.address}/${redis.database}`,
    store(namespace, dataPrefix = '') {
      const shared = { redis, namespace, dataPrefix }
      if (access.form === 'atomic') {
        return kept(adapter.createRedisProjectionStore({ ...shared, form: 'atomic' }))
      }
      const commuting = adapter.createRedisProjectionStore({ ...shared, form: 'two-step' })
      // The project module comes without types; a write that does not commute is refused when it is made.
      return kept(commuting as unknown as ProjectionStore<IdempotentWriter>)
    },
    data: (dataPrefix) => kept(adapter.createRedisDataReader({ redis, dataPrefix })),
    inspector: (namespace) => kept(adapter.createRedisStoreInspector({ redis, namespace })),
    close: () => closeAll(opened),
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

async function closeAll(opened: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.allSettled(opened.map((each) => each.close()))
}
