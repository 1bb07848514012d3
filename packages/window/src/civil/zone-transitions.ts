import { ZoneRulesProvider } from '@js-joda/core'
// Puts the zone data into the provider above; it exports nothing.
import '@js-joda/timezone'
import { windowErrors } from '../errors.ts'

/**
 * Times from here on are beyond the pinned zone data, which end with the year 2499: a zone that still changes its clocks would
 * be computed with the offset it ended on. Epoch milliseconds.
 */
export const ZONE_DATA_UNTIL_MS = 16_725_225_600_000

/** What the pinned data say about the clocks of one zone. */
export interface ZoneTransitions {
  /** The name that was asked for; a link of the data keeps its own name and has the transitions of its target. */
  readonly zone: string
  /** The release of the IANA data, for people: it is not what decides whether two policies are the same. */
  readonly zoneData: string
  /** From when each offset holds, ascending; the first is minus infinity. Epoch milliseconds. */
  readonly fromMs: readonly number[]
  /** Local time less UTC, beside {@link fromMs}; never the same twice in a row. Milliseconds. */
  readonly offsetMs: readonly number[]
}

/** The form in which the pinned package carries its data: one line a zone, numbers in base 60. */
interface PackedZones {
  readonly version: string
  readonly zones: readonly string[]
  readonly links: readonly string[]
}

/**
 * The transitions of an IANA zone in the pinned data, never the host's.
 *
 * Promises: WIN-40. Cost: a search through the names of the data; ask once a policy and keep the answer.
 *
 * @throws {TidemarkError} TM_WINDOW_ZONE_UNKNOWN, TM_WINDOW_ZONE_DATA_UNREADABLE
 */
export function readZoneTransitions(zone: string): ZoneTransitions {
  const data = pinnedData(zone)
  const link = data.links.find((each) => each.slice(each.indexOf('|') + 1) === zone)
  const name = link === undefined ? zone : link.slice(0, link.indexOf('|'))
  const packed = data.zones.find((each) => each.slice(0, each.indexOf('|')) === name)
  if (packed === undefined) {
    throw windowErrors.create('TM_WINDOW_ZONE_UNKNOWN', { zone: JSON.stringify(zone), zoneData: data.version })
  }
  return { zone, zoneData: data.version, ...unpack(zone, packed) }
}

/** Every name that {@link readZoneTransitions} knows, links included, in ascending order. */
export function zoneNames(): readonly string[] {
  const { zones, links } = pinnedData('any zone')
  const own = zones.map((each) => each.slice(0, each.indexOf('|')))
  return [...own, ...links.map((each) => each.slice(each.indexOf('|') + 1))].toSorted()
}

/**
 * The one text that zones share whose clocks do the same, for a policy's digest: an upgrade of the data changes it only where it
 * changes a clock. Names and abbreviations are not in it.
 */
export function zoneTransitionsText({ fromMs, offsetMs }: ZoneTransitions): string {
  return fromMs.map((from, index) => `${index === 0 ? 'MIN' : from}:${offsetMs[index]!}`).join('\n')
}

function pinnedData(zone: string): PackedZones {
  // The package sets the function at its import; the types of the provider know nothing of it.
  const provider = ZoneRulesProvider as unknown as { readonly getTzdbData?: () => PackedZones | undefined }
  const data = provider.getTzdbData?.()
  if (data === undefined) throw unreadable(zone, 'no data are loaded')
  return data
}

function unpack(zone: string, packed: string): Pick<ZoneTransitions, 'fromMs' | 'offsetMs'> {
  const [, , offsetTexts = '', indexTexts = '', stepTexts = ''] = packed.split('|')
  const offsets = offsetTexts.split(' ').map((text) => -1000 * secondsOf(zone, text))
  const steps = stepTexts.split(' ')
  const fromMs: number[] = []
  const offsetMs: number[] = []
  let from = Number.NEGATIVE_INFINITY
  for (let index = 0; index < indexTexts.length; index += 1) {
    const offset = offsets[digitOf(zone, indexTexts, index)]
    if (offset === undefined) throw unreadable(zone, `entry ${index} names an offset that is not there`)
    // Data also tell apart what only the abbreviation tells apart; clocks do not.
    if (offset !== offsetMs.at(-1)) {
      fromMs.push(from)
      offsetMs.push(offset)
    }
    if (index === indexTexts.length - 1) break
    const step = 1000 * secondsOf(zone, steps[index] ?? '')
    if (index > 0 && step <= 0) throw unreadable(zone, `entry ${index} does not come after the one before it`)
    from = index === 0 ? step : from + step
  }
  if (fromMs.length === 0) throw unreadable(zone, 'there is no entry')
  return { fromMs, offsetMs }
}

/** Minutes in base 60, with seconds as the digit after the point: whole numbers, so nothing is rounded. */
function secondsOf(zone: string, text: string): number {
  const [, sign, minutes, seconds] = /^(-?)([0-9a-zA-X]+)(?:\.([0-9a-zA-X]))?$/.exec(text) ?? []
  if (minutes === undefined) throw unreadable(zone, `${JSON.stringify(text)} is not a number of minutes and seconds`)
  let total = 0
  for (let index = 0; index < minutes.length; index += 1) total = total * 60 + digitOf(zone, minutes, index)
  total = total * 60 + (seconds === undefined ? 0 : digitOf(zone, seconds, 0))
  return sign === '-' ? -total : total
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'

function digitOf(zone: string, text: string, index: number): number {
  const digit = DIGITS.indexOf(text.charAt(index))
  if (digit < 0) throw unreadable(zone, `${JSON.stringify(text)} has a sign that is no digit`)
  return digit
}

function unreadable(zone: string, reason: string): Error {
  return windowErrors.create('TM_WINDOW_ZONE_DATA_UNREADABLE', { zone: JSON.stringify(zone), reason })
}
