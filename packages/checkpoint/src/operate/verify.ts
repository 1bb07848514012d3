import { checkLimit, coreErrors, createCancelSource, decodeOffset } from '@tidemark/core'
import type { CancelSignal, Clock, Offset } from '@tidemark/core'
import { identityDifferences, judgeSurvey } from '@tidemark/log'
import type { CommittedLog, LogIdentity, LogReader, LogRecord } from '@tidemark/log'
import { decodeCheckpoint } from '../checkpoint-format.ts'
import { checkpointErrors } from '../errors.ts'
import { applyWrites } from '../memory/apply-write.ts'
import { createMemoryData, readMemoryValue } from '../memory/memory-data.ts'
import type { MemoryData } from '../memory/memory-data.ts'
import type { ProjectedDataReader, ProjectedValue } from '../projected-data.ts'
import type { ProjectionStore } from '../projection-store.ts'
import type { IdempotentWriter } from '../projection-write.ts'
import type { PlanDeclarations } from '../start-planner.ts'
import { createWriteBuffer } from '../write-buffer.ts'
import { isUndecodable, refusePromise } from '../runtime/undecodable.ts'
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
  /** What the host declares about its projection; without it the history of a compacted topic is not complete. */
  readonly declarations?: Partial<Pick<PlanDeclarations, 'latestRecordPerKeySuffices'>>
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
  /** Ends the verification at the next answer of log or store. */
  readonly signal?: CancelSignal
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
 *   reading fails or a limit is reached; TM_CORE_CANCELLED when the signal ends it.
 */
export async function verifyProjection(options: VerifyOptions): Promise<VerifyReport> {
  checkLimits(options)
  const { identity, ends } = await readEnds(options)
  const recomputation: Recomputation = { model: createMemoryData(), touched: new Set(), recordsRead: 0, undecodable: 0 }
  await recompute(options, identity, ends, recomputation)
  // What was read is of the log asked about only if that log was still there after the last of it was read.
  requireSame(options.topic, identity, await provenIdentity(options))
  const { model, touched, recordsRead, undecodable } = recomputation
  // A key that a record wrote and a later one removed must be absent where data is served, too.
  const keys = [...touched]
  const differences: ProjectedDifference[] = []
  let differenceCount = 0
  for (let start = 0; start < keys.length; start += pageKeys) {
    requireWanted(options)
    const page = keys.slice(start, start + pageKeys)
    for (const difference of await comparePage(options, model, page)) {
      differenceCount += 1
      if (differences.length < options.limits.differencesMax) differences.push(difference)
    }
  }
  const kind = differenceCount === 0 ? 'equal' : 'different'
  return { kind, recordsRead, undecodable, keysCompared: keys.length, differenceCount, differences }
}

/** The position up to which each partition was projected; everything about it must be provable. */
async function readEnds(
  options: VerifyOptions,
): Promise<{ readonly identity: LogIdentity; readonly ends: ReadonlyMap<number, Offset> }> {
  const { topic, log, store, limits } = options
  const identity = await provenIdentity(options)
  const inspect = { deadlineMs: limits.inspectMsMax }
  const bounds = await log.inspector.readBounds(topic, identity.partitionCount, inspect)
  if (bounds.kind === 'unreadable') throw failed(topic, bounds.message)
  const truncated = bounds.partitions.find(({ low }) => low > 0n)
  if (truncated !== undefined) throw failed(topic, `partition ${truncated.partition} starts at ${truncated.low}`)
  await requireUncompacted(options)
  const stored = await store.read({ topic, partitionCount: identity.partitionCount })
  const ends = new Map<number, Offset>()
  for (let partition = 0; partition < identity.partitionCount; partition += 1) {
    const fields = stored.checkpoints.get(partition)
    const decoded = fields === undefined ? undefined : decodeCheckpoint(fields)
    if (decoded?.kind !== 'decoded' || decoded.value.partition !== partition)
      throw failed(topic, `the checkpoint of partition ${partition} is missing or damaged`)
    requireSame(topic, identity, decoded.value.identity)
    // Data that lives apart from its checkpoints is as far as it says itself.
    const twin = stored.twins === undefined ? undefined : decodeOffset(stored.twins.get(partition) ?? '')
    if (stored.twins !== undefined && twin === undefined)
      throw failed(topic, `the data of partition ${partition} carries no position`)
    ends.set(partition, twin ?? decoded.value.nextOffset)
  }
  return { identity, ends }
}

/** A compacted topic starts at 0 as well, without the records that later ones replaced. */
async function requireUncompacted({ topic, log, limits, declarations }: VerifyOptions): Promise<void> {
  const reading = await log.inspector.readSettings(topic, { deadlineMs: limits.inspectMsMax })
  if (reading.kind === 'unreadable') throw failed(topic, `its settings cannot be read: ${reading.message}`)
  const { compacted, cleanupPolicy } = reading.settings
  if (!compacted || declarations?.latestRecordPerKeySuffices === true) return
  throw failed(topic, `history is not complete: cleanup.policy is ${cleanupPolicy}`)
}

