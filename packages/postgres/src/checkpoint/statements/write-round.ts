import { fromStored, indexId, isDigestId, textArray, toStored } from '../stored-text.ts'
import { kindNames } from '../fold-writes.ts'
import type { DataKind, EntryName, ScoreWrite, WriteRound } from '../fold-writes.ts'
import type { TableLayout } from '../table-layout.ts'
import { postgresErrors } from '../../errors.ts'
import type { StatementBuilder } from './statement-builder.ts'

/** The parts of a statement that write one round; they write only where the part `held` has a row. */
export interface RoundParts {
  /** `wrong`: what stands in the way of the round, as rows of key, due, found and text. */
  readonly wrong: string
  /** Parts that write, each a named query. */
  readonly writes: readonly string[]
}

/** Entries that a statement puts or removes, side by side. */
interface EntryRow {
  readonly key: string
  readonly kind: DataKind
  readonly name: string
  readonly value?: string
  readonly score?: number
}

/** The statement parts of a round. A part that has nothing to do is left out. */
export function roundParts(tables: TableLayout, round: WriteRound, builder: StatementBuilder): RoundParts {
  const { data } = tables
  const writes: string[] = []
  const scores = (rows: readonly ScoreWrite[]): readonly EntryRow[] =>
    rows.map(({ key, member, score }) => ({ key, kind: 'z', name: member, score }))
  const put = (
    part: string,
    rows: readonly EntryRow[],
    column: 'score' | 'value' | undefined,
    onConflict: string,
  ): void => {
    if (rows.length > 0) writes.push(putPart(data, part, rows, column, onConflict, builder))
  }
  if (round.cleared.length > 0) writes.push(clearPart(data, round, builder))
  if (round.removed.length > 0) {
    const from = unnest(round.removed.map(entryOf), undefined, builder)
    const where = 'd.key = r.key AND d.kind = r.kind AND d.name = r.name'
    writes.push(`removed AS (DELETE FROM ${data} d USING ${from} r, held WHERE ${where})`)
  }
  put('greater', scores(round.greater), 'score', 'UPDATE SET score = excluded.score WHERE d.score < excluded.score')
  put('less', scores(round.less), 'score', 'UPDATE SET score = excluded.score WHERE d.score > excluded.score')
  put('exact', scores(round.exact), 'score', 'UPDATE SET score = excluded.score')
  put('members', round.members, undefined, 'NOTHING')
  put('texts', round.values, 'value', 'UPDATE SET value = excluded.value')
  const numbers = round.numbers.map(({ key, value }) => ({ key, kind: 't', name: '', value }) as const)
  const isLess = 'd.value::numeric < excluded.value::numeric'
  put('numbers', numbers, 'value', `UPDATE SET value = excluded.value WHERE ${isLess}`)
  return { wrong: wrongPart(data, round, builder), writes }
}

/**
 * What is wrong with a round, from the rows of its `wrong` part.
 *
 * @throws {TidemarkError} TM_POSTGRES_WRONG_KIND, TM_POSTGRES_VALUE_NOT_A_NUMBER
 */
export function throwWrong(rows: readonly Readonly<Record<string, unknown>>[]): void {
  const row = rows[0]
  if (row === undefined) return
  const key = shown(String(row['key']))
  const text = row['text']
  if (typeof text === 'string') {
    throw postgresErrors.create('TM_POSTGRES_VALUE_NOT_A_NUMBER', { key, found: fromStored(text).slice(0, 32) })
  }
  const nameOf = (kind: unknown): string =>
    kindNames[String(kind)] ?? `value of unknown kind ${String(kind).slice(0, 8)}`
  const details = { operation: 'advance', key, due: nameOf(row['due']), found: nameOf(row['found']) }
  throw postgresErrors.create('TM_POSTGRES_WRONG_KIND', details)
}

function shown(id: string): string {
  return isDigestId(id) ? `${id.slice(0, 64)}...` : fromStored(id).slice(0, 128)
}

