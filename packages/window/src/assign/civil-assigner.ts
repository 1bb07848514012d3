import type { ZoneCalendar } from '../civil/zone-calendar.ts'
import type { AlignedAssigner } from './assigner.ts'

/**
 * The days, weeks or months of a zone as windows: 23, 24, 24.5 or 25 hours, none where the zone skipped a day.
 *
 * Promises: WIN-42.
 */
export function createCivilAssigner(calendar: ZoneCalendar): AlignedAssigner {
  return {
    overlapping: false,
    lastStartOf: (timeMs) => calendar.startOf(timeMs),
    previousStartOf: (startMs) => calendar.startOf(startMs - 1),
    endOf: (startMs) => calendar.endOf(startMs),
  }
}
