import { zoneNames } from '../civil/zone-transitions.ts'

/** Whether the pinned zone data have a zone of a name; offsets such as `+01:00` are no zones. */
export function isKnownZone(zone: string): boolean {
  return zoneNames().includes(zone)
}
