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

/**
 * A calendar of one unit in one zone.
 *
 * Promises: WIN-41, WIN-42. Units: epoch milliseconds; truth ends at `ZONE_DATA_UNTIL_MS`.
 * Cost: two comparisons in the unit of the call before; else arithmetic; a search among transitions only near one. Nothing is
 * allocated by a call.
 *
 * @throws {TidemarkError} TM_CORE_TIME_INVALID from the calendar's calls, for what is no instant.
 */
export function createZoneCalendar(transitions: ZoneTransitions, unit: CivilUnit): ZoneCalendar {
  const { from, offset, cleanFromLocal } = stretchesOf(transitions)
  let stretch = 0
  let lastStart = 0
  let lastEnd = 0

  /** The stretch of one offset that an instant lies in; mostly the one of the call before. */
  const find = (timeMs: number): number => {
    if (from[stretch]! <= timeMs && timeMs < from[stretch + 1]!) return stretch
    stretch = stretchAt(from, timeMs)
    return stretch
  }
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
  const seek = (timeMs: number): void => {
    eventTimeOf(timeMs, `${unit} of a zone`)
    const index = find(timeMs)
    let day = firstDayOf(unit, Math.floor((timeMs + offset[index]!) / DAY_MS))
    let startMs = startOfDay(day, index)
    for (;;) {
      day = firstDayAfter(unit, day)
      const nextMs = startOfDay(day, index)
      if (timeMs < nextMs) {
        lastStart = startMs
        lastEnd = nextMs
        return
      }
      // Only where a clock was set back over the beginning of a unit, or a unit was skipped.
      startMs = nextMs
    }
  }
  return {
    unit,
    startOf: (timeMs) => {
      // Asked so that NaN is sought, and refused there.
      if (!(timeMs >= lastStart && timeMs < lastEnd)) seek(timeMs)
      return lastStart
    },
    endOf: (startMs) => {
      if (!(startMs >= lastStart && startMs < lastEnd)) seek(startMs)
      return lastEnd
    },
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
