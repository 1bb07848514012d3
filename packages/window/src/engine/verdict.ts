/**
 * What became of a record, by the number it is counted under. Every record that was delivered gets exactly one.
 *
 * `ACCEPTED`: into one window at least. `TOO_LATE`: every window of it was final. `NO_WINDOW`: no window is due to it.
 * `DUPLICATE`: its event was counted before. `REPLAY`: its offset was. `QUARANTINED`: it cannot be judged, or must not count.
 * `OVERLAPS_FINALIZED`: its session would overlap one that is final.
 */
export const verdictNames = [
  'ACCEPTED',
  'TOO_LATE',
  'NO_WINDOW',
  'DUPLICATE',
  'REPLAY',
  'QUARANTINED',
  'OVERLAPS_FINALIZED',
] as const

/** What became of a record. */
export type Verdict = (typeof verdictNames)[number]

/** How many verdicts there are. */
export const VERDICTS: number = verdictNames.length
