import type { AdvanceOutcome } from '@tidemark/checkpoint'
import { encodeOffset } from '@tidemark/core'
import { encodeQuarantineEntry } from '@tidemark/checkpoint'
import { encodeWitness } from '@tidemark/log'
import type { PostgresDatabase, PostgresStatement } from '../database/postgres-database.ts'
import type { StatementRunner } from '../database/postgres-session.ts'
import { jsonColumn, malformed, rowReply, textColumn } from '../database/reply-shape.ts'
import { processName, processSql, runOfProcess } from '../database/server-facts.ts'
import { postgresErrors } from '../errors.ts'
import { foldWrites } from './fold-writes.ts'
import type { WriteRound } from './fold-writes.ts'
import type { KeyLayout } from './key-layout.ts'
import { gateCondition, gateParts, judgeFound } from './statements/gate.ts'
import type { FoundRows, GateRequest } from './statements/gate.ts'
import { createStatementBuilder } from './statements/statement-builder.ts'
import type { StatementBuilder } from './statements/statement-builder.ts'
import { roundParts, throwWrong } from './statements/write-round.ts'
import { textArray } from './stored-text.ts'
import type { TableLayout } from './table-layout.ts'
import type { StepSegment } from './transactional-writer.ts'

/** What every step of a store is made with. */
export interface StepContext {
  readonly database: Pick<PostgresDatabase, 'address' | 'expectedDatabase' | 'instance' | 'hasSessionTimeouts'>
  readonly tables: TableLayout
  readonly keys: KeyLayout
}

/** One thing to run in a step, in order. */
type StepPart = { readonly kind: 'round'; readonly round: WriteRound } | Extract<StepSegment, { kind: 'statement' }>

/**
 * One step: a single statement where only the vocabulary was used, else a transaction of several.
 *
 * Both lock and compare first and write only then. Promises: PGS-9, PGS-11, PGS-13.
 */
export async function advanceStep(
  context: StepContext,
  runner: StatementRunner,
  request: GateRequest,
  segments: readonly StepSegment[],
): Promise<AdvanceOutcome> {
  const parts = stepParts(segments)
  const [only] = parts
  if (context.database.hasSessionTimeouts && (only === undefined || (parts.length === 1 && only.kind === 'round'))) {
    return advanceAtOnce(context, runner, request, only?.kind === 'round' ? only.round : undefined)
  }
  return runner.transaction(async () => {
    const value = await advanceInParts(context, runner, request, parts)
    return { value, keep: value.kind === 'advanced' }
  })
}

/** The same inside a transaction that the caller has begun and will end; it must roll back unless this advanced. */
export function advanceInside(
  context: StepContext,
  runner: Pick<StatementRunner, 'query'>,
  request: GateRequest,
  segments: readonly StepSegment[],
): Promise<AdvanceOutcome> {
  return advanceInParts(context, runner, request, stepParts(segments))
}

function stepParts(segments: readonly StepSegment[]): readonly StepPart[] {
  return segments.flatMap((segment): readonly StepPart[] =>
    segment.kind === 'statement' ? [segment] : foldWrites(segment.writes).map((round) => ({ kind: 'round', round })),
  )
}

async function advanceAtOnce(
  context: StepContext,
  runner: StatementRunner,
  request: GateRequest,
  round: WriteRound | undefined,
): Promise<AdvanceOutcome> {
  const { database, tables, keys } = context
  const { expectedDatabase, instance } = database
  const run = runOfProcess(request.process, instance)
  if (run === undefined) return processChanged(context, runner)
  const builder = createStatementBuilder()
  const gate = gateParts(tables, keys, request, builder)
  const condition = gateCondition(request, run, expectedDatabase, builder)
  const parts = round === undefined ? undefined : roundParts(tables, round, builder)
  const held = `SELECT FROM found WHERE ${condition}${parts === undefined ? '' : ' AND NOT EXISTS (SELECT FROM wrong)'}`
  const queries = [
    gate,
    ...(parts === undefined ? [] : [parts.wrong]),
    `held AS MATERIALIZED (${held})`,
    ...(parts?.writes ?? []),
    ...finishParts(context, request, builder),
  ]
  const wrong = parts === undefined ? `'[]'` : `coalesce((SELECT jsonb_agg(to_jsonb(wrong)) FROM wrong), '[]')::text`
  const text =
    `WITH ${queries.join(', ')} SELECT EXISTS (SELECT FROM held)::text AS held, ${finishCounts(request)}, ` +
    `CASE WHEN EXISTS (SELECT FROM held) THEN NULL ELSE (SELECT to_jsonb(found) FROM found)::text END AS found, ${wrong} AS wrong`
  const row = rowReply('advance', await runner.query(builder.build(text)))
  if (row['held'] === 'true') {
    checkFinished(request, row)
    return { kind: 'advanced', resent: false }
  }
  const verdict = judge(context, request, readFound(jsonColumn('advance', row, 'found')))
  if (verdict.kind === 'other-run') return processChanged(context, runner)
  if (verdict.kind !== 'at-from') return verdict
  throwWrong(jsonColumn('advance', row, 'wrong') as readonly Record<string, unknown>[])
  throw malformed('advance', 'a step that is made or lost', 'neither')
}