async function provenIdentity({ topic, log, limits }: VerifyOptions): Promise<LogIdentity> {
  const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: limits.inspectMsMax })
  const verdict = judgeSurvey(survey, undefined)
  if (verdict.kind !== 'proven') throw failed(topic, 'the identity of the log is not proven')
  return verdict.identity
}

function requireSame(topic: string, broker: LogIdentity, other: LogIdentity): void {
  const [difference] = identityDifferences(other, broker)
  if (difference === undefined) return
  const { field, expected, found } = difference
  throw failed(topic, `another log is behind the data: ${field} is ${expected} there, ${found} at the broker`)
}

/** Bounds that are no numbers bound nothing, so they are judged before anything is read. */
function checkLimits({ limits }: VerifyOptions): void {
  const { keysMax, inspectMsMax, stallMsMax, differencesMax } = limits
  checkLimit('limits.keysMax', keysMax, { min: 1, max: 2 ** 31 })
  checkLimit('limits.inspectMsMax', inspectMsMax, { min: 1, max: 3_600_000 })
  checkLimit('limits.stallMsMax', stallMsMax, { min: 1, max: 3_600_000 })
  checkLimit('limits.differencesMax', differencesMax, { min: 0, max: 2 ** 31 })
}

/** What a recomputation holds: the data the log says, and every key that any record wrote. */
interface Recomputation {
  readonly model: MemoryData
  readonly touched: Set<string>
  recordsRead: number
  undecodable: number
}

async function recompute(
  options: VerifyOptions,
  identity: LogIdentity,
  ends: ReadonlyMap<number, Offset>,
  recomputation: Recomputation,
): Promise<void> {
  const { topic, log, limits } = options
  const cancel = createCancelSource()
  const left = new Map([...ends].filter(([, end]) => end > 0n))
  const positions = [...left.keys()].map((partition) => ({ partition, nextOffset: 0n as Offset }))
  if (positions.length === 0) return
  requireWanted(options)
  options.signal?.addEventListener('abort', cancel.cancel, { once: true })
  try {
    const { signal } = cancel
    const reader = await log.openReader({ topic, positions, identity, deadlineMs: limits.stallMsMax, signal })
    try {
      await readAll(options, reader, left, recomputation)
    } finally {
      await reader.close()
    }
  } finally {
    options.signal?.removeEventListener('abort', cancel.cancel)
    cancel.cancel()
  }
}

async function readAll(
  options: VerifyOptions,
  reader: LogReader,
  left: Map<number, Offset>,
  recomputation: Recomputation,
): Promise<void> {
  const { topic, limits, clock } = options
  const reached = new Map<number, bigint>()
  let movedAtMs = clock.monotonicMs()
  while (left.size > 0) {
    requireWanted(options)
    const result = await reader.poll({ recordsMax: 10_000, waitMs: 100 })
    if (result.kind === 'failed') throw failed(topic, result.failure.message)
    for (const { partition, records, endOffset } of result.batches) {
      const end = left.get(partition)
      if (end === undefined) continue
      for (const record of records) if (record.offset < end) applyRecord(options, record, recomputation)
      const at = endOffset ?? (records.at(-1)?.offset ?? -1n) + 1n
      reached.set(partition, at)
      if (at >= end) left.delete(partition)
      movedAtMs = clock.monotonicMs()
    }
    if (clock.monotonicMs() - movedAtMs > limits.stallMsMax)
      throw failed(topic, `nothing was delivered for ${limits.stallMsMax} ms`)
    let offsetsLeft = 0n
    for (const [partition, end] of left) offsetsLeft += end - (reached.get(partition) ?? 0n)
    options.onProgress?.({ recordsRead: recomputation.recordsRead, offsetsLeft })
  }
}

function applyRecord(
  { topic, store, project, limits }: VerifyOptions,
  record: LogRecord,
  recomputation: Recomputation,
): void {
  const buffer = createWriteBuffer({ reservedPrefix: `${store.namespace}:` })
  recomputation.recordsRead += 1
  const returned = project(record, buffer.writer)
  refusePromise(returned)
  if (isUndecodable(returned)) {
    recomputation.undecodable += 1
    return
  }
  applyWrites(recomputation.model, buffer.writes)
  for (const write of buffer.writes) recomputation.touched.add(write.key)
  if (recomputation.touched.size > limits.keysMax)
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

function requireWanted({ signal }: VerifyOptions): void {
  if (signal?.aborted === true) throw coreErrors.create('TM_CORE_CANCELLED', { what: 'the verification' })
}

function failed(topic: string, reason: string): Error {
  return checkpointErrors.create('TM_CHECKPOINT_VERIFY_FAILED', { topic, reason })
}