function putPart(
  data: string,
  part: string,
  rows: readonly EntryRow[],
  column: 'score' | 'value' | undefined,
  onConflict: string,
  builder: StatementBuilder,
): string {
  const ids = rows.map(entryOf)
  // The whole name is stored only where the index holds a digest of it, which is hardly ever.
  const hasLongNames = ids.some(({ name }) => isDigestId(name))
  const extra: { readonly name: string; readonly array: string }[] = []
  if (column === 'score') extra.push({ name: 'score', array: `${builder.param(numberArray(rows))}::text::bigint[]` })
  if (column === 'value') {
    const values = textArray(rows.map((row) => toStored(row.value ?? '')))
    extra.push({ name: 'value', array: `${builder.param(values)}::text::text[]` })
  }
  if (hasLongNames) {
    const names = rows.map((row, index) => (isDigestId(ids[index]!.name) ? toStored(row.name) : undefined))
    extra.push({ name: 'full_name', array: `${builder.param(textArray(names))}::text::text[]` })
  }
  const columns = ['key', 'kind', 'name', ...extra.map(({ name }) => name)]
  const from = unnest(ids, extra, builder)
  return (
    `${part} AS (INSERT INTO ${data} AS d (${columns.join(', ')}) SELECT ${columns.map((c) => `r.${c}`).join(', ')} ` +
    `FROM ${from} r, held ON CONFLICT (key, kind, name) DO ${onConflict})`
  )
}

/** Clears keys, but for the rows that the same statement puts: one statement may touch a row only once. */
function clearPart(data: string, round: WriteRound, builder: StatementBuilder): string {
  const cleared = new Set(round.cleared)
  const put = [
    ...round.members,
    ...round.values,
    ...round.exact.map(({ key, member }) => ({ key, kind: 'z', name: member }) as const),
  ]
  const kept = put.filter(({ key }) => cleared.has(key)).map(entryOf)
  const keys = `unnest(${builder.param(textArray(round.cleared.map(indexId)))}::text::text[]) AS r(key)`
  const not =
    kept.length === 0
      ? ''
      : ` AND NOT EXISTS (SELECT FROM ${unnest(kept, undefined, builder)} k WHERE k.key = d.key AND k.kind = d.kind AND k.name = d.name)`
  return `cleared AS (DELETE FROM ${data} d USING ${keys}, held WHERE d.key = r.key${not})`
}

/** Looks for another kind under the keys, one step in the index to either side, and for texts that are no numbers. */
function wrongPart(data: string, round: WriteRound, builder: StatementBuilder): string {
  const parts: string[] = []
  if (round.checks.length > 0) {
    const keys = builder.param(textArray(round.checks.map(({ key }) => indexId(key))))
    const kinds = builder.param(textArray(round.checks.map(({ kind }) => kind)))
    const other = (sign: string): string =>
      `(SELECT o.kind FROM ${data} o WHERE o.key = r.key AND o.kind ${sign} r.kind LIMIT 1)`
    parts.push(
      `SELECT r.key, r.kind AS due, d.kind AS found, NULL::text AS text ` +
        `FROM unnest(${keys}::text::text[], ${kinds}::text::text[]) AS r(key, kind) ` +
        `CROSS JOIN LATERAL (${other('<')} UNION ALL ${other('>')}) d`,
    )
  }
  if (round.numbers.length > 0) {
    const keys = builder.param(textArray(round.numbers.map(({ key }) => indexId(key))))
    const isNumber = `CASE WHEN o.value ~ '^(0|[1-9][0-9]{0,18})$' THEN o.value::numeric <= 9223372036854775807 ELSE false END`
    parts.push(
      `SELECT r.key, 't' AS due, 't' AS found, left(coalesce(o.value, ''), 64) AS text ` +
        `FROM unnest(${keys}::text::text[]) AS r(key) JOIN ${data} o ON o.key = r.key AND o.kind = 't' AND o.name = '' ` +
        `WHERE NOT (${isNumber})`,
    )
  }
  if (parts.length === 0)
    return `wrong AS MATERIALIZED (SELECT NULL::text AS key, '' AS due, '' AS found, NULL::text AS text WHERE false)`
  return `wrong AS MATERIALIZED (${parts.join(' UNION ALL ')} LIMIT 1)`
}

function entryOf(row: EntryName): EntryName {
  return { key: indexId(row.key), kind: row.kind, name: indexId(row.name) }
}

function unnest(
  rows: readonly EntryName[],
  extra: readonly { readonly name: string; readonly array: string }[] | undefined,
  builder: StatementBuilder,
): string {
  const column = (pick: (row: EntryName) => string): string =>
    `${builder.param(textArray(rows.map(pick)))}::text::text[]`
  const arrays = [column((row) => row.key), column((row) => row.kind), column((row) => row.name)]
  const names = ['key', 'kind', 'name', ...(extra ?? []).map(({ name }) => name)]
  const all = [...arrays, ...(extra ?? []).map(({ array }) => array)]
  // The derived table gives the rows their names before the caller gives it one of its own.
  return `(SELECT * FROM unnest(${all.join(', ')}) AS u(${names.join(', ')}))`
}

function numberArray(rows: readonly EntryRow[]): string {
  return `{${rows.map((row) => String(row.score)).join(',')}}`
}
