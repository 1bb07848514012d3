import type { ProjectedDataReader, ProjectedValue } from '@tidemark/checkpoint'
import type { PostgresDatabase } from '../database/postgres-database.ts'
import { createPostgresSession } from '../database/postgres-session.ts'
import { malformed } from '../database/reply-shape.ts'
import { postgresErrors } from '../errors.ts'
import { kindNames } from './fold-writes.ts'
import { createStatementBuilder } from './statements/statement-builder.ts'
import { fromStored, indexId, textArray } from './stored-text.ts'
import { tableLayout } from './table-layout.ts'
import type { SchemaNames } from './table-layout.ts'

/** What a reader needs. */
export interface PostgresDataReaderOptions extends SchemaNames {
  readonly database: PostgresDatabase
  /** The data prefix of the store that wrote. */
  readonly dataPrefix?: string
}

/** Reads projected data of the common vocabulary. Closing it leaves the database open. */
export interface PostgresDataReader extends ProjectedDataReader {
  close(): Promise<void>
}

/** A reader of data keys. Cost: one round trip per call. Promises: PGS-18. */
export function createPostgresDataReader(options: PostgresDataReaderOptions): PostgresDataReader {
  const { database, dataPrefix = '' } = options
  const tables = tableLayout(options)
  const session = createPostgresSession(database)
  return {
    async readValues(keys) {
      const ids = keys.map((key) => indexId(`${dataPrefix}${key}`))
      const builder = createStatementBuilder()
      const array = builder.param(textArray(new Set(ids)))
      const text =
        `SELECT current_database()::text AS database, d.key, d.kind, d.name, d.full_name, d.value, d.score::text AS score ` +
        `FROM (SELECT) one LEFT JOIN ${tables.data} d ON d.key = ANY(${array}::text::text[])`
      const { rows } = await session.run('read values', (runner) => runner.query(builder.build(text)))
      const found = String(rows[0]?.['database'])
      if (found !== database.expectedDatabase) {
        const details = { address: database.address, expected: database.expectedDatabase, found }
        throw postgresErrors.create('TM_POSTGRES_DATABASE_WRONG', details)
      }
      const values = new Map<string, ProjectedValue>()
      for (const row of rows) if (row['key'] !== null) addRow(values, row)
      return ids.map((id) => values.get(id) ?? { kind: 'absent' })
    },
    async close() {
      session.close()
    },
  }
}

/** Values while they are put together; the maps inside are still open. */
function addRow(values: Map<string, ProjectedValue>, row: Readonly<Record<string, unknown>>): void {
  const key = text(row['key'])
  const name = fromStored(text(row['full_name'] ?? row['name']))
  const value = values.get(key)
  switch (row['kind']) {
    case 'z': {
      const score = Number(text(row['score']))
      if (!Number.isSafeInteger(score)) throw malformed('read values', 'a safe whole number as score', 'another')
      return void held(values, key, value, 'sorted-set', () => ({ kind: 'sorted-set', scores: new Map() })).scores.set(
        name,
        score,
      )
    }
    case 's':
      return void held(values, key, value, 'set', () => ({ kind: 'set', members: new Set() })).members.add(name)
    case 'h':
      return void held(values, key, value, 'hash', () => ({ kind: 'hash', fields: new Map() })).fields.set(
        name,
        fromStored(text(row['value'])),
      )
    case 't':
      if (value !== undefined) throw mixed(key, value.kind, 'string')
      return void values.set(key, { kind: 'string', value: fromStored(text(row['value'])) })
    default:
      throw mixed(key, 'value of the vocabulary', String(row['kind']))
  }
}

type Open =
  | { readonly kind: 'hash'; readonly fields: Map<string, string> }
  | { readonly kind: 'set'; readonly members: Set<string> }
  | { readonly kind: 'sorted-set'; readonly scores: Map<string, number> }

function held<Kind extends Open['kind']>(
  values: Map<string, ProjectedValue>,
  key: string,
  value: ProjectedValue | undefined,
  kind: Kind,
  create: () => Extract<Open, { readonly kind: Kind }>,
): Extract<Open, { readonly kind: Kind }> {
  if (value !== undefined && value.kind !== kind) throw mixed(key, value.kind, kind)
  if (value !== undefined) return value as unknown as Extract<Open, { readonly kind: Kind }>
  const created = create()
  values.set(key, created as unknown as ProjectedValue)
  return created
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw malformed('read values', 'a text', value === null ? 'NULL' : `a ${typeof value}`)
}

function mixed(key: string, due: string, found: string): Error {
  const details = {
    operation: 'read values',
    key: fromStored(key).slice(0, 128),
    due,
    found: kindNames[found] ?? found,
  }
  return postgresErrors.create('TM_POSTGRES_WRONG_KIND', details)
}
