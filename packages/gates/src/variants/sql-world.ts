import { createProjection } from '@tidemark/checkpoint'
import { createPostgresProjectionStore, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type { PostgresDatabase, TransactionalWriter } from '@tidemark/postgres/checkpoint'
import { dispatchOf } from '../dispatch.ts'
import type { Dispatch } from '../dispatch.ts'
import type { RunSql } from './run-sql.ts'
import { sqlDamage } from './sql-damage.ts'
import type { ProjectionParts, StorePlace, StoreWorld } from './store-side.ts'

/** A database that holds one world, by whatever client. */
export interface SqlDatabase {
  readonly run: RunSql
  /** The database a projection uses; closing it is the opener's. */
  forProjection(parts: ProjectionParts): PostgresDatabase
  readonly openLine: StoreWorld['openLine']
  close(): Promise<void>
}

/** Where the data of the gates live; the store keeps the position of the data beside them. */
const schemas = { schema: 'tidemark', dataSchema: 'gates_data' }

const tablesLock = 7_301_114

/** Creates the tables of the store, and the host's own, where they are missing. */
export async function ensureSqlTables(database: PostgresDatabase, run: RunSql): Promise<void> {
  await ensurePostgresTables({ database, ...schemas })
  // Two sessions that create one table at the same moment fail on it, IF NOT EXISTS or not. One statement is one transaction.
  await run(`DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(${tablesLock});
    CREATE TABLE IF NOT EXISTS gates_data.sessions (
      user_name text, conversation text, created_at bigint NOT NULL, PRIMARY KEY (user_name, conversation));
    CREATE TABLE IF NOT EXISTS gates_data.applied (user_name text PRIMARY KEY, times bigint NOT NULL);
  END $$`)
}

/** A world in a database that has the tables. Its sessions are rows, and every dispatch is counted. */
export function openSqlWorld(place: StorePlace, database: SqlDatabase): StoreWorld {
  const { namespace, topic, users } = place
  const { run } = database
  const checkpointKey = (partition: number): string => `${namespace}:checkpoint:${topic}:${partition}`
  const fieldsOf = async (table: string, key: string): Promise<Readonly<Record<string, string>>> => {
    const [row] = await run(`SELECT * FROM tidemark.${table} WHERE key = $1`, [key])
    const fields = Object.entries(row ?? {}).filter(([name, value]) => name !== 'key' && value !== null)
    return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]))
  }
  return {
    projection: (parts) => sqlProjection(place, database, parts),
    async sessions(user) {
      const text = 'SELECT conversation, created_at FROM gates_data.sessions WHERE user_name = $1 ORDER BY 2, 1'
      const rows = await run(text, [`${users}${user}`])
      return Object.fromEntries(rows.map((row) => [String(row['conversation']), Number(row['created_at'])]))
    },
    async userCount() {
      const text = 'SELECT count(DISTINCT user_name) AS found FROM gates_data.sessions WHERE starts_with(user_name, $1)'
      return Number((await run(text, [users]))[0]?.['found'])
    },
    async applied(user) {
      const rows = await run('SELECT times FROM gates_data.applied WHERE user_name = $1', [`${users}${user}`])
      return Number(rows[0]?.['times'] ?? 0)
    },
    metaFields: () => fieldsOf('tidemark_meta', `${namespace}:meta`),
    checkpointFields: (partition) => fieldsOf('tidemark_checkpoint', checkpointKey(partition)),
    checkpoint: async (partition) => (await fieldsOf('tidemark_checkpoint', checkpointKey(partition)))['next_offset'],
    storedBytes: () => storedRows(place, run),
    damage: sqlDamage(namespace, run),
    removeTwin: async (partition) => {
      await run('DELETE FROM gates_data.tidemark_twin WHERE key = $1', [`${namespace}:twin:${topic}:${partition}`])
    },
    openLine: database.openLine,
    close: () => database.close(),
  }
}

function sqlProjection({ namespace, users }: StorePlace, database: SqlDatabase, parts: ProjectionParts) {
  const { storeAddress: _address, commandDeadlineMs: _deadline, ...options } = parts
  const store = createPostgresProjectionStore({
    database: database.forProjection(parts),
    namespace,
    ...schemas,
    isEmpty: async (tx) => {
      const text = 'SELECT 1 FROM gates_data.sessions WHERE starts_with(user_name, $1) LIMIT 1'
      return (await tx.query(text, [users])).length === 0
    },
  })
  return createProjection<TransactionalWriter>({
    ...options,
    store,
    project(record, write) {
      const dispatch = dispatchOf(record)
      if (dispatch.kind === 'undecodable') return dispatch
      const names = dispatch.users.map((user) => `${users}${user}`)
      for (let from = 0; from < names.length; from += NAMES_PER_STATEMENT) {
        writeNames(write, JSON.stringify(names.slice(from, from + NAMES_PER_STATEMENT)), dispatch)
      }
      return undefined
    },
  })
}

/** A statement's text and values are bounded, so a dispatch to thousands of users takes several. */
const NAMES_PER_STATEMENT = 1_000

function writeNames(write: TransactionalWriter, names: string, { conversation, createdAt }: Dispatch): void {
  write.sql(
    `INSERT INTO gates_data.sessions AS s (user_name, conversation, created_at)
     SELECT name, $2, $3::bigint FROM jsonb_array_elements_text($1::jsonb) AS name
     ON CONFLICT (user_name, conversation) DO UPDATE SET created_at = GREATEST(s.created_at, EXCLUDED.created_at)`,
    [names, conversation, createdAt],
  )
  write.sql(
    `INSERT INTO gates_data.applied AS a (user_name, times) SELECT name, 1 FROM jsonb_array_elements_text($1::jsonb) AS name
     ON CONFLICT (user_name) DO UPDATE SET times = a.times + 1`,
    [names],
  )
}

/** Every row of the namespace and of its users, as text. */
async function storedRows({ namespace, users }: StorePlace, run: RunSql): Promise<Readonly<Record<string, string>>> {
  const own = ['meta', 'checkpoint', 'fence', 'incarnation', 'quarantine'].map((name) => `tidemark.tidemark_${name}`)
  const ours = await Promise.all(
    [...own, 'gates_data.tidemark_twin'].map(async (table) => {
      const rows = await run(`SELECT t::text AS row FROM ${table} t WHERE starts_with(key, $1) ORDER BY 1`, [
        `${namespace}:`,
      ])
      return rows.map((row, index): [string, string] => [`${table} ${index}`, String(row['row'])])
    }),
  )
  const hosts = await Promise.all(
    ['sessions', 'applied'].map(async (table) => {
      const text = `SELECT t::text AS row FROM gates_data.${table} t WHERE starts_with(user_name, $1) ORDER BY 1`
      return (await run(text, [users])).map((row, index): [string, string] => [`${table} ${index}`, String(row['row'])])
    }),
  )
  return Object.fromEntries([...ours, ...hosts].flat())
}
