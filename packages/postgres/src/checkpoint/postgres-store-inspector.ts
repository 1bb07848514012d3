import { namespaceOf, topicNameOf } from '@tidemark/checkpoint'
import type { StoreInspector } from '@tidemark/checkpoint'
import { checkLimit } from '@tidemark/core'
import type { PostgresDatabase } from '../database/postgres-database.ts'
import { createPostgresSession } from '../database/postgres-session.ts'
import { textColumn } from '../database/reply-shape.ts'
import { keyLayout, prefixEnd } from './key-layout.ts'
import { createStatementBuilder } from './statements/statement-builder.ts'
import { fromStored } from './stored-text.ts'
import { tableLayout } from './table-layout.ts'
import type { SchemaNames } from './table-layout.ts'

/** How many keys one page of a pass holds. */
const keysPerPage = 1_000

/** What an inspector needs. */
export interface PostgresStoreInspectorOptions extends SchemaNames {
  readonly database: PostgresDatabase
  readonly namespace: string
}

/**
 * Looks into a namespace for an operator; closing it leaves the database open. Every key is read by ranges of the indexes, so
 * that a pass costs what the namespace holds, not what the tables do. Promises: PGS-30.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID, TM_POSTGRES_OPTION_INVALID
 */
export function createPostgresStoreInspector(options: PostgresStoreInspectorOptions): StoreInspector {
  const namespace = namespaceOf(options.namespace)
  const tables = tableLayout(options)
  const keys = keyLayout(namespace)
  const session = createPostgresSession(options.database)
  const keyed = [tables.meta, tables.checkpoint, tables.fence, tables.incarnation, tables.quarantine, tables.twin]

  /** The next keys after one, over all tables, in the order of code points. */
  async function page(after: string): Promise<readonly string[]> {
    const builder = createStatementBuilder()
    const [from, to] = [builder.param(after), builder.param(prefixEnd(`${namespace}:`)!)]
    const range = (table: string): string =>
      `(SELECT DISTINCT r.key FROM ${table} r WHERE r.key > ${from} AND r.key < ${to} ORDER BY r.key LIMIT ${keysPerPage})`
    const text = `SELECT u.key FROM (${keyed.map(range).join(' UNION ')}) u ORDER BY u.key LIMIT ${keysPerPage}`
    const { rows } = await session.run('scan keys', (runner) => runner.query(builder.build(text)))
    return rows.map((row) => textColumn('scan keys', row, 'key'))
  }

  return {
    async readQuarantine({ topic, partition, entriesMax }) {
      const builder = createStatementBuilder()
      const key = builder.param(keys.quarantine(topicNameOf(topic), partition))
      const limit = builder.param(checkLimit('entriesMax', entriesMax, { min: 0, max: 100_000 }))
      // Canonical decimal texts of equal length compare like the numbers they stand for.
      const text =
        `SELECT r.record_offset, coalesce(r.entry, '') AS entry, count(*) OVER ()::text AS total FROM ${tables.quarantine} r ` +
        `WHERE r.key = ${key} ORDER BY length(r.record_offset) DESC, r.record_offset DESC LIMIT ${limit}::bigint`
      const { rows } = await session.run('read quarantine', (runner) => runner.query(builder.build(text)))
      const column = (row: Readonly<Record<string, unknown>>, name: string): string =>
        textColumn('read quarantine', row, name)
      return {
        total: rows[0] === undefined ? 0 : Number(column(rows[0], 'total')),
        newest: rows.map((row) => ({
          offset: column(row, 'record_offset'),
          text: fromStored(column(row, 'entry')),
        })),
      }
    },
    async *scanKeys(signal) {
      let after = `${namespace}:`
      for (;;) {
        const found = await page(after)
        if (found.length > 0) yield found
        if (found.length < keysPerPage || signal?.aborted === true) return
        after = found.at(-1)!
      }
    },
    async close() {
      session.close()
    },
  }
}
