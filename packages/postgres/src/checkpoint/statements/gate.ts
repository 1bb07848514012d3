import { encodeCheckpoint, encodeMeta } from '@tidemark/checkpoint'
import type { AdvanceOutcome, AdvanceRequest, StoredFields } from '@tidemark/checkpoint'
import { encodeWitness, judgeFence } from '@tidemark/log'
import type { KeyLayout } from '../key-layout.ts'
import { fromStored, toStored } from '../stored-text.ts'
import type { TableLayout } from '../table-layout.ts'
import { runOfProcess, runSql } from '../../database/server-facts.ts'
import type { StatementBuilder } from './statement-builder.ts'

/** The parts of a request that decide whether its step may be made. */
export type GateRequest = Omit<AdvanceRequest<unknown>, 'writes'>

/** The rows a step depends on, as they stood under lock. */
export interface FoundRows {
  /** Which run of the server found them. */
  readonly run: string
  readonly database: string
  readonly fences: readonly { readonly fence: unknown; readonly witness: unknown }[]
  readonly metas: readonly Readonly<Record<string, unknown>>[]
  readonly checkpoints: readonly Readonly<Record<string, unknown>>[]
  readonly twins: readonly unknown[]
}

/** The parts of a statement that lock and read what a step depends on: `found` has one row. */
export function gateParts(
  tables: TableLayout,
  keys: KeyLayout,
  request: GateRequest,
  builder: StatementBuilder,
): string {
  const { identity, partition } = request
  const fenceKey = builder.param(keys.fence(identity.topic, partition))
  const checkpointKey = builder.param(keys.checkpoint(identity.topic, partition))
  const twinKey = builder.param(keys.twin(identity.topic, partition))
  const metaKey = builder.param(keys.meta)
  const fields = `jsonb_strip_nulls(to_jsonb(r) - 'key') AS fields`
  return [
    `fence_rows AS MATERIALIZED (SELECT r.fence, r.witness FROM ${tables.fence} r WHERE r.key = ${fenceKey} FOR UPDATE)`,
    `checkpoint_rows AS MATERIALIZED (SELECT ${fields} FROM ${tables.checkpoint} r WHERE r.key = ${checkpointKey} FOR UPDATE)`,
    `twin_rows AS MATERIALIZED (SELECT r.next_offset FROM ${tables.twin} r WHERE r.key = ${twinKey} FOR UPDATE)`,
    `meta_rows AS MATERIALIZED (SELECT ${fields} FROM ${tables.meta} r WHERE r.key = ${metaKey})`,
    `found AS MATERIALIZED (SELECT ${runSql} AS run, current_database()::text AS database, ` +
      `coalesce((SELECT jsonb_agg(to_jsonb(f)) FROM fence_rows f), '[]') AS fences, ` +
      `coalesce((SELECT jsonb_agg(fields) FROM checkpoint_rows), '[]') AS checkpoints, ` +
      `coalesce((SELECT jsonb_agg(next_offset) FROM twin_rows), '[]') AS twins, ` +
      `coalesce((SELECT jsonb_agg(fields) FROM meta_rows), '[]') AS metas)`,
  ].join(', ')
}

/** The condition on `found` under which the step is at its start. The client judges the same way in {@link judgeFound}. */
export function gateCondition(request: GateRequest, run: string, database: string, builder: StatementBuilder): string {
  const { identity, partition, from, fence } = request
  const json = (fields: StoredFields): string => `${builder.param(JSON.stringify([storedFields(fields)]))}::text::jsonb`
  const stored = `(found.fences -> 0 ->> 'fence')`
  return [
    `found.run = ${builder.param(run)}`,
    `found.database = ${builder.param(database)}`,
    `jsonb_array_length(found.fences) = 1`,
    `${stored} ~ '^[1-9][0-9]{0,18}:[0-9a-f]{32}$'`,
    `split_part(${stored}, ':', 2) = ${builder.param(fence.nonce)}`,
    `found.metas = ${json(encodeMeta(identity))}`,
    `found.checkpoints = ${json(encodeCheckpoint({ identity, partition, nextOffset: from }))}`,
    `jsonb_array_length(found.twins) = 1`,
  ].join(' AND ')
}

/** What a step comes to: made before, lost, possible, or meant for another run of the server. Promises: PGS-9 to PGS-12. */
export type GateVerdict =
  | Exclude<AdvanceOutcome, { readonly kind: 'process-changed' }>
  | { readonly kind: 'at-from' }
  | { readonly kind: 'other-run' }

/** What the rows found mean for a step. */
export function judgeFound(
  request: GateRequest,
  keys: KeyLayout,
  instance: string | undefined,
  found: FoundRows,
): GateVerdict {
  const { identity, partition, from, to, witness } = request
  const { topic } = identity
  if (found.run !== runOfProcess(request.process, instance)) return { kind: 'other-run' }
  if (found.fences.length > 1) return severalRows(keys.fence(topic, partition), found.fences.length)
  const stored = found.fences[0]
  const fenceText = typeof stored?.fence === 'string' ? fromStored(stored.fence) : undefined
  if (judgeFence(request.fence, fenceText).kind !== 'held') return { kind: 'fenced', found: fenceText }
  const meta = difference(keys.meta, found.metas, encodeMeta(identity))
  if (meta !== undefined) return meta
  const key = keys.checkpoint(topic, partition)
  const atFrom = difference(key, found.checkpoints, encodeCheckpoint({ identity, partition, nextOffset: from }))
  if (atFrom !== undefined) {
    const atTo = difference(key, found.checkpoints, encodeCheckpoint({ identity, partition, nextOffset: to }))
    const sameWitness = witness === undefined || stored?.witness === encodeWitness(witness)
    // Only this writer can have moved it there: it holds the fence, and a step is whole or not at all.
    return atTo === undefined && sameWitness ? { kind: 'advanced', resent: true } : atFrom
  }
  if (found.twins.length !== 1) {
    const expected = 'the position that the data carries'
    return { kind: 'conflict', key: keys.twin(topic, partition), field: 'next_offset', expected, found: undefined }
  }
  return { kind: 'at-from' }
}

type Conflict = Extract<AdvanceOutcome, { readonly kind: 'conflict' }>

function difference(
  key: string,
  rows: readonly Readonly<Record<string, unknown>>[],
  expected: StoredFields,
): Conflict | undefined {
  if (rows.length > 1) return severalRows(key, rows.length)
  const fields = rows[0] ?? {}
  for (const [field, text] of Object.entries(expected)) {
    const stored = Object.hasOwn(fields, field) ? fields[field] : undefined
    if (stored === toStored(text)) continue
    return { kind: 'conflict', key, field, expected: text, found: shown(stored) }
  }
  for (const [field, stored] of Object.entries(fields)) {
    if (Object.hasOwn(expected, field)) continue
    return { kind: 'conflict', key, field, expected: 'no such field', found: shown(stored) }
  }
  return undefined
}

function severalRows(key: string, count: number): Conflict {
  return { kind: 'conflict', key, field: 'rows', expected: '1', found: String(count) }
}

function shown(stored: unknown): string | undefined {
  if (stored === undefined) return undefined
  return typeof stored === 'string' ? fromStored(stored) : `(a ${typeof stored}) ${JSON.stringify(stored).slice(0, 64)}`
}

function storedFields(fields: StoredFields): StoredFields {
  return Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, toStored(text)]))
}
