import { decodeCheckpoint } from '@tidemark/checkpoint'
import type { OpenQuestion, PartitionStart, PlanNote, ReadyTarget, StartExplanation } from '@tidemark/checkpoint'
import type { PartitionBounds } from '@tidemark/log'
import { verdicts } from '../verdicts.ts'
import type { Verdict } from '../verdicts.ts'
import { printable } from '../render/printable.ts'
import { boundedList, boundedMap } from './bounded-list.ts'
import type { BoundedList } from './bounded-list.ts'
import { reasonLine, refusalVerdict, shownIdentity, storeLine } from './reason-line.ts'
import { REPORT_VERSION } from './report.ts'
import type { ReasonLine, ReportHead, ShownIdentity, StoreLine } from './report.ts'

/** What `explain` prints. */
export interface ExplainReport extends ReportHead<'explain'> {
  readonly namespace: string
  readonly topic: string
  readonly readyTarget: ReadyTarget
  readonly store: StoreLine
  readonly log: LogLine
  readonly refusals: BoundedList<ReasonLine>
  readonly notes: BoundedList<PlanNote>
  /** Reasons for which the start may still be refused, since only the start itself asks about them. */
  readonly leftOpen: BoundedList<OpenQuestion>
  /** What the verdict may hide: a place that may be of another kind, a namespace that holds nothing. */
  readonly hint?: string
  /** What a start would create. */
  readonly creates: { readonly meta: boolean; readonly checkpoints: number }
  /** Offsets to read until ready, over all partitions. */
  readonly toRead: string
  readonly partitions: BoundedList<ExplainedPartition>
  /** Only with --deep. */
  readonly deep?: {
    readonly keysSeen: number
    readonly strays: BoundedList<string>
  }
}

/** What the log says of itself. */
export interface LogLine {
  readonly name: string
  readonly identity?: ShownIdentity
  /** Milliseconds; "-1" keeps for ever. */
  readonly retentionMs?: string
  readonly cleanupPolicy?: string
}

/** Where one partition stands and would start. What is not known is absent. */
export interface ExplainedPartition {
  readonly partition: number
  readonly next?: string
  readonly low: string
  readonly lastStableOffset: string
  readonly highWatermark: string
  /** H0. */
  readonly target: string
  /** `next - low`; negative when retention has passed the position. */
  readonly headroom?: string
  /** `target - next`, at least 0. */
  readonly toRead?: string
  /** `highWatermark - lastStableOffset`. */
  readonly openTransaction: string
  readonly origin?: PartitionStart['origin']
  readonly refused: boolean
}

/** The report of an explanation. */
export function explainReport(
  names: { readonly store: string; readonly log: string; readonly hint?: string | undefined },
  explanation: StartExplanation,
  limit: number,
): ExplainReport {
  const { verdict, observed, leftOpen, strays } = explanation
  const refusals = verdict.kind === 'refused' ? verdict.refusals : []
  const outcome: Verdict = verdict.kind === 'start' ? 'would-start' : refusalVerdict(refusals)
  const rows = explainedPartitions(explanation)
  const toRead = rows.reduce((sum, row) => sum + BigInt(row.toRead ?? 0), 0n)
  return {
    version: REPORT_VERSION,
    command: 'explain',
    verdict: outcome,
    exitCode: verdicts[outcome].exitCode,
    namespace: observed.namespace,
    topic: observed.topic,
    readyTarget: observed.readyTarget,
    store: storeLine(names.store, observed.stored),
    log: logLine(names.log, explanation),
    refusals: boundedMap(refusals, limit, reasonLine),
    notes: boundedList(verdict.kind === 'start' ? verdict.notes : [], limit),
    leftOpen: boundedList(leftOpen, limit),
    ...(names.hint === undefined ? {} : { hint: names.hint }),
    creates:
      verdict.kind === 'start'
        ? { meta: verdict.createMeta, checkpoints: verdict.createCheckpoints.length }
        : { meta: false, checkpoints: 0 },
    toRead: String(toRead),
    // Those that stand in the way come first, so that a limit does not hide them.
    partitions: boundedList([...rows.filter(({ refused }) => refused), ...rows.filter((row) => !row.refused)], limit),
    ...(strays === undefined
      ? {}
      : {
          deep: {
            keysSeen: strays.keysSeen,
            strays: {
              total: strays.strayCount,
              items: strays.strays.slice(0, limit).map((key) => printable(key)),
            },
          },
        }),
  }
}

function logLine(name: string, { observed }: StartExplanation): LogLine {
  const { identity, settings } = observed
  return {
    name,
    ...(identity.kind === 'proven' ? { identity: shownIdentity(identity.identity) } : {}),
    ...(settings?.kind === 'settings'
      ? {
          retentionMs: String(settings.settings.retentionMs),
          cleanupPolicy: printable(settings.settings.cleanupPolicy),
        }
      : {}),
  }
}

/** Every partition with what is known of it, whatever the verdict: a refusal is judged by these numbers. */
function explainedPartitions({ verdict, observed }: StartExplanation): readonly ExplainedPartition[] {
  if (observed.bounds?.kind !== 'bounds') return []
  const starts = new Map(verdict.kind === 'start' ? verdict.partitions.map((start) => [start.partition, start]) : [])
  const refused = new Set(verdict.kind === 'refused' ? verdict.refusals.map(({ partition }) => partition) : [])
  return observed.bounds.partitions.map((bounds) => {
    const start = starts.get(bounds.partition)
    const fields = observed.stored.checkpoints.get(bounds.partition)
    const stored = fields === undefined ? undefined : decodeCheckpoint(fields)
    const next = start?.nextOffset ?? (stored?.kind === 'decoded' ? stored.value.nextOffset : undefined)
    const target = observed.readyTarget === 'hw' ? bounds.highWatermark : bounds.lastStableOffset
    return {
      ...offsets(bounds, next, target),
      ...(start === undefined ? {} : { origin: start.origin }),
      refused: refused.has(bounds.partition),
    }
  })
}

function offsets(
  { partition, low, lastStableOffset, highWatermark }: PartitionBounds,
  next: bigint | undefined,
  target: bigint,
): Omit<ExplainedPartition, 'origin' | 'refused'> {
  const known =
    next === undefined
      ? {}
      : { next: String(next), headroom: String(next - low), toRead: String(target > next ? target - next : 0n) }
  return {
    partition,
    ...known,
    low: String(low),
    lastStableOffset: String(lastStableOffset),
    highWatermark: String(highWatermark),
    target: String(target),
    openTransaction: String(highWatermark - lastStableOffset),
  }
}
