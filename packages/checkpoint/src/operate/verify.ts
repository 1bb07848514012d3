import { createCancelSource } from '@tidemark/core'
import type { Clock, Offset } from '@tidemark/core'
import { judgeSurvey } from '@tidemark/log'
import type { CommittedLog, LogIdentity, LogReader, LogRecord } from '@tidemark/log'
import { decodeCheckpoint } from '../checkpoint-format.ts'
import { checkpointErrors } from '../errors.ts'
import { applyWrites } from '../memory/apply-write.ts'
import { createMemoryData, readMemoryValue } from '../memory/memory-data.ts'
import type { MemoryData } from '../memory/memory-data.ts'
import type { ProjectedDataReader, ProjectedValue } from '../projected-data.ts'
import type { ProjectionStore } from '../projection-store.ts'
import type { IdempotentWriter } from '../projection-write.ts'
import { createWriteBuffer } from '../write-buffer.ts'
import { isUndecodable } from '../runtime/undecodable.ts'
import type { Undecodable } from '../runtime/undecodable.ts'

/** What to verify against what. Log and store stay open; both are only read. */
export interface VerifyOptions {
  readonly topic: string
  readonly log: CommittedLog
  readonly store: Pick<ProjectionStore<never>, 'namespace' | 'read'>
  /** The projection's own function. */
  readonly project: (record: LogRecord, write: IdempotentWriter) => Undecodable | void
  /** Reads what is served. */
  readonly data: ProjectedDataReader
  /** A second source of truth, for example the database the log was written from; compared where it has a value. */
  readonly canonical?: ProjectedDataReader
  readonly clock: Clock
  readonly limits: {
    /** Keys of the recomputed data held in memory at most. */
    readonly keysMax: number
    readonly inspectMsMax: number
    /** How long the log may deliver nothing before verification gives up. */
    readonly stallMsMax: number
    /** Differences listed at most; more are counted. */
    readonly differencesMax: number
  }
  /** Called now and then with how far the recomputation is. */
  readonly onProgress?: (progress: VerifyProgress) => void
}

/** How far a recomputation is, in records over all partitions. */
export interface VerifyProgress {
  readonly recordsRead: number
  readonly offsetsLeft: bigint
}

/** What a verification found. */
export interface VerifyReport {
  readonly kind: 'equal' | 'different'
  readonly recordsRead: number
  readonly undecodable: number
  readonly keysCompared: number
  readonly differenceCount: number
  readonly differences: readonly ProjectedDifference[]
}

/** One key whose served value is not what the log says. */
export interface ProjectedDifference {
  readonly key: string
  readonly against: 'log' | 'canonical'
  readonly expected: ProjectedValue
  readonly found: ProjectedValue
}

const pageKeys = 500

/**
 * Whether served data is what the log says, by recomputing every record below the checkpoints from offset 0.
 *
 * Run it on a projection that stands still, or compare only keys that no later record touches: data may be newer than
 * the checkpoints read first. Keys written from several partitions must be written with commuting writes, since the
 * order between partitions is nobody's. Keys that no record writes are not looked for. Promises: CKP-44.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_VERIFY_FAILED when history is incomplete, identity is unproven or another one,
 *   reading fails or a limit is reached.
 */
export async function verifyProjection(options: VerifyOptions): Promise<VerifyReport> {
  const ends = await readEnds(options)
  const model = createMemoryData()
  const counts = { recordsRead: 0, undecodable: 0 }
  await recompute(options, ends, model, counts)
  const keys = [...model.values.keys()]
  const differences: ProjectedDifference[] = []
  let differenceCount = 0
  for (let start = 0; start < keys.length; start += pageKeys) {
    const page = keys.slice(start, start + pageKeys)
    for (const difference of await comparePage(options, model, page)) {
      differenceCount += 1
      if (differences.length < options.limits.differencesMax) differences.push(difference)
    }
  }
  const kind = differenceCount === 0 ? 'equal' : 'different'
  return { kind, ...counts, keysCompared: keys.length, differenceCount, differences }
}

/** The position up to which each partition was projected; everything about it must be provable. */
async function readEnds(options: VerifyOptions): Promise<ReadonlyMap<number, Offset>> {
  const { topic, log, store, limits } = options
  const inspect = { deadlineMs: limits.inspectMsMax }
  const verdict = judgeSurvey(await log.inspector.surveyIdentity(topic, inspect), undefined)
  if (verdict.kind !== 'proven') throw failed(topic, 'the identity of the log is not proven')
  const { identity } = verdict
  const bounds = await log.inspector.readBounds(topic, identity.partitionCount, inspect)
  if (bounds.kind === 'unreadable') throw failed(topic, bounds.message)
  const truncated = bounds.partitions.find(({ low }) => low > 0n)
  if (truncated !== undefined) throw failed(topic, `partition ${truncated.partition} starts at ${truncated.low}`)
  const stored = await store.read({ topic, partitionCount: identity.partitionCount })
  const ends = new Map<number, Offset>()
  for (let partition = 0; partition < identity.partitionCount; partition += 1) {
    const fields = stored.checkpoints.get(partition)
    const decoded = fields === undefined ? undefined : decodeCheckpoint(fields)
    if (decoded?.kind !== 'decoded')
      throw failed(topic, `the checkpoint of partition ${partition} is missing or damaged`)
    requireSame(topic, identity, decoded.value.identity)
    ends.set(partition, decoded.value.nextOffset)
  }
  return ends
}

