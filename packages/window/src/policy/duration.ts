/** What a text says as a length of time, or why it says none. */
export type DurationReading =
  { readonly kind: 'duration'; readonly ms: number } | { readonly kind: 'refused'; readonly reason: string }

/** From the largest: the first that divides a duration is the one it is written in. */
const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1_000 },
  { name: 'ms', ms: 1 },
] as const

/**
 * The milliseconds of a text such as `500ms`, `5m`, `24h` or `7d`, exactly.
 *
 * Shape: a whole number without leading zeros and one of ms, s, m, h, d; nothing else, no blanks, no fractions, no two units.
 * A day is 24 hours: days of a calendar are civil windows and no durations.
 *
 * Promises: WIN-1.
 */
export function readDuration(text: string): DurationReading {
  const [, digits, name] = /^(0|[1-9]\d*)(ms|s|m|h|d)$/.exec(text) ?? []
  const unit = units.find((each) => each.name === name)
  if (digits === undefined || unit === undefined) {
    return { kind: 'refused', reason: 'is not a duration: a whole number and one of ms, s, m, h, d, such as 15m' }
  }
  // A product of whole numbers beyond 2^53 rounds to one beyond 2^53, so the check sees every product that is not exact.
  const ms = Number(digits) * unit.ms
  if (!Number.isSafeInteger(ms)) return { kind: 'refused', reason: 'is longer than whole milliseconds can say exactly' }
  return { kind: 'duration', ms }
}

/** A duration in the largest unit that says it exactly; {@link readDuration} reads it back as the same. */
export function renderDuration(ms: number): string {
  if (ms === 0) return '0ms'
  const unit = units.find((each) => ms % each.ms === 0)
  return unit === undefined ? `${ms}ms` : `${ms / unit.ms}${unit.name}`
}
