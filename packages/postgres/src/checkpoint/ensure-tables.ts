import type { PostgresDatabase } from '../database/postgres-database.ts'
import { createPostgresSession } from '../database/postgres-session.ts'
import type { StatementRunner } from '../database/postgres-session.ts'
import { rowReply, textColumn } from '../database/reply-shape.ts'
import { postgresErrors } from '../errors.ts'
import { tableLayout } from './table-layout.ts'
import type { SchemaNames, TableLayout } from './table-layout.ts'

/** What the tables look like; a later layout is refused by an earlier version. */
export const TABLE_LAYOUT = '1'

/** Two callers at once must not create the same thing; any number that nobody else locks will do. */
const lockId = '7305421917164873'

/**
 * Creates the schemas and tables where they are missing. May be called at every start and by several processes at once.
 *
 * Cost: one short transaction. Needs CREATE on the database, or on the schemas where they exist. Promises: PGS-4.
 * @throws {TidemarkError} TM_POSTGRES_TABLES_NEWER, TM_POSTGRES_PERMISSION_DENIED, TM_POSTGRES_ENCODING_UNSUPPORTED
 */
export async function ensurePostgresTables(
  options: SchemaNames & { readonly database: PostgresDatabase },
): Promise<{ readonly created: boolean }> {
  const { database } = options
  const tables = tableLayout(options)
  const session = createPostgresSession(database)
  try {
    return await session.run('ensuring the tables', (runner) =>
      runner.transaction(async () => {
        await checkServer(database, runner)
        await runner.query({ text: `SELECT pg_advisory_xact_lock(${lockId})`, values: [] })
        const before = await storedLayouts(runner, tables)
        if (before === undefined) {
          for (const text of tableStatements(tables)) await runner.query({ text, values: [] })
          await storedLayouts(runner, tables)
        }
        return { value: { created: before === undefined }, keep: true }
      }),
    )
  } finally {
    session.close()
  }
}

async function checkServer(database: PostgresDatabase, runner: StatementRunner): Promise<void> {
  const text = `SELECT current_database()::text AS database, current_setting('server_encoding') AS encoding`
  const row = rowReply('ensuring the tables', await runner.query({ text, values: [] }))
  const found = textColumn('ensuring the tables', row, 'database')
  const encoding = textColumn('ensuring the tables', row, 'encoding')
  const { address, expectedDatabase: expected } = database
  if (found !== expected) throw postgresErrors.create('TM_POSTGRES_DATABASE_WRONG', { address, expected, found })
  if (encoding !== 'UTF8') throw postgresErrors.create('TM_POSTGRES_ENCODING_UNSUPPORTED', { address, encoding })
}

/** Whether both version tables are there; a layout that this version does not know is refused. */
async function storedLayouts(runner: StatementRunner, tables: TableLayout): Promise<'known' | undefined> {
  for (const [table, schema] of [
    [tables.version, tables.schema],
    [tables.dataVersion, tables.dataSchema],
  ] as const) {
    const found = rowReply(
      'ensuring the tables',
      await runner.query({ text: `SELECT to_regclass($1::text)::text AS name`, values: [table] }),
    )
    if (found['name'] === null) return undefined
    const layouts = await runner.query({ text: `SELECT layout FROM ${table}`, values: [] })
    for (const row of layouts.rows) checkLayout(schema, String(row['layout']))
    if (layouts.rows.length === 0) return undefined
  }
  return 'known'
}

/** @throws {TidemarkError} TM_POSTGRES_TABLES_NEWER */
export function checkLayout(schema: string, found: string): void {
  if (found === TABLE_LAYOUT) return
  const details = { schema: schema.replaceAll('"', ''), found: found.slice(0, 32), known: TABLE_LAYOUT }
  throw postgresErrors.create('TM_POSTGRES_TABLES_NEWER', details)
}

/** Keys compare by code point, so that no change of a locale library can damage an index or an order. */
const text = 'text COLLATE "C"'

function tableStatements(tables: TableLayout): readonly string[] {
  // Rows that every step updates leave room on their page, so that the index need not be touched.
  const hot = 'WITH (fillfactor = 50)'
  const create = (table: string, columns: string, options: string = ''): string =>
    `CREATE TABLE IF NOT EXISTS ${table} (${columns}) ${options}`
  const version = (table: string): readonly string[] => [
    create(table, 'layout text NOT NULL PRIMARY KEY'),
    `INSERT INTO ${table} (layout) VALUES ('${TABLE_LAYOUT}') ON CONFLICT DO NOTHING`,
  ]
  const schemas = [...new Set([tables.schema, tables.dataSchema])]
  const identity = 'format_version text, dispatch_topic text, partition_count text, cluster_id text, topic_id text'
  return [
    ...schemas.map((schema) => createSchema(schema)),
    create(tables.meta, `key ${text} NOT NULL PRIMARY KEY, ${identity}`),
    create(tables.checkpoint, `key ${text} NOT NULL PRIMARY KEY, ${identity}, partition text, next_offset text`, hot),
    create(tables.fence, `key ${text} NOT NULL PRIMARY KEY, fence text, witness text`, hot),
    create(tables.incarnation, `key ${text} NOT NULL PRIMARY KEY, nonce text`),
    create(
      tables.quarantine,
      `key ${text} NOT NULL, record_offset ${text} NOT NULL, entry text, PRIMARY KEY (key, record_offset)`,
    ),
    create(
      tables.data,
      `key ${text} NOT NULL, kind ${text} NOT NULL, name ${text} NOT NULL, full_name text, value text, score bigint, ` +
        `PRIMARY KEY (key, kind, name)`,
    ),
    create(tables.twin, `key ${text} NOT NULL PRIMARY KEY, next_offset text`, hot),
    ...version(tables.version),
    ...version(tables.dataVersion),
  ]
}

/** IF NOT EXISTS still asks for CREATE on the database; a schema that an operator made needs no such right. */
function createSchema(schema: string): string {
  const name = schema.replaceAll('"', '')
  return `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${name}') THEN CREATE SCHEMA ${schema}; END IF; END $$`
}