async function advanceInParts(
  context: StepContext,
  runner: Pick<StatementRunner, 'query'>,
  request: GateRequest,
  parts: readonly StepPart[],
): Promise<AdvanceOutcome> {
  const gate = createStatementBuilder()
  const text = `WITH ${gateParts(context.tables, context.keys, request, gate)} SELECT to_jsonb(found)::text AS found FROM found`
  const row = rowReply('advance', await runner.query(gate.build(text)))
  const verdict = judge(context, request, readFound(jsonColumn('advance', row, 'found')))
  if (verdict.kind === 'other-run') return processChanged(context, runner)
  if (verdict.kind !== 'at-from') return verdict
  for (const part of parts) {
    if (part.kind === 'round') throwWrong((await runner.query(roundStatement(context, part.round))).rows)
    else await runner.query(part.statement, 'host')
  }
  const finish = createStatementBuilder()
  const queries = [`held AS MATERIALIZED (SELECT)`, ...finishParts(context, request, finish)]
  const finished = await runner.query(finish.build(`WITH ${queries.join(', ')} SELECT ${finishCounts(request)}`))
  checkFinished(request, rowReply('advance', finished))
  return { kind: 'advanced', resent: false }
}

/** One round in a transaction that has passed the gate; its rows are what stands in the way. */
function roundStatement(context: StepContext, round: WriteRound): PostgresStatement {
  const builder = createStatementBuilder()
  const { wrong, writes } = roundParts(context.tables, round, builder)
  const held = `held AS MATERIALIZED (SELECT WHERE NOT EXISTS (SELECT FROM wrong))`
  return builder.build(`WITH ${[wrong, held, ...writes].join(', ')} SELECT key, due, found, text FROM wrong`)
}

function judge(context: StepContext, request: GateRequest, found: FoundRows): ReturnType<typeof judgeFound> {
  const { address, expectedDatabase, instance } = context.database
  if (found.database !== expectedDatabase) {
    const details = { address, expected: expectedDatabase, found: found.database }
    throw postgresErrors.create('TM_POSTGRES_DATABASE_WRONG', details)
  }
  return judgeFound(request, context.keys, instance, found)
}

/** The parts that move the checkpoint, the witness and the position of the data, and store quarantine entries. */
function finishParts(context: StepContext, request: GateRequest, builder: StatementBuilder): readonly string[] {
  const { tables, keys } = context
  const { identity, partition, to, witness, quarantine } = request
  const { topic } = identity
  const next = builder.param(encodeOffset(to))
  const keyed = (key: string): string => `FROM held WHERE r.key = ${builder.param(key)} RETURNING 1`
  const parts = [
    `moved AS (UPDATE ${tables.checkpoint} r SET next_offset = ${next}::text ${keyed(keys.checkpoint(topic, partition))})`,
    `twinned AS (UPDATE ${tables.twin} r SET next_offset = ${next}::text ${keyed(keys.twin(topic, partition))})`,
  ]
  if (witness !== undefined) {
    const text = builder.param(encodeWitness(witness))
    parts.push(`marked AS (UPDATE ${tables.fence} r SET witness = ${text} ${keyed(keys.fence(topic, partition))})`)
  }
  if (quarantine.length > 0) {
    const key = builder.param(keys.quarantine(topic, partition))
    const offsets = builder.param(textArray(quarantine.map(({ offset }) => encodeOffset(offset))))
    const entries = builder.param(textArray(quarantine.map(encodeQuarantineEntry)))
    parts.push(
      `quarantined AS (INSERT INTO ${tables.quarantine} (key, record_offset, entry) ` +
        `SELECT ${key}, q.record_offset, q.entry FROM unnest(${offsets}::text::text[], ${entries}::text::text[]) AS q(record_offset, entry), held ` +
        `ON CONFLICT (key, record_offset) DO UPDATE SET entry = excluded.entry)`,
    )
  }
  return parts
}

function finishCounts(request: GateRequest): string {
  const marked = request.witness === undefined ? `'1'` : `(SELECT count(*) FROM marked)::text`
  return `(SELECT count(*) FROM moved)::text AS moved, (SELECT count(*) FROM twinned)::text AS twinned, ${marked} AS marked`
}

function checkFinished(request: GateRequest, row: Readonly<Record<string, unknown>>): void {
  if (row['moved'] === '1' && row['twinned'] === '1' && row['marked'] === '1') return
  const counts = `${String(row['moved'])}, ${String(row['twinned'])} and ${String(row['marked'])}`
  throw malformed('advance', `one checkpoint, one position and one fence of partition ${request.partition}`, counts)
}

/** The outcome of a step that was meant for another process, with the name of the one that is there. */
async function processChanged(context: StepContext, runner: Pick<StatementRunner, 'query'>): Promise<AdvanceOutcome> {
  const row = rowReply('advance', await runner.query({ text: `SELECT ${processSql} AS process`, values: [] }))
  return {
    kind: 'process-changed',
    process: processName(textColumn('advance', row, 'process'), context.database.instance),
  }
}

function readFound(document: unknown): FoundRows {
  const found = document as Partial<FoundRows> | null
  const lists = [found?.fences, found?.checkpoints, found?.metas, found?.twins]
  if (typeof found?.run !== 'string' || typeof found.database !== 'string' || !lists.every(Array.isArray)) {
    throw malformed('advance', 'the rows of the step', 'another document')
  }
  return found as FoundRows
}
