import type { ReadStateRequest, StoredFields, StoredState, UnreadableKey } from '@tidemark/checkpoint'
import type { PostgresDatabase } from '../database/postgres-database.ts'
import type { StatementRunner } from '../database/postgres-session.ts'
import { jsonColumn, malformed, rowReply, textColumn } from '../database/reply-shape.ts'
import { durabilityOf, evictionOf, factsSql, processName } from '../database/server-facts.ts'
import { postgresErrors } from '../errors.ts'
import { checkLayout } from './ensure-tables.ts'
import { prefixEnd, readPartitionKey } from './key-layout.ts'
import type { KeyLayout } from './key-layout.ts'
import { createStatementBuilder } from './statements/statement-builder.ts'
import type { StatementBuilder } from './statements/statement-builder.ts'
import { fromStored } from './stored-text.ts'
import type { TableLayout } from './table-layout.ts'

type Database = Pick<PostgresDatabase, 'address' | 'expectedDatabase' | 'instance' | 'durability'>

/** Rows of one table as they were read: whole, undecoded. */
type Rows = readonly Readonly<Record<string, unknown>>[]

/**
 * Everything stored about a projection, as of one instant, changing nothing.
 *
 * Cost: one round trip and one range of each table. The ranges find every stray of the namespace, however far beyond the
 * greatest known count. Promises: PGS-5, PGS-16.
 */
export async function readState(
  runner: StatementRunner,
  tables: TableLayout,
  keys: KeyLayout,
  database: Database,
  request: ReadStateRequest,
): Promise<StoredState> {
  const { topic } = request
  const builder = createStatementBuilder()
  const text = readText(tables, keys, topic, builder)
  const row = rowReply('read', await runner.query(builder.build(text)))
  const encoding = textColumn('read', row, 'encoding')
  if (encoding !== 'UTF8') {
    throw postgresErrors.create('TM_POSTGRES_ENCODING_UNSUPPORTED', { address: database.address, encoding })
  }
  for (const { schema, layout } of rowsIn(jsonColumn('read', row, 'versions')))
    checkLayout(String(schema), String(layout))
  const unreadable: UnreadableKey[] = []
  const rowsOf = (column: string): Rows => rowsIn(jsonColumn('read', row, column))
  const byPartition = (column: string, prefix: string): ReadonlyMap<number, Readonly<Record<string, unknown>>> =>
    partitionRows(rowsOf(column), prefix, unreadable)
  const fences = byPartition('fences', `${keys.fence(topic, 0).slice(0, -topic.length - 2)}`)
  const meta = singleRow(keys.meta, rowsOf('metas'), unreadable)
  const incarnation = singleRow(keys.incarnation, rowsOf('incarnations'), unreadable)
  const checkpoints = checkpointRows(keys, topic, rowsOf('checkpoints'), unreadable)
  const twins = byPartition('twins', keys.twin(topic, 0).slice(0, -topic.length - 2))
  const quarantined = byPartition('quarantined', keys.quarantine(topic, 0).slice(0, -topic.length - 2))
  const nonce = incarnation?.['nonce']
  const checkpointFields = mapDefined(checkpoints, (fields, partition) =>
    fieldsOf(keys.checkpoint(topic, partition), fields, unreadable),
  )
  const apart = dataApart(checkpointFields, twins)
  return {
    meta: meta === undefined ? undefined : fieldsOf(keys.meta, meta, unreadable),
    checkpoints: checkpointFields,
    fences: mapDefined(fences, (fields) => textIn(fields['fence'])),
    witnesses: mapDefined(fences, (fields) => textIn(fields['witness'])),
    ...(apart === undefined ? {} : { twins: apart }),
    quarantined: mapDefined(quarantined, (fields) => countIn(fields['entries'])),
    unreadable,
    incarnation: {
      nonce: textIn(nonce),
      process: processName(textColumn('read', row, 'process'), database.instance),
    },
    facts: storeFacts(row, database, rowsOf('unlogged')),
  }
}

function readText(tables: TableLayout, keys: KeyLayout, topic: string, builder: StatementBuilder): string {
  const rows = (column: string, from: string): string =>
    `(SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]')::text FROM ${from}) AS ${column}`
  const equal = (key: string): string => `r.key = ${builder.param(key)}`
  const inside = (prefix: string): string =>
    `r.key >= ${builder.param(prefix)} AND r.key < ${builder.param(prefixEnd(prefix)!)}`
  const ofTopic = (key: string): string => inside(key.slice(0, -1))
  const unlogged =
    `(SELECT c.relname FROM pg_class c WHERE c.relpersistence <> 'p' AND c.oid IN (` +
    [tables.meta, tables.checkpoint, tables.fence, tables.incarnation, tables.quarantine, tables.data, tables.twin]
      .map((table) => `to_regclass(${builder.param(table)})`)
      .join(', ') +
    `)) r`
  return (
    `SELECT ${factsSql}, current_setting('server_encoding') AS encoding, ` +
    [
      rows('metas', `${tables.meta} r WHERE ${equal(keys.meta)}`),
      rows('incarnations', `${tables.incarnation} r WHERE ${equal(keys.incarnation)}`),
      rows('checkpoints', `${tables.checkpoint} r WHERE ${inside(keys.checkpoints)}`),
      rows('fences', `${tables.fence} r WHERE ${ofTopic(keys.fence(topic, 0))}`),
      rows('twins', `${tables.twin} r WHERE ${ofTopic(keys.twin(topic, 0))}`),
      rows(
        'quarantined',
        `(SELECT q.key, count(*)::text AS entries FROM (SELECT r.key FROM ${tables.quarantine} r WHERE ` +
          `${ofTopic(keys.quarantine(topic, 0))}) q GROUP BY q.key) r`,
      ),
      rows('unlogged', unlogged),
      rows(
        'versions',
        `(SELECT '${tables.schema}' AS schema, v.layout FROM ${tables.version} v UNION ALL SELECT '${tables.dataSchema}', v.layout FROM ${tables.dataVersion} v) r`,
      ),
    ].join(', ')
  )
}

