import { ZoneRulesProvider } from '@js-joda/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  readZoneTransitions,
  ZONE_DATA_UNTIL_MS,
  zoneNames,
  zoneTransitionsText,
} from '../../src/civil/zone-transitions.ts'

const provider = ZoneRulesProvider as unknown as { getTzdbData: () => unknown }

describe('the pinned zone data', () => {
  it('[WIN-40] give the clocks of a zone, without what only an abbreviation tells apart', () => {
    const { fromMs, offsetMs, zoneData } = readZoneTransitions('Asia/Kolkata')
    expect(zoneData).toMatch(/^20\d\d[a-z]$/)
    expect(fromMs[0]).toBe(Number.NEGATIVE_INFINITY)
    expect(offsetMs[0]).toBe((5 * 3600 + 53 * 60 + 28) * 1000)
    expect(offsetMs.at(-1)).toBe(19_800_000)
  })

  it('[WIN-40] every zone: ascending, whole, never the same offset twice in a row, nothing after the said end', () => {
    const names = zoneNames()
    expect(names.length).toBeGreaterThan(590)
    const faults = names.filter((zone) => {
      const { fromMs, offsetMs } = readZoneTransitions(zone)
      return !(
        fromMs[0] === Number.NEGATIVE_INFINITY &&
        fromMs.length === offsetMs.length &&
        offsetMs.every(
          (each, at) => Number.isSafeInteger(each) && Math.abs(each) < 26 * 3_600_000 && each !== offsetMs[at - 1],
        ) &&
        fromMs
          .slice(1)
          .every((each, at) => Number.isSafeInteger(each) && each > fromMs[at]! && each < ZONE_DATA_UNTIL_MS)
      )
    })
    expect(faults).toEqual([])
    // Berlin still changes its clocks: where its last change stands is where the data end.
    expect(readZoneTransitions('Europe/Berlin').fromMs.at(-1)).toBe(Date.UTC(2499, 9, 25, 1))
    expect(ZONE_DATA_UNTIL_MS).toBe(Date.UTC(2500, 0, 1))
  })

  it('[WIN-40] js-joda, which unpacks the same data by itself, has every clock from 1970 on at the same instants', () => {
    const differing = zoneNames().filter((zone) => {
      const rules = ZoneRulesProvider.getRules(zone)
      const { fromMs, offsetMs } = readZoneTransitions(zone)
      const seconds = (timeMs: number): number => rules.offsetOfEpochMilli(timeMs).totalSeconds() * 1000
      return fromMs.some(
        (from, at) => from >= 0 && (seconds(from) !== offsetMs[at] || seconds(from - 1) !== offsetMs[at - 1]),
      )
    })
    expect(differing).toEqual([])
  })

  it('[WIN-40] a link has the clocks of its target and its own name', () => {
    const [link, target] = [readZoneTransitions('US/Eastern'), readZoneTransitions('America/New_York')]
    expect(link.zone).toBe('US/Eastern')
    expect(zoneTransitionsText(link)).toBe(zoneTransitionsText(target))
  })

  it.each([
    '',
    'europe/berlin',
    'CEST2',
    '+02:00',
    'Z',
    'SYSTEM',
    'Europe/Berlin|LMT',
    'W. Europe Standard Time',
    'toString',
  ])('[WIN-40] %j is no zone of theirs', (zone) => {
    expect(() => readZoneTransitions(zone)).toThrow(
      expect.objectContaining({
        code: 'TM_WINDOW_ZONE_UNKNOWN',
        details: expect.objectContaining({ zone: JSON.stringify(zone) }),
      }),
    )
  })

  it('[WIN-40] the text has one line for each clock', () => {
    const text = zoneTransitionsText({
      zone: 'x',
      zoneData: 'y',
      fromMs: [-Infinity, -5000, 7000],
      offsetMs: [0, 3600_000, 0],
    })
    expect(text).toBe('MIN:0\n-5000:3600000\n7000:0')
    expect(zoneTransitionsText(readZoneTransitions('Etc/UTC'))).toBe('MIN:0')
  })
})

describe('other zone data', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })
  const load = (data: unknown) => vi.spyOn(provider, 'getTzdbData').mockReturnValue(data)

  it('[WW-51] [WIN-40] another release changes the text of the zones whose clocks it changes, and of no other', () => {
    const packed = (lines: readonly string[]) => ({ version: '2099z', zones: lines, links: [] })
    load(packed(['A/One|LMT X|0 -10|01|10|1', 'A/Two|P Q|0 -10|01|10|1']))
    const [one, two] = [readZoneTransitions('A/One'), readZoneTransitions('A/Two')].map(zoneTransitionsText)
    expect(one).toBe('MIN:0\n3600000:3600000')
    expect(two).toBe(one)
    load(packed(['A/One|LMT Y|0 -10|01|10|9', 'A/Two|P Q|0 -10|01|11|1']))
    expect(zoneTransitionsText(readZoneTransitions('A/One'))).toBe(one)
    expect(zoneTransitionsText(readZoneTransitions('A/Two'))).toBe('MIN:0\n3660000:3600000')
  })

  it.each([
    ['no data at all', undefined, 'no data are loaded'],
    ['an offset that is not there', 'A/B|X Y|0 -10|02|10|', 'entry 1 names an offset'],
    ['a sign that is no digit', 'A/B|X Y|0 -1_|01|10|', 'not a number'],
    ['an index that is no digit', 'A/B|X Y|0 -10|0?|10|', 'no digit'],
    ['half a second', 'A/B|X Y|0 -10.22|01|10|', 'not a number'],
    ['a step back', 'A/B|X Y|0 -10|010|10 -1|', 'does not come after'],
    ['a step of nothing', 'A/B|X Y|0 -10|010|10 0|', 'does not come after'],
    ['a missing step', 'A/B|X Y|0 -10|010|10|', 'not a number'],
    ['no entry', 'A/B|X|0|||', 'no entry'],
  ])('[WIN-40] %s is refused', (_, line, reason) => {
    load(line === undefined ? undefined : { version: 'v', zones: [line], links: [] })
    expect(() => readZoneTransitions('A/B')).toThrow(
      expect.objectContaining({
        code: 'TM_WINDOW_ZONE_DATA_UNREADABLE',
        message: expect.stringContaining(reason) as unknown,
      }),
    )
  })
})
