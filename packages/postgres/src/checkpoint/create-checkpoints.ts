import { encodeCheckpoint, encodeMeta } from '@tidemark/checkpoint'
import type { BootstrapOutcome, BootstrapRequest } from '@tidemark/checkpoint'
import { invariant, isTidemarkError, messageOf, offsetOf } from '@tidemark/core'
import { judgeFence } from '@tidemark/log'
import type { PostgresResult, PostgresStatement } from '../database/postgres-database.ts'
import type { StatementRunner, TransactionEnd } from '../database/postgres-session.ts'
import { malformed } from '../database/reply-shape.ts'
import { postgresErrors } from '../errors.ts'
import { newNonce } from './claim-fences.ts'
import type { KeyLayout } from './key-layout.ts'
import { prefixEnd } from './key-layout.ts'
import type { SqlValue } from './transactional-writer.ts'
import { createStatementBuilder } from './statements/statement-builder.ts'
import { fromStored, textArray, toStored } from './stored-text.ts'
import type { TableLayout } from './table-layout.ts'

/** Questions that a host may ask inside the transaction that creates the first checkpoints. */
export interface EmptyQuestion {
  /** Runs one statement; values come back as the client of the database reads them. */
  query(text: string, values?: readonly SqlValue[]): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** What a bootstrap is made with. */
export interface CreateContext {
  readonly tables: TableLayout
  readonly keys: KeyLayout
  readonly dataPrefix: string
  readonly isEmpty: (tx: EmptyQuestion) => Promise<boolean>
}

/**
 * Creates meta, checkpoints, positions of the data and the incarnation nonce in one transaction, all or none.
 *
 * The fences are locked first, so that no claim and no other bootstrap comes in between. Promises: PGS-8.
 */
export function createCheckpoints(
  context: CreateContext,
  runner: StatementRunner,
  request: BootstrapRequest,
): Promise<BootstrapOutcome> {
  return runner.transaction(async (): Promise<TransactionEnd<BootstrapOutcome>> => {
    const value = await createInside(context, runner, request)
    return { value, keep: value.kind === 'created' }
  })
}

async function createInside(
  context: CreateContext,
  runner: StatementRunner,
  request: BootstrapRequest,
): Promise<BootstrapOutcome> {
  const { tables, keys } = context
  const { identity, createMeta, partitions } = request
  const fenced = await lostFence(context, runner, request)
  if (fenced !== undefined) return fenced
  const meta = encodeMeta(identity)
  if (createMeta) {
    if ((await insertRows(runner, tables.meta, [{ key: keys.meta, ...meta }])) !== 1) {
      return conflict(keys.meta, 'the identity record exists already')
    }
  } else {
    const difference = await metaDifference(context, runner, meta)
    if (difference !== undefined) return conflict(keys.meta, difference)
  }
  if (partitions.length > 0) {
    const taken = await createPartitions(context, runner, request)
    if (taken !== undefined) return conflict(taken, 'a checkpoint exists already')
  }
  await insertRows(runner, tables.incarnation, [{ key: keys.incarnation, nonce: newNonce() }])
  // Data without a single checkpoint created has its reason: only the nonce was lost.
  if (!createMeta && partitions.length === 0) return { kind: 'created' }
  return (await notEmpty(context, runner)) ?? { kind: 'created' }
}

async function lostFence(
  context: CreateContext,
  runner: StatementRunner,
  request: BootstrapRequest,
): Promise<BootstrapOutcome | undefined> {
  const { partitions, fences, identity } = request
  if (partitions.length === 0) return undefined
  const names = partitions.map((partition) => context.keys.fence(identity.topic, partition))
  const builder = createStatementBuilder()
  const among = `${builder.param(textArray(names))}::text::text[]`
  const text = `SELECT key, fence FROM ${context.tables.fence} WHERE key = ANY(${among}) ORDER BY key FOR UPDATE`
  const stored = new Map((await runner.query(builder.build(text))).rows.map((row) => [row['key'], row['fence']]))
  for (const [index, partition] of partitions.entries()) {
    const fence = fences.get(partition)
    invariant(fence !== undefined, 'PGS-8', `bootstrap of partition ${partition} came without its fence`)
    const held = stored.get(names[index])
    const found = typeof held === 'string' ? fromStored(held) : undefined
    if (judgeFence(fence, found).kind !== 'held') return { kind: 'fenced', partition, found }
  }
  return undefined
}

async function metaDifference(
  context: CreateContext,
  runner: StatementRunner,
  expected: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const builder = createStatementBuilder()
  const text = `SELECT * FROM ${context.tables.meta} WHERE key = ${builder.param(context.keys.meta)} FOR SHARE`
  const { rows } = await runner.query(builder.build(text))
  if (rows.length > 1) return `${rows.length} rows stand where one is due`
  const stored = rows[0] ?? {}
  for (const [field, due] of Object.entries(expected)) {
    const found = stored[field]
    if (found !== toStored(due)) return `${field} is ${typeof found === 'string' ? fromStored(found) : 'missing'}`
  }
  const unknown = Object.keys(stored).find(
    (field) => field !== 'key' && !Object.hasOwn(expected, field) && stored[field] !== null,
  )
  return unknown === undefined ? undefined : `${unknown} is no field of it`
}

/** Creates checkpoints at 0, or says which key is taken. */
async function createPartitions(
  context: CreateContext,
  runner: StatementRunner,
  request: BootstrapRequest,
): Promise<string | undefined> {
  const { tables, keys } = context
  const { identity, partitions } = request
  const { topic } = identity
  const nextOffset = offsetOf(0n)
  const rows = partitions.map((partition) => ({
    key: keys.checkpoint(topic, partition),
    ...encodeCheckpoint({ identity, partition, nextOffset }),
  }))
  if ((await insertRows(runner, tables.checkpoint, rows)) !== rows.length) {
    return rows.length === 1 ? rows[0]!.key : `${keys.checkpoints}${topic}`
  }
  const twins = createStatementBuilder()
  const twinKeys = twins.param(textArray(partitions.map((partition) => keys.twin(topic, partition))))
  const putTwins =
    `INSERT INTO ${tables.twin} (key, next_offset) SELECT k, '0' FROM unnest(${twinKeys}::text::text[]) AS r(k) ` +
    `ON CONFLICT (key) DO UPDATE SET next_offset = '0'`
  await runner.query(twins.build(putTwins))
  // A witness that outlived its checkpoint speaks of a position that is gone; replay from 0 writes a new one.
  const fences = createStatementBuilder()
  const fenceKeys = fences.param(textArray(partitions.map((partition) => keys.fence(topic, partition))))
  await runner.query(
    fences.build(`UPDATE ${tables.fence} SET witness = NULL WHERE key = ANY(${fenceKeys}::text::text[])`),
  )
  return undefined
}

/** Inserts rows where none stand; gives how many were inserted. */
async function insertRows(
  runner: StatementRunner,
  table: string,
  rows: readonly Readonly<Record<string, string>>[],
): Promise<number> {
  const columns = Object.keys(rows[0]!)
  const builder = createStatementBuilder()
  const arrays = columns.map((column) => {
    const values = rows.map((row) => toStored(row[column]!))
    return `${builder.param(textArray(values))}::text::text[]`
  })
  const names = columns.join(', ')
  // NOT EXISTS finds rows also where the key of the table is gone, which a restore can do.
  const text =
    `INSERT INTO ${table} AS t (${names}) SELECT ${columns.map((column) => `r.${column}`).join(', ')} ` +
    `FROM unnest(${arrays.join(', ')}) AS r(${names}) WHERE NOT EXISTS (SELECT FROM ${table} o WHERE o.key = r.key) ` +
    `ORDER BY r.key ON CONFLICT (key) DO NOTHING`
  return (await runner.query(builder.build(text))).rowCount
}

/** Whether data stands where a first start needs none: ours under the prefix, or what the host looks for. */
async function notEmpty(context: CreateContext, runner: StatementRunner): Promise<BootstrapOutcome | undefined> {
  const { tables, dataPrefix, isEmpty } = context
  const builder = createStatementBuilder()
  const found = await runner.query(
    builder.build(`SELECT key FROM ${tables.data} WHERE ${prefixCondition(dataPrefix, builder)} LIMIT 1`),
  )
  const key = found.rows[0]?.['key']
  if (typeof key === 'string') {
    const explanation = `there is data under the prefix "${dataPrefix}"; a first start of a transactional projection needs none`
    return { kind: 'not-empty', key: fromStored(key).slice(0, 128), explanation }
  }
  const empty = await askHost(isEmpty, runner)
  if (empty) return undefined
  return { kind: 'not-empty', key: tables.data, explanation: 'isEmpty of the projection found data' }
}

function prefixCondition(dataPrefix: string, builder: ReturnType<typeof createStatementBuilder>): string {
  const prefix = toStored(dataPrefix)
  if (prefix === '') return 'true'
  const end = prefixEnd(prefix)
  const from = `key >= ${builder.param(prefix)}`
  return end === undefined ? from : `${from} AND key < ${builder.param(end)}`
}

async function askHost(isEmpty: CreateContext['isEmpty'], runner: StatementRunner): Promise<boolean> {
  let failure: Error | undefined
  const question: EmptyQuestion = {
    async query(text, values = []) {
      const statement: PostgresStatement = { text, values }
      let result: PostgresResult
      try {
        result = await runner.query(statement, 'host')
      } catch (error) {
        failure = error as Error
        throw error
      }
      return result.rows
    },
  }
  let answer: boolean
  try {
    answer = await isEmpty(question)
  } catch (error) {
    if (failure !== undefined) throw failure
    if (isTidemarkError(error)) throw error
    throw postgresErrors.create(
      'TM_POSTGRES_IS_EMPTY_FAILED',
      { reason: messageOf(error).slice(0, 300) },
      { cause: error },
    )
  }
  // A host that swallowed the error of a statement has an aborted transaction and cannot know.
  if (failure !== undefined) throw failure
  if (typeof answer === 'boolean') return answer
  throw malformed('bootstrap', 'true or false from isEmpty', `a ${typeof answer}`)
}

function conflict(key: string, explanation: string): BootstrapOutcome {
  return { kind: 'conflict', key, explanation }
}
