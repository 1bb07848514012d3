/**
 * Puts an instant into windows that are the same for every key.
 *
 * The windows of an instant are told from the last one back: `start = lastStartOf(t)`, then `previousStartOf(start)` as long as
 * `endOf(start) > t`. Nothing is allocated by a call.
 *
 * Shape: windows are [start, end), ordered alike by start and by end. Units: whole epoch milliseconds.
 */
export interface AlignedAssigner {
  /** The start of the last window that an instant lies in; every instant lies in one. */
  lastStartOf(timeMs: number): number
  /** The start of the window before the one that begins at a start. */
  previousStartOf(startMs: number): number
  /** The end of the window that begins at a start. */
  endOf(startMs: number): number
  /** Whether an instant can lie in more than one window; where not, the last is the only one. */
  readonly overlapping: boolean
}
