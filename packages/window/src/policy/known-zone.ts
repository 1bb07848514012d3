import { zoneNames } from '../civil/zone-transitions.ts'

/** Whether the pinned zone data have a zone of a name; offsets such as `+01:00` are no zones. */
export function isKnownZone(zone: string): boolean {
  names ??= new Set(zoneNames())
  return names.has(zone)
}

/** Pinned data do not change while a program runs, and sorting their names costs a millisecond. */
let names: ReadonlySet<string> | undefined
