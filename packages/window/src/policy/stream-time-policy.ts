/** The one schema of a policy this version reads. */
export const POLICY_SCHEMA = 'streamTimePolicy.v1'

/** A name and the version of what it stands for; another version is another thing. */
export interface NameAtVersion {
  readonly name: string
  readonly version: number
}

/** The program that computes: its name and version, and a digest of what it declares (aggregate, extractor, envelope versions). */
export interface PolicyJob extends NameAtVersion {
  readonly manifestDigest: string
}

/** One topic and the partitions of it that the frontier is the minimum of. */
export interface PolicySource {
  readonly source: string
  /** In ascending order, each once. */
  readonly partitions: readonly number[]
}

/** How a partition's claim follows from its records. */
export interface BoundedOutOfOrderness {
  readonly kind: 'bounded-out-of-orderness'
  /** How far behind the largest event time of its partition a record may be and still be on time. Milliseconds. */
  readonly boundMs: number
}

/** A tile of the time line, the same for every key. */
export interface TumblingWindow {
  readonly kind: 'tumbling'
  readonly sizeMs: number
  /** Where the tiles start, from the epoch; 0 <= offsetMs < sizeMs. */
  readonly offsetMs: number
}

/** Overlapping stretches of one size, one beginning at every slide. */
export interface SlidingWindow {
  readonly kind: 'sliding'
  readonly sizeMs: number
  readonly slideMs: number
  readonly offsetMs: number
}

/** A stretch of activity of one key; two records belong together when their stretches overlap, touching is apart. */
export interface SessionWindow {
  readonly kind: 'session'
  readonly gapMs: number
}

/** A day, week or month as the calendar of a zone has it: 23, 24, 24.5 or 25 hours, and no day where the zone skipped one. */
export interface CivilWindow {
  readonly kind: 'civil'
  readonly unit: 'day' | 'week' | 'month'
  /** An IANA zone of the pinned zone data. Weeks begin on Monday (ISO 8601). */
  readonly zone: string
}

/** How records are put into windows. */
export type WindowShape = TumblingWindow | SlidingWindow | SessionWindow | CivilWindow

/** When accepted late records become a revision. They always do before the window is final. */
export type CorrectionCoalescing =
  | { readonly kind: 'per-event' }
  | { readonly kind: 'per-batch' }
  | { readonly kind: 'interval'; readonly intervalMs: number }

/** Whether an event id seen before is looked for. */
export type Deduplication =
  | { readonly kind: 'none' }
  /** Ids are kept until every window of the event is final, and at least so long after its event time. */
  | { readonly kind: 'event-id'; readonly retainMs: number }

/**
 * Everything that decides what a window contains and when it is published. Frozen under its generation: a change of any
 * field is a new generation.
 *
 * Units: milliseconds. Nothing in it has a default.
 */
export interface StreamTimePolicy {
  readonly schema: typeof POLICY_SCHEMA
  readonly job: PolicyJob
  /** The stream as the business names it; stable over jobs and generations. */
  readonly businessStream: string
  /** From 1; higher than every one before of the same stream. */
  readonly generation: number
  readonly sources: readonly PolicySource[]
  readonly timestampExtractor: NameAtVersion
  readonly watermark: BoundedOutOfOrderness
  /** Quiet for so long, proven, makes a partition idle; `never` keeps it in the minimum. */
  readonly idlePartitionAfter: { readonly kind: 'after'; readonly quietMs: number } | { readonly kind: 'never' }
  readonly window: WindowShape
  /** The zone in which the stream's days are told; that of a civil window is its own. */
  readonly timezone: string
  /** Windows are published when the frontier passes their end, and at no other time. */
  readonly trigger: 'ON_FRONTIER'
  readonly allowedLatenessMs: number
  /** Late is decided for each window of an event by that window alone. */
  readonly lateClassification: 'PER_WINDOW'
  /** A record further ahead of its ingest time is quarantined. */
  readonly maxFutureSkewMs: number
  /** How long after its end a window's revisions are kept for corrections; at least the allowed lateness. */
  readonly stateRetentionMs: number
  readonly correctionMode: 'UPSERT_REVISION' | 'DELTA'
  readonly corrections: CorrectionCoalescing
  readonly deduplication: Deduplication
  /** With every partition idle or finished: stay, or go on to the largest claim. */
  readonly allIdle: 'HOLD' | 'FLUSH_MAX'
  /** A partition that resumes behind the frontier: waited for, or left out of the minimum until it caught up. */
  readonly resumeBehind: 'HOLD' | 'EXCLUDE'
  /** Whether records add, or are changes that take back what they added before. */
  readonly input: 'append' | 'changes'
}