function requireSame(topic: string, broker: LogIdentity, stored: LogIdentity): void {
  if (broker.topicId === stored.topicId && broker.clusterId === stored.clusterId) return
  throw failed(topic, `the data was projected from topic id ${stored.topicId}, the broker has ${broker.topicId}`)
}

async function recompute(
  options: VerifyOptions,
  ends: ReadonlyMap<number, Offset>,
  model: MemoryData,
  counts: { recordsRead: number; undecodable: number },
): Promise<void> {
  const { topic, log, limits } = options
  const cancel = createCancelSource()
  const left = new Map([...ends].filter(([, end]) => end > 0n))
  const positions = [...left.keys()].map((partition) => ({ partition, nextOffset: 0n as Offset }))
  if (positions.length === 0) return
  const reader = await log.openReader({ topic, positions, deadlineMs: limits.stallMsMax, signal: cancel.signal })
  try {
    await readAll(options, reader, left, model, counts)
  } finally {
    cancel.cancel()
    await reader.close()
  }
}

async function readAll(
  options: VerifyOptions,
  reader: LogReader,
  left: Map<number, Offset>,
  model: MemoryData,
  counts: { recordsRead: number; undecodable: number },
): Promise<void> {
  const { topic, limits, clock } = options
  const reached = new Map<number, bigint>()
  let movedAtMs = clock.monotonicMs()
  while (left.size > 0) {
    const result = await reader.poll({ recordsMax: 10_000, waitMs: 100 })
    if (result.kind === 'failed') throw failed(topic, result.failure.message)
    for (const { partition, records, endOffset } of result.batches) {
      const end = left.get(partition)
      if (end === undefined) continue
      for (const record of records) if (record.offset < end) applyRecord(options, record, model, counts)
      const at = endOffset ?? (records.at(-1)?.offset ?? -1n) + 1n
      reached.set(partition, at)
      if (at >= end) left.delete(partition)
      movedAtMs = clock.monotonicMs()
    }
    if (clock.monotonicMs() - movedAtMs > limits.stallMsMax)
      throw failed(topic, `nothing was delivered for ${limits.stallMsMax} ms`)
    let offsetsLeft = 0n
    for (const [partition, end] of left) offsetsLeft += end - (reached.get(partition) ?? 0n)
    options.onProgress?.({ recordsRead: counts.recordsRead, offsetsLeft })
  }
}

function applyRecord(
  { topic, store, project, limits }: VerifyOptions,
  record: LogRecord,
  model: MemoryData,
  counts: { recordsRead: number; undecodable: number },
): void {
  const buffer = createWriteBuffer({ reservedPrefix: `${store.namespace}:` })
  counts.recordsRead += 1
  if (isUndecodable(project(record, buffer.writer))) counts.undecodable += 1
  else applyWrites(model, buffer.writes)
  if (model.values.size > limits.keysMax)
    throw failed(topic, `the recomputed data has more than ${limits.keysMax} keys`)
}

async function comparePage(
  { data, canonical }: VerifyOptions,
  model: MemoryData,
  keys: readonly string[],
): Promise<readonly ProjectedDifference[]> {
  const [served, truth] = await Promise.all([data.readValues(keys), canonical?.readValues(keys)])
  return keys.flatMap((key, index) => {
    const found = served[index] ?? { kind: 'absent' as const }
    const expected = readMemoryValue(model, key)
    const differences: ProjectedDifference[] = []
    if (!sameValue(expected, found)) differences.push({ key, against: 'log', expected, found })
    const canonicalValue = truth?.[index]
    if (canonicalValue !== undefined && canonicalValue.kind !== 'absent' && !sameValue(canonicalValue, found)) {
      differences.push({ key, against: 'canonical', expected: canonicalValue, found })
    }
    return differences
  })
}

/** Whether two values hold the same members, fields and scores. */
export function sameValue(a: ProjectedValue, b: ProjectedValue): boolean {
  if (a.kind === 'string' && b.kind === 'string') return a.value === b.value
  if (a.kind === 'hash' && b.kind === 'hash') return sameMap(a.fields, b.fields)
  if (a.kind === 'sorted-set' && b.kind === 'sorted-set') return sameMap(a.scores, b.scores)
  if (a.kind === 'set' && b.kind === 'set')
    return a.members.size === b.members.size && [...a.members].every((m) => b.members.has(m))
  return a.kind === 'absent' && b.kind === 'absent'
}

function sameMap<V>(a: ReadonlyMap<string, V>, b: ReadonlyMap<string, V>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.has(key) && b.get(key) === value)
}

function failed(topic: string, reason: string): Error {
  return checkpointErrors.create('TM_CHECKPOINT_VERIFY_FAILED', { topic, reason })
}
