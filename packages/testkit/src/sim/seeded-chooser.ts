/** A repeatable source of choices: the same seed makes the same decisions in the same order. */
export interface SeededChooser {
  readonly seed: number
  /** A fraction from 0 (inclusive) to 1 (exclusive). */
  fraction(): number
  /** A whole number from `min` to `max`, both inclusive. */
  whole(min: number, max: number): number
  /** True with the given probability. */
  chance(probability: number): boolean
  /** Hexadecimal digits, for ids that must differ within a run and repeat between runs. */
  hex(digits: number): string
}

/** A chooser for a seed. Cost: a few integer operations a choice; not for cryptography. Source: mulberry32. */
export function createSeededChooser(seed: number): SeededChooser {
  let state = seed >>> 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const whole = (min: number, max: number): number => min + Math.floor(fraction() * (max - min + 1))
  return {
    seed,
    fraction,
    whole,
    chance: (probability) => fraction() < probability,
    hex: (digits) => Array.from({ length: digits }, () => whole(0, 15).toString(16)).join(''),
  }
}
