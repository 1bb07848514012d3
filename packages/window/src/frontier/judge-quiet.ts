/** What an adapter sees of a partition when it looks whether it is idle. */
export interface QuietProbe {
  /** On the adapter's own clock, which may stand or jump; the engine has none. */
  readonly nowMs: number
  /** When the last record was fetched, or reading began. On the same clock. */
  readonly quietSinceMs: number
  /** The policy's `idlePartitionAfter`. */
  readonly quietMs: number
  /** The offset that would be fetched next. */
  readonly position: number
  /** The end of what is decided, and the end of what is written; read after `position`. */
  readonly lastStableOffset: number
  readonly highWatermark: number
  /** Whether fetching is held back, by whomever. */
  readonly paused: boolean
}

/** Whether a partition is idle, or what speaks against it. */
export type QuietVerdict =
  | { readonly kind: 'idle'; readonly atOffset: number }
  | {
      readonly kind: 'not-idle'
      readonly reason: 'PAUSED' | 'RECORDS_WAIT' | 'BOUNDS_BEHIND' | 'TRANSACTION_OPEN' | 'NOT_QUIET_YET'
    }

/**
 * Whether an idle mark may be sent: nothing can be fetched, nothing is undecided, nobody paused, and it was quiet for so long.
 *
 * A partition that is merely not read is never idle: its records would be late once it is. At exactly `quietMs` it is quiet.
 * Promises: WIN-29.
 */
export function judgeQuiet(probe: QuietProbe): QuietVerdict {
  if (probe.paused) return { kind: 'not-idle', reason: 'PAUSED' }
  if (probe.position < probe.lastStableOffset) return { kind: 'not-idle', reason: 'RECORDS_WAIT' }
  // A position past an end that was read after it: the bounds are old, or those of another log.
  if (probe.position > probe.lastStableOffset) return { kind: 'not-idle', reason: 'BOUNDS_BEHIND' }
  if (probe.lastStableOffset !== probe.highWatermark) return { kind: 'not-idle', reason: 'TRANSACTION_OPEN' }
  if (!(probe.nowMs - probe.quietSinceMs >= probe.quietMs)) return { kind: 'not-idle', reason: 'NOT_QUIET_YET' }
  return { kind: 'idle', atOffset: probe.position }
}
