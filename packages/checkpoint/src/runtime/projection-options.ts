import { checkLimit } from '@tidemark/core'
import type { Clock } from '@tidemark/core'
import type { CommittedLog, LogRecord } from '@tidemark/log'
import { checkpointErrors } from '../errors.ts'
import { topicNameOf } from '../namespace.ts'
import type { ProjectionStore } from '../projection-store.ts'
import type { PlanDeclarations, ReadyTarget } from '../start-planner.ts'
import type { ProjectionObserver } from './projection-observer.ts'
import type { Undecodable } from './undecodable.ts'

/** Everything that decides what a projection does. What decides correctness has no default. */
export interface ProjectionOptions<Writer> {
  readonly topic: string
  /** Owned by the projection from here on: stopping it closes the log. */
  readonly log: CommittedLog
  /** Owned by the projection from here on: stopping it closes the store. */
  readonly store: ProjectionStore<Writer>
  /**
   * Turns one record into its writes, all or nothing; a pure function of the record.
   *
   * It may run again for a record of an unfinished step. Return {@link undecodable} for a record that cannot be
   * projected; a thrown error is taken for a fault of the program and ends the projection without skipping.
   */
  readonly project: (record: LogRecord, write: Writer) => Undecodable | void
  /** When "ready" is reached: the high watermark at start, or only the read-committed end. */
  readonly readyTarget: ReadyTarget
  /** What becomes of a record that `project` calls undecodable: end, or set it aside durably and go on. */
  readonly undecodable: 'stop' | 'quarantine'
  /** How often identity and store are re-read, also without records. Milliseconds, 10 to 600,000. */
  readonly leaseMs: number
  readonly limits: ProjectionLimits
  readonly declarations?: Partial<PlanDeclarations>
  readonly observer?: ProjectionObserver
  /** Where time comes from; the host's own unless a simulation says otherwise. */
  readonly clock?: Clock
}

/** The bounds of a projection's work. */
export interface ProjectionLimits {
  /** Records in one step of one partition; also the most that a crash replays per partition. 1 to 10,000. */
  readonly batchRecordsMax: number
  /** How long a missing answer or a missing advance is held before the projection goes dirty. Milliseconds. */
  readonly stallMsMax: number
  /** Records waiting per partition before its fetching is held back. Default 4 batches, and 1,000 at least. */
  readonly queuedRecordsMax?: number
  /** Bytes of keys, values and headers waiting over all partitions before fetching pauses. Default 32 MiB. */
  readonly queuedBytesMax?: number
  /** Steps under way at once over all partitions. Default 16. */
  readonly stepsInFlightMax?: number
  /** How long one question to a broker may take. Default 5 s, never more than `stallMsMax`. */
  readonly inspectMsMax?: number
  /**
   * How long a start may read back what was passed behind the last applied records while the log keeps serving it;
   * its silence is bounded by `inspectMsMax`. Milliseconds, 10 to 86,400,000. Default 10 min.
   */
  readonly readBackMsMax?: number
  /** How long a stop may take to finish what is proven. Default 10 s. */
  readonly stopMsMax?: number
}

/** Options with every limit checked and filled in. */
export interface ResolvedOptions<Writer> extends Omit<ProjectionOptions<Writer>, 'limits' | 'declarations'> {
  readonly limits: Required<ProjectionLimits>
  readonly declarations: PlanDeclarations
}

/**
 * Checks options before anything is opened.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_OPTION_INVALID, TM_CHECKPOINT_TOPIC_INVALID or TM_CORE_LIMIT_INVALID.
 */
export function resolveOptions<Writer>(options: ProjectionOptions<Writer>): ResolvedOptions<Writer> {
  topicNameOf(options.topic)
  resolveReadyTarget(options.readyTarget)
  checkChoice('undecodable', options.undecodable, ['stop', 'quarantine'])
  if (typeof options.project !== 'function') throw invalidOption('project', 'a function of record and writer is due')
  checkLimit('leaseMs', options.leaseMs, { min: 10, max: 600_000 })
  const given = options.limits
  const batchRecordsMax = checkLimit('limits.batchRecordsMax', given.batchRecordsMax, { min: 1, max: 10_000 })
  const stallMsMax = checkLimit('limits.stallMsMax', given.stallMsMax, { min: 100, max: 3_600_000 })
  const inspectMsMax = given.inspectMsMax ?? Math.min(5_000, stallMsMax)
  return {
    ...options,
    limits: {
      batchRecordsMax,
      stallMsMax,
      queuedRecordsMax: checkLimit(
        'limits.queuedRecordsMax',
        given.queuedRecordsMax ?? queuedRecordsDefault(batchRecordsMax),
        {
          min: 1,
          max: 1_000_000,
        },
      ),
      queuedBytesMax: checkLimit('limits.queuedBytesMax', given.queuedBytesMax ?? 32 * 2 ** 20, {
        min: 1_024,
        max: 2 ** 32,
      }),
      stepsInFlightMax: checkLimit('limits.stepsInFlightMax', given.stepsInFlightMax ?? 16, { min: 1, max: 1_024 }),
      inspectMsMax: checkLimit('limits.inspectMsMax', inspectMsMax, { min: 10, max: stallMsMax }),
      readBackMsMax: resolveReadBackMsMax('limits.readBackMsMax', given.readBackMsMax),
      stopMsMax: checkLimit('limits.stopMsMax', given.stopMsMax ?? 10_000, { min: 0, max: 600_000 }),
    },
    declarations: resolveDeclarations(options.declarations),
  }
}

/** Only `true` itself declares anything: each declaration widens what is safe. */
export function resolveDeclarations(given: Partial<PlanDeclarations> = {}): PlanDeclarations {
  return {
    latestRecordPerKeySuffices: given.latestRecordPerKeySuffices === true,
    dataKeysCarryNoExpiry: given.dataKeysCarryNoExpiry === true,
  }
}

/** The target as said; there is no default. @throws {TidemarkError} TM_CHECKPOINT_OPTION_INVALID */
export function resolveReadyTarget(readyTarget: ReadyTarget): ReadyTarget {
  checkChoice('readyTarget', readyTarget, ['hw', 'lso'])
  return readyTarget
}

/** The limit of a read-back at a start, as said or by default. @throws {TidemarkError} TM_CORE_LIMIT_INVALID */
export function resolveReadBackMsMax(option: string, given: number = 600_000): number {
  return checkLimit(option, given, { min: 10, max: 86_400_000 })
}

function checkChoice(option: string, value: string, choices: readonly string[]): void {
  if (!choices.includes(value)) throw invalidOption(option, `"${value}" is none of ${choices.join(', ')}`)
}

function invalidOption(option: string, reason: string): Error {
  return checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option, reason })
}

/** Each fetch waits for an identity check of its own, so small steps must not make small fetches. */
function queuedRecordsDefault(batchRecordsMax: number): number {
  return Math.max(1_000, 4 * batchRecordsMax)
}