function storeFacts(row: Readonly<Record<string, unknown>>, database: Database, unlogged: Rows): StoredState['facts'] {
  const text = (column: string): string => textColumn('read', row, column)
  const settings = {
    fsync: text('fsync'),
    synchronousCommit: text('synchronous_commit'),
    standbyNames: text('standby_names'),
  }
  return {
    durability: database.durability ?? durabilityOf(settings),
    // A session that may not write is no place for a projection either, whatever the server is.
    isPrimary: text('in_recovery') === 'false' && text('read_only') === 'off',
    isLoaded: true,
    eviction: evictionOf(unlogged.map((table) => String(table['relname']))),
    expiringKeys: [],
    database: { expected: database.expectedDatabase, found: text('database') },
  }
}

/**
 * The positions of the data, only where one is not what its checkpoint says; such a partition has none that may be used.
 *
 * Both move in one transaction, so that a difference means that one was restored or emptied without the other. Which records
 * the data holds is not known then, and no replay is right.
 */
function dataApart(
  checkpoints: ReadonlyMap<number, StoredFields>,
  twins: ReadonlyMap<number, Readonly<Record<string, unknown>>>,
): ReadonlyMap<number, string> | undefined {
  let agree = true
  const positions = mapDefined(checkpoints, (fields, partition) => {
    const position = textIn(twins.get(partition)?.['next_offset'])
    if (position === fields['next_offset']) return position
    agree = false
    return position === undefined ? undefined : `another than its checkpoint: ${position}`
  })
  return agree ? undefined : positions
}

/** Checkpoints of the topic by partition; one of another topic is reported, since a namespace belongs to one. */
function checkpointRows(
  keys: KeyLayout,
  topic: string,
  rows: Rows,
  unreadable: UnreadableKey[],
): ReadonlyMap<number, Readonly<Record<string, unknown>>> {
  const own: Readonly<Record<string, unknown>>[] = []
  let other: string | undefined
  for (const row of rows) {
    const key = String(row['key'])
    const entry = readPartitionKey(keys.checkpoints, key)
    if (entry?.topic === topic) own.push(row)
    // Two colons too many belong to a namespace nested in this one.
    else if (entry !== undefined) other ??= key
  }
  if (other !== undefined) unreadable.push({ key: other, problem: 'the namespace holds a checkpoint of another topic' })
  return partitionRows(own, keys.checkpoints, unreadable)
}

function partitionRows(
  rows: Rows,
  prefix: string,
  unreadable: UnreadableKey[],
): ReadonlyMap<number, Readonly<Record<string, unknown>>> {
  const found = new Map<number, Readonly<Record<string, unknown>>>()
  const twice = new Set<number>()
  for (const row of rows) {
    const partition = readPartitionKey(prefix, String(row['key']))?.partition
    if (partition === undefined) continue
    if (found.has(partition) && !twice.has(partition)) {
      twice.add(partition)
      unreadable.push({ key: String(row['key']), problem: severalRows })
    }
    found.set(partition, row)
  }
  for (const partition of twice) found.delete(partition)
  return found
}

const severalRows = 'several rows stand where one is due; the primary key of the table is gone or damaged'

function singleRow(
  key: string,
  rows: Rows,
  unreadable: UnreadableKey[],
): Readonly<Record<string, unknown>> | undefined {
  if (rows.length > 1) unreadable.push({ key, problem: severalRows })
  return rows.length === 1 ? rows[0] : undefined
}

/** A row as the fields of format 1: a column that is NULL is a field that is missing, an unknown column an unknown field. */
function fieldsOf(
  key: string,
  row: Readonly<Record<string, unknown>>,
  unreadable: UnreadableKey[],
): StoredFields | undefined {
  const fields: (readonly [string, string])[] = []
  for (const [column, value] of Object.entries(row)) {
    if (column === 'key' || value === null) continue
    if (typeof value !== 'string') {
      unreadable.push({ key, problem: `the column ${column.slice(0, 64)} holds a ${typeof value} where a text is due` })
      return undefined
    }
    fields.push([column, fromStored(value)])
  }
  return Object.fromEntries(fields)
}

function textIn(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  // Never a text any codec accepts, so that a value of another type is neither absent nor right.
  return typeof value === 'string' ? fromStored(value) : `(a ${typeof value})`
}

function countIn(value: unknown): number {
  if (typeof value === 'string' && /^[0-9]{1,15}$/.test(value)) return Number(value)
  throw malformed('read', 'a count of quarantine entries', `a ${typeof value}`)
}

function rowsIn(document: unknown): Rows {
  if (Array.isArray(document) && document.every((row) => typeof row === 'object' && row !== null))
    return document as Rows
  throw malformed('read', 'a list of rows', `a ${typeof document}`)
}

function mapDefined<T, R>(
  map: ReadonlyMap<number, T>,
  pick: (value: T, key: number) => R | undefined,
): ReadonlyMap<number, R> {
  const picked = new Map<number, R>()
  for (const [key, value] of map) {
    const result = pick(value, key)
    if (result !== undefined) picked.set(key, result)
  }
  return picked
}
