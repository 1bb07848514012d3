import { messageOf, withDeadline } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { appliedStretches, decodeWitness, indexReadBacks, judgeApplied, witnessOf } from '@tidemark/log'
import type { LogRecord, PartitionBatch, PartitionBounds, TailWitness, WitnessVerdict } from '@tidemark/log'
import { dirtyReason } from '../dirty-reason.ts'
import { portGraceMs } from './identity-guard.ts'
import type { IdentityGuard } from './identity-guard.ts'
import type { RunContext } from './run-context.ts'

/** Proves that what was fetched continues the history that was read before it. */
export interface HistoryGuard {
  /** Whether fetched batches may be taken; false when the run was ended meanwhile. Call it for every fetch, in order. */
  prove(batches: readonly PartitionBatch[]): Promise<boolean>
}

/** Where another leader's records begin, and the record before, as it was when it was read. */
interface EpochChange {
  readonly partition: number
  readonly last: TailWitness
  readonly next: Offset
}

/** Pause before asking again after no answer. */
const retryMs = 100

/**
 * The guard of one run. Promises: CKP-60.
 *
 * An unclean election cuts the log, and the log may have grown past the position again before anybody looks at its
 * bounds: then ids and range are right, and only the leader epoch of the next record differs. So at every change of
 * epoch the record before it is read back, and what was passed between the two. Records of one epoch come from one leader, so between two changes there is
 * nothing to ask; one change never answers for another, since a log may hold the later record and not the earlier one.
 * Source: KIP-101.
 */
export function createHistoryGuard<Writer>(
  context: RunContext<Writer>,
  identity: Pick<IdentityGuard, 'freshVerdict'>,
): HistoryGuard {
  const lastRead = storedWitnesses(context)
  return {
    async prove(batches) {
      const changes: EpochChange[] = []
      for (const { partition, records } of batches) {
        for (const [last, { offset }] of changesOf(lastRead.get(partition), records)) {
          changes.push({ partition, last: isWitness(last) ? last : witnessOf(last), next: offset })
        }
      }
      if (changes.length > 0 && !(await proveAll(context, identity, changes))) return false
      for (const { partition, records } of batches) {
        const last = records.at(-1)
        if (last !== undefined) lastRead.set(partition, last)
      }
      return true
    },
  }
}

type LastRead = LogRecord | TailWitness
type Change = readonly [before: LastRead, after: LogRecord]

/** A resumed partition continues the record its store witnessed; one that starts at 0 continues nothing. */
function storedWitnesses<Writer>({ start }: RunContext<Writer>): Map<number, LastRead> {
  const witnesses = new Map<number, LastRead>()
  for (const { partition, origin } of start.plan.partitions) {
    const text = start.witnesses.get(partition)
    const witness = text === undefined ? undefined : decodeWitness(text)
    if (origin === 'checkpoint' && witness !== undefined) witnesses.set(partition, witness)
  }
  return witnesses
}

function isWitness(read: LastRead): read is TailWitness {
  return 'digest' in read
}

/** Neighbours between which the epoch changes. Epochs never fall within one log, so equal ends mean that none does. */
function changesOf(before: LastRead | undefined, records: readonly LogRecord[]): readonly Change[] {
  const [first, last] = [records[0], records.at(-1)]
  if (first === undefined || last === undefined) return []
  const changes: Change[] = []
  if (before !== undefined && before.leaderEpoch !== first.leaderEpoch) changes.push([before, first])
  if (first.leaderEpoch === last.leaderEpoch) return changes
  for (const [index, record] of records.entries()) {
    const next = records[index + 1]
    if (next !== undefined && next.leaderEpoch !== record.leaderEpoch) changes.push([record, next])
  }
  return changes
}

async function proveAll<Writer>(
  context: RunContext<Writer>,
  identity: Pick<IdentityGuard, 'freshVerdict'>,
  changes: readonly EpochChange[],
): Promise<boolean> {
  const { options, signal } = context
  const { clock, limits } = options
  const startedMs = clock.monotonicMs()
  let waiting = changes
  for (;;) {
    const leftMs = limits.stallMsMax - (clock.monotonicMs() - startedMs)
    const verdicts = await judgeAll(context, waiting, Math.max(limits.inspectMsMax, leftMs))
    if (signal.aborted) return false
    const open: EpochChange[] = []
    let why = ''
    for (const [index, verdict] of verdicts.entries()) {
      const change = waiting[index]!
      if (verdict.kind === 'diverged') {
        // On a recreated topic the record is another one too; then the identity is the reason to tell.
        await identity.freshVerdict()
        return diverged(context, change, verdict.explanation)
      }
      if (verdict.kind !== 'unproven') continue
      open.push(change)
      why = verdict.message
    }
    if (open.length === 0) return true
    const waitedMs = clock.monotonicMs() - startedMs
    if (waitedMs > limits.stallMsMax) return unproven(context, open[0]!, waitedMs, why)
    waiting = open
    await clock.sleep(retryMs, signal)
    if (signal.aborted) return false
  }
}

function diverged<Writer>(context: RunContext<Writer>, { partition, last }: EpochChange, explanation: string): false {
  const values = { offset: String(last.offset), leaderEpoch: last.leaderEpoch }
  context.fail(dirtyReason('LOG_DIVERGED', explanation, values, partition))
  return false
}

function unproven<Writer>(context: RunContext<Writer>, change: EpochChange, waitedMs: number, why: string): false {
  const { partition, last } = change
  const message = `a new leader of partition ${partition}, but record ${last.offset} before it cannot be read back since ${Math.round(waitedMs)} ms: ${why}`
  context.fail(dirtyReason('READ_FAILED', message, { offset: String(last.offset) }, partition))
  return false
}

/**
 * One look at the log for all of them; what cannot be asked is unproven.
 *
 * A long gap of a slow log is read through within one look or not at all, so a look may take what is left of the time.
 */
async function judgeAll<Writer>(
  context: RunContext<Writer>,
  changes: readonly EpochChange[],
  totalMsMax: number,
): Promise<readonly WitnessVerdict[]> {
  const { log, topic, clock, limits } = context.options
  const { identity } = context.start.plan
  const inspect = { deadlineMs: limits.inspectMsMax, signal: context.signal }
  const look = async (): Promise<readonly WitnessVerdict[]> => {
    const [bounds, settings] = await Promise.all([
      log.inspector.readBounds(topic, identity.partitionCount, inspect),
      log.inspector.readSettings(topic, inspect),
    ])
    if (bounds.kind === 'unreadable') return changes.map(() => ({ kind: 'unproven', message: bounds.message }))
    if (settings.kind === 'unreadable') return changes.map(() => ({ kind: 'unproven', message: settings.message }))
    const own = (partition: number): PartitionBounds | undefined =>
      bounds.partitions.find((one) => one.partition === partition)
    const records = changes.flatMap(({ partition, last, next }) => {
      const held = own(partition)
      return held === undefined ? [] : appliedStretches(last, held, next)
    })
    const answers = indexReadBacks(await log.readBack({ topic, records, identity, totalMsMax, ...inspect }))
    return changes.map(({ partition, last, next }): WitnessVerdict => {
      const held = own(partition)
      if (held === undefined) return { kind: 'unproven', message: `partition ${partition} was not reported` }
      return judgeApplied(last, held, next, settings.settings.compacted, answers)
    })
  }
  try {
    const lookMs = limits.inspectMsMax + totalMsMax + portGraceMs
    return await withDeadline(clock, 'reading records back', lookMs, look())
  } catch (error) {
    return changes.map(() => ({ kind: 'unproven', message: messageOf(error) }))
  }
}
