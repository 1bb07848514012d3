import { eventTimeOf } from '@tidemark/core'
import { DAY_MS, firstDayAfter, firstDayOf } from './civil-date.ts'
import type { CivilUnit } from './civil-date.ts'
import type { ZoneTransitions } from './zone-transitions.ts'

/** Further than any clock was ever from UTC. */
const OFFSET_MAX_MS = 26 * 3_600_000

/**
 * The days, weeks or months of one zone as stretches of instants.
 *
 * A day begins at the first instant whose local date is that day or a later one. So days tile the line of instants whatever the
 * clocks do: a midnight that was skipped begins where the clock went on, one that came twice begins at the first, a day that was
 * skipped has no instant. An instant whose clock was set back over midnight stays in the day that had begun.
 */
export interface ZoneCalendar {
  readonly unit: CivilUnit
  /** When the unit that an instant lies in began. */
  startOf(timeMs: number): number
  /** When the unit that began at a start ends, which is when the next one begins. */
  endOf(startMs: number): number
}

/** Instants are remembered by stretches of so many milliseconds, a little less than five hours. */
const SLOT_MS = 2 ** 24

/** How many of them are remembered: seven weeks, so that partitions far apart do not drive each other out. */
const SLOTS = 256

/**
 * A calendar of one unit in one zone.
 *
 * Promises: WIN-41, WIN-42. Units: epoch milliseconds; truth ends at `ZONE_DATA_UNTIL_MS`.
 * Cost: a look into a small table; what is not there by arithmetic, and by a search among transitions only near one. Nothing is
 * allocated by a call.
 *
 * @throws {TidemarkError} TM_CORE_TIME_INVALID from the calendar's calls, for what is no instant.
 */
export function createZoneCalendar(transitions: ZoneTransitions, unit: CivilUnit): ZoneCalendar {
  const seek = createSeek(transitions, unit)
  // Pairs of a start and an end. NaN is before and after nothing, so an empty slot answers nothing.
  const known = new Float64Array(2 * SLOTS).fill(Number.NaN)
  /** The slot that holds the unit of an instant. */
  const slotOf = (timeMs: number): number => {
    const slot = 2 * (Math.floor(timeMs / SLOT_MS) & (SLOTS - 1))
    if (!(known[slot]! <= timeMs && timeMs < known[slot + 1]!)) seek(timeMs, known, slot)
    return slot
  }
  return {
    unit,
    startOf: (timeMs) => known[slotOf(timeMs)]!,
    endOf: (startMs) => known[slotOf(startMs) + 1]!,
  }
}

/** Writes the start and the end of the unit of an instant into a slot of a table. */
type Seek = (timeMs: number, known: Float64Array, slot: number) => void

function createSeek(transitions: ZoneTransitions, unit: CivilUnit): Seek {
  const { from, offset, cleanFromLocal } = stretchesOf(transitions)
  const where = `${unit} of a zone`
  let stretch = 0

  /** The first instant whose local time is at or after a local midnight. */
  const firstInstantOf = (localMs: number): number => {
    let index = stretchAt(from, localMs - OFFSET_MAX_MS)
    for (;;) {
      const reached = Math.max(from[index]!, localMs - offset[index]!)
      if (reached < from[index + 1]!) return reached
      index += 1
    }
  }
  const startOfDay = (epochDay: number, index: number): number => {
    const localMs = epochDay * DAY_MS
    const startMs = localMs - offset[index]!
    // Inside a stretch, past all that earlier clocks showed, local time is instant plus offset and nothing else.
    if (localMs >= cleanFromLocal[index]! && startMs < from[index + 1]!) return startMs
    return firstInstantOf(localMs)
  }
  return (timeMs, known, slot) => {
    eventTimeOf(timeMs, where)
    // Mostly the stretch of the call before.
    if (!(from[stretch]! <= timeMs && timeMs < from[stretch + 1]!)) stretch = stretchAt(from, timeMs)
    let day = firstDayOf(unit, Math.floor((timeMs + offset[stretch]!) / DAY_MS))
    let startMs = startOfDay(day, stretch)
    for (;;) {
      day = firstDayAfter(unit, day)
      const nextMs = startOfDay(day, stretch)
      if (timeMs < nextMs) {
        known[slot] = startMs
        known[slot + 1] = nextMs
        return
      }
      // Only where a clock was set back over the beginning of a unit, or a unit was skipped.
      startMs = nextMs
    }
  }
}

interface Stretches {
  /** One longer than the others: the last stretch never ends. */
  readonly from: Float64Array
  readonly offset: Float64Array
  /** From this local time on, a stretch shows what no clock before it showed. */
  readonly cleanFromLocal: Float64Array
}

function stretchesOf({ fromMs, offsetMs }: ZoneTransitions): Stretches {
  const from = Float64Array.from([...fromMs, Number.POSITIVE_INFINITY])
  const offset = Float64Array.from(offsetMs)
  const cleanFromLocal = new Float64Array(offset.length)
  let shown = Number.NEGATIVE_INFINITY
  for (let index = 0; index < offset.length; index += 1) {
    shown = Math.max(shown, from[index]! + offset[index]!)
    cleanFromLocal[index] = shown
    shown = Math.max(shown, from[index + 1]! + offset[index]!)
  }
  return { from, offset, cleanFromLocal }
}

/** The last stretch that begins at or before an instant. */
function stretchAt(from: Float64Array, timeMs: number): number {
  let low = 0
  let high = from.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (from[middle]! <= timeMs) low = middle
    else high = middle
  }
  return low
}
