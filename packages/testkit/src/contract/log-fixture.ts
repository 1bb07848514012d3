import { strict as assert } from 'node:assert'
import { offsetOf } from '@tidemark/core'
import { judgeSurvey } from '@tidemark/log'
import type { CommittedLog, LogIdentity, LogReader, LogRecord, PartitionBounds, SurveyVerdict } from '@tidemark/log'
import type { CommittedLogWorld, LogCapability, WorldRecord, WorldTransaction } from './committed-log-world.ts'
import { contractCase } from './contract-case.ts'
import type { ContractCase } from './contract-case.ts'

/** A law of the committed log port. */
export type LogCase = ContractCase<CommittedLogWorld, LogCapability>

/** A law of the committed log port, with a world of its own. */
export function logCase(
  head: { readonly id: string; readonly title: string } & Partial<Pick<LogCase, 'promises' | 'needs'>>,
  body: (world: CommittedLogWorld) => Promise<void>,
): LogCase {
  return contractCase<CommittedLogWorld, LogCapability>(head, body)
}

/** Opens a reader of a topic at the given positions, partition by partition. */
export function openAt(
  world: CommittedLogWorld,
  log: CommittedLog,
  ...positions: readonly (bigint | number)[]
): Promise<LogReader> {
  return log.openReader({
    topic: world.topic,
    positions: positions.map((position, partition) => ({ partition, nextOffset: offsetOf(position) })),
    deadlineMs: world.deadlineMs,
  })
}

/** What a stretch of reading brought, per partition. */
export interface Reading {
  readonly records: readonly LogRecord[][]
  /** The last end reported, per partition. */
  readonly ends: readonly (bigint | undefined)[]
  readonly failure: string | undefined
}

/** When a stretch of reading may stop. */
export interface ReadUntil {
  /** Per partition: the end that must have been reported. */
  readonly ends?: readonly (bigint | number)[]
  /** Stop after so many milliseconds without anything new; for showing that nothing more comes. */
  readonly quietMs?: number
  readonly recordsMax?: number
}

/**
 * Polls until the given ends were reported, or nothing came for a while, or the reader failed.
 *
 * Checks on the way what must hold of every poll: rising offsets, no more records than asked for, ends not before records.
 */
export async function readUntil(world: CommittedLogWorld, reader: LogReader, until: ReadUntil): Promise<Reading> {
  const records: LogRecord[][] = [[], []]
  const ends: (bigint | undefined)[] = [undefined, undefined]
  const recordsMax = until.recordsMax ?? 100
  const startedMs = performance.now()
  let newsAtMs = startedMs
  for (;;) {
    const result = await reader.poll({ recordsMax, waitMs: 50 })
    if (result.kind === 'failed') return { records, ends, failure: result.failure.reason }
    const count = result.batches.reduce((sum, batch) => sum + batch.records.length, 0)
    assert.ok(count <= recordsMax, `a poll for ${recordsMax} records brought ${count}`)
    for (const { partition, records: fetched, endOffset } of result.batches) {
      const known = records[partition]!
      for (const record of fetched) {
        const last = known.at(-1)?.offset ?? -1n
        assert.equal(record.partition, partition)
        assert.ok(record.offset > last, `offset ${record.offset} after ${last}`)
        known.push(record)
      }
      if (endOffset === undefined) continue
      assert.ok(
        endOffset > (known.at(-1)?.offset ?? -1n),
        `end ${endOffset} reported before record ${known.at(-1)?.offset}`,
      )
      ends[partition] = endOffset
    }
    if (result.batches.length > 0) newsAtMs = performance.now()
    const wanted = until.ends ?? []
    if (wanted.length > 0 && wanted.every((end, partition) => ends[partition] === BigInt(end))) {
      return { records, ends, failure: undefined }
    }
    if (until.quietMs !== undefined && performance.now() - newsAtMs > until.quietMs) {
      return { records, ends, failure: undefined }
    }
    if (performance.now() - startedMs > world.deadlineMs + world.slackMs) {
      const seen = ends.map((end) => String(end)).join(', ')
      assert.fail(`the ends ${wanted.map(String).join(', ')} were not reported within the deadline; seen: ${seen}`)
    }
  }
}

/** The values of records as text, `null` for null. */
export function textsOf(records: readonly LogRecord[] | undefined): readonly (string | null)[] {
  return (records ?? []).map(({ value }) => (value === null ? null : new TextDecoder().decode(value)))
}

/** The offsets of records. */
export function offsetsOf(records: readonly LogRecord[] | undefined): readonly number[] {
  return (records ?? []).map(({ offset }) => Number(offset))
}

/** Records with the given values. */
export function valued(...values: readonly string[]): readonly WorldRecord[] {
  return values.map((value) => ({ value }))
}

/** A range of short values: `range('a', 3)` is a0, a1, a2. */
export function range(prefix: string, count: number): readonly WorldRecord[] {
  return valued(...Array.from({ length: count }, (_, index) => `${prefix}${index}`))
}

/** Opens a transaction; cases that use it need `transactions`. */
export function begin(
  world: CommittedLogWorld,
  partition: number,
  records: readonly WorldRecord[],
): Promise<WorldTransaction> {
  assert.ok(world.begin, 'the world claims transactions but has no hand for them')
  return world.begin(partition, records)
}

/** What a fresh survey of the topic says. */
export async function survey(world: CommittedLogWorld, log: CommittedLog, held?: LogIdentity): Promise<SurveyVerdict> {
  return judgeSurvey(await log.inspector.surveyIdentity(world.topic, { deadlineMs: world.deadlineMs }), held)
}

/** The topic's proven identity; asks again for a while, since a cluster may take a moment to settle. */
export async function provenIdentity(world: CommittedLogWorld, log: CommittedLog): Promise<LogIdentity> {
  const untilMs = performance.now() + world.deadlineMs
  for (;;) {
    const verdict = await survey(world, log)
    if (verdict.kind === 'proven') return verdict.identity
    assert.ok(performance.now() < untilMs, `identity not proven: ${JSON.stringify(verdict)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The bounds of both partitions, in order. */
export async function boundsOf(world: CommittedLogWorld, log: CommittedLog): Promise<readonly PartitionBounds[]> {
  const reading = await log.inspector.readBounds(world.topic, 2, { deadlineMs: world.deadlineMs })
  assert.equal(
    reading.kind,
    'bounds',
    JSON.stringify(reading, (_, value: unknown) => String(value)),
  )
  return reading.kind === 'bounds' ? [...reading.partitions].sort((a, b) => a.partition - b.partition) : []
}

/** Runs a call and checks that it settles within the world's deadline. */
export async function withinDeadline<T>(world: CommittedLogWorld, what: string, call: () => Promise<T>): Promise<T> {
  const startedMs = performance.now()
  try {
    return await call()
  } finally {
    const tookMs = performance.now() - startedMs
    assert.ok(tookMs <= world.deadlineMs + world.slackMs, `${what} took ${Math.round(tookMs)} ms`)
  }
}
