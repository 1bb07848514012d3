import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  createAppendOnlyMax,
  createCount,
  parsePolicy,
  PARTITIONS_MAX,
  policyProblems,
  WINDOWS_PER_EVENT_MAX,
} from '../../src/index.ts'
import type { AggregateAbilities, StreamTimePolicy } from '../../src/index.ts'
import { samplePolicy } from './sample-policy.ts'

function problemsOf(changed: Partial<StreamTimePolicy>, aggregate?: AggregateAbilities): readonly string[] {
  const reading = parsePolicy(samplePolicy(changed), aggregate === undefined ? {} : { aggregate })
  return reading.kind === 'invalid' ? reading.problems.map(({ path, code }) => `${path} ${code}`) : []
}

const noIds = { deduplication: { kind: 'none' } } as const
const sliding = (sizeMs: number, slideMs: number, offsetMs = 0): StreamTimePolicy['window'] => ({
  kind: 'sliding',
  sizeMs,
  slideMs,
  offsetMs,
})
const reachMaxMs = Number.MAX_SAFE_INTEGER - 8.64e15

describe('what contradicts itself is no policy', () => {
  it.each([
    [10, 10, []],
    [10, 4, []],
    [10, 11, ['$.window.slideMs SLIDE_ABOVE_SIZE']],
  ])('[WIN-6] windows of %d that slide by %d: %j', (sizeMs, slideMs, told) => {
    expect(problemsOf({ window: sliding(sizeMs, slideMs) })).toEqual(told)
  })

  it.each<[StreamTimePolicy['window'], readonly string[]]>([
    [{ kind: 'tumbling', sizeMs: 10, offsetMs: 9 }, []],
    [{ kind: 'tumbling', sizeMs: 10, offsetMs: 10 }, ['$.window.offsetMs OFFSET_OUTSIDE_TILE']],
    [sliding(10, 5, 4), []],
    [sliding(10, 5, 5), ['$.window.offsetMs OFFSET_OUTSIDE_TILE']],
    [sliding(WINDOWS_PER_EVENT_MAX, 1), []],
    [sliding(WINDOWS_PER_EVENT_MAX * 3, 3), []],
    [sliding(WINDOWS_PER_EVENT_MAX * 3 + 1, 3), ['$.window.slideMs TOO_MANY_WINDOWS']],
  ])('[WIN-6] %j: %j', (window, told) => {
    expect(problemsOf({ window })).toEqual(told)
  })

  it.each([
    [86_400_000, []],
    [86_400_001, []],
    [86_399_999, ['$.stateRetentionMs RETENTION_BELOW_LATENESS']],
  ])('[WIN-6] state kept for %d ms under a lateness of a day: %j', (stateRetentionMs, told) => {
    expect(problemsOf({ stateRetentionMs })).toEqual(told)
  })

  it.each<[StreamTimePolicy['window'], number]>([
    [{ kind: 'tumbling', sizeMs: 3_600_000, offsetMs: 5 }, 90_000_000],
    [sliding(7_200_000, 60_000), 93_600_000],
    [{ kind: 'session', gapMs: 60_000 }, 86_460_000],
    [{ kind: 'civil', unit: 'day', zone: 'UTC' }, 172_800_000],
    [{ kind: 'civil', unit: 'week', zone: 'UTC' }, 691_200_000],
    [{ kind: 'civil', unit: 'month', zone: 'UTC' }, 2_764_800_000],
    // Tokyo's offsets: 9:18:59 until 1887, 9 hours, 10 hours in the summers of 1948 to 1951.
    [{ kind: 'civil', unit: 'day', zone: 'Asia/Tokyo' }, 176_400_000],
  ])('[WIN-6] ids are kept until every window of an event in %j is final', (window, neededMs) => {
    const early = ['$.deduplication.retainMs IDS_FORGOTTEN_EARLY']
    expect(problemsOf({ window, deduplication: { kind: 'event-id', retainMs: neededMs } })).toEqual([])
    expect(problemsOf({ window, deduplication: { kind: 'event-id', retainMs: neededMs - 1 } })).toEqual(early)
    expect(problemsOf({ window, ...noIds })).toEqual([])
  })

  it.each<[StreamTimePolicy['sources'], readonly string[]]>([
    [[], ['$.sources TOPOLOGY_EMPTY']],
    [[{ source: 'a', partitions: [] }], ['$.sources[0].partitions TOPOLOGY_EMPTY']],
    [
      [
        { source: 'a', partitions: [1] },
        { source: 'a', partitions: [] },
      ],
      ['$.sources[1].source SOURCE_REPEATED', '$.sources[1].partitions TOPOLOGY_EMPTY'],
    ],
    [[{ source: 'a', partitions: [0, 1, 1] }], ['$.sources[0].partitions[2] PARTITIONS_NOT_ASCENDING']],
    [[{ source: 'a', partitions: [3, 2] }], ['$.sources[0].partitions[1] PARTITIONS_NOT_ASCENDING']],
    [[{ source: 'a', partitions: Array.from({ length: PARTITIONS_MAX }, (_, at) => at) }], []],
    [
      [
        { source: 'a', partitions: Array.from({ length: PARTITIONS_MAX }, (_, at) => at) },
        { source: 'b', partitions: [0] },
      ],
      ['$.sources TOPOLOGY_TOO_LARGE'],
    ],
  ])('[WIN-6] a topology has partitions, each once (row %#)', (sources, told) => {
    expect(problemsOf({ sources })).toEqual(told)
  })

  it.each([
    ['UTC', []],
    ['Asia/Calcutta', []],
    ['+01:00', ['$.timezone ZONE_UNKNOWN']],
    ['europe/berlin', ['$.timezone ZONE_UNKNOWN']],
    ['SYSTEM', ['$.timezone ZONE_UNKNOWN']],
  ])('[WIN-6] the zone %s: %j', (timezone, told) => {
    expect(problemsOf({ timezone })).toEqual(told)
  })

  it('[WIN-6] the zone of a civil window is known, and what follows from it is left out where it is not', () => {
    const window = { kind: 'civil', unit: 'day', zone: 'Europe/Atlantis' } as const
    expect(problemsOf({ window, deduplication: { kind: 'event-id', retainMs: 0 } })).toEqual([
      '$.window.zone ZONE_UNKNOWN',
    ])
  })

  it('[WIN-6] tells every contradiction at once', () => {
    const aggregate = { name: 'last' }
    const changed = {
      sources: [],
      window: sliding(10, 20),
      timezone: '?',
      stateRetentionMs: 0,
      correctionMode: 'DELTA',
    } as const
    expect(problemsOf({ ...changed, deduplication: { kind: 'event-id', retainMs: 0 } }, aggregate)).toEqual([
      '$.sources TOPOLOGY_EMPTY',
      '$.window.slideMs SLIDE_ABOVE_SIZE',
      '$.timezone ZONE_UNKNOWN',
      '$.stateRetentionMs RETENTION_BELOW_LATENESS',
      '$.deduplication.retainMs IDS_FORGOTTEN_EARLY',
      '$.correctionMode AGGREGATE_CANNOT_RETRACT',
      '$.correctionMode AGGREGATE_CANNOT_DIFFERENCE',
    ])
  })
})

describe('the aggregate that will compute', () => {
  const none = { name: 'max' }
  const retracting = { name: 'max', retract: () => 0 }
  const full = { name: 'sum', retract: () => 0, difference: () => 0 }
  it.each<[Partial<StreamTimePolicy>, AggregateAbilities, readonly string[]]>([
    [{}, none, []],
    [{ input: 'changes' }, none, ['$.input AGGREGATE_CANNOT_RETRACT']],
    [{ input: 'changes' }, retracting, []],
    [
      { correctionMode: 'DELTA' },
      none,
      ['$.correctionMode AGGREGATE_CANNOT_RETRACT', '$.correctionMode AGGREGATE_CANNOT_DIFFERENCE'],
    ],
    [{ correctionMode: 'DELTA' }, retracting, ['$.correctionMode AGGREGATE_CANNOT_DIFFERENCE']],
    [{ correctionMode: 'DELTA', input: 'changes' }, full, []],
    [{ input: 'changes' }, { name: 'x', retract: undefined }, ['$.input AGGREGATE_CANNOT_RETRACT']],
    [{ input: 'changes' }, { name: 'x', retract: true }, ['$.input AGGREGATE_CANNOT_RETRACT']],
  ])('[WIN-7] can take back where %j asks for it: %j', (changed, aggregate, told) => {
    expect(problemsOf(changed, aggregate)).toEqual(told)
  })
})

describe('the aggregates of this package', () => {
  it('[WIN-7] say by what they have whether a policy may use them', () => {
    const changes = { correctionMode: 'DELTA', input: 'changes' } as const
    const latest = createAppendOnlyMax<number>({ name: 'latest', version: 1, read: (payload) => payload })
    expect(problemsOf(changes, createCount({ name: 'orders', version: 1 }))).toEqual([])
    expect(problemsOf({}, latest)).toEqual([])
    expect(problemsOf({ input: 'changes' }, latest)).toEqual(['$.input AGGREGATE_CANNOT_RETRACT'])
  })
})

describe('the range of exact times', () => {
  const tumbling = (sizeMs: number): StreamTimePolicy['window'] => ({ kind: 'tumbling', sizeMs, offsetMs: 0 })
  it.each<[Partial<StreamTimePolicy>, readonly string[]]>([
    [{ allowedLatenessMs: reachMaxMs - 10, stateRetentionMs: reachMaxMs - 10, window: tumbling(10) }, []],
    [
      { allowedLatenessMs: reachMaxMs - 10, stateRetentionMs: reachMaxMs - 9, window: tumbling(10) },
      ['$.stateRetentionMs TIME_OUT_OF_RANGE'],
    ],
    [
      { allowedLatenessMs: reachMaxMs - 9, stateRetentionMs: reachMaxMs - 9, window: tumbling(10) },
      ['$.allowedLatenessMs TIME_OUT_OF_RANGE'],
    ],
    [{ window: { kind: 'session', gapMs: (reachMaxMs - 86_400_001) / 2 } }, []],
    [{ window: { kind: 'session', gapMs: (reachMaxMs - 86_400_001) / 2 + 1 } }, ['$.window TIME_OUT_OF_RANGE']],
    [{ window: tumbling((reachMaxMs - 1) / 2) }, []],
    [{ window: tumbling((reachMaxMs + 1) / 2) }, ['$.window TIME_OUT_OF_RANGE']],
    [{ watermark: { kind: 'bounded-out-of-orderness', boundMs: reachMaxMs } }, []],
    [
      { watermark: { kind: 'bounded-out-of-orderness', boundMs: reachMaxMs + 1 } },
      ['$.watermark.boundMs TIME_OUT_OF_RANGE'],
    ],
    [{ maxFutureSkewMs: reachMaxMs }, []],
    [{ maxFutureSkewMs: reachMaxMs + 1 }, ['$.maxFutureSkewMs TIME_OUT_OF_RANGE']],
    [{ corrections: { kind: 'interval', intervalMs: reachMaxMs } }, []],
    [{ corrections: { kind: 'interval', intervalMs: reachMaxMs + 1 } }, ['$.corrections.intervalMs TIME_OUT_OF_RANGE']],
  ])('[WIN-8] row %#: %j', (changed, told) => {
    expect(problemsOf({ ...noIds, ...changed })).toEqual(told)
  })

  it('[WIN-8] holds for how long ids are kept', () => {
    const kept = (retainMs: number) => problemsOf({ deduplication: { kind: 'event-id', retainMs } })
    expect(kept(reachMaxMs)).toEqual([])
    expect(kept(reachMaxMs + 1)).toEqual(['$.deduplication.retainMs TIME_OUT_OF_RANGE'])
  })
})

describe('the codes of problems', () => {
  it('[WIN-6] are explained on the page of the error, each and no others', () => {
    const page = readFileSync(new URL('../../../../docs/errors/window.md', import.meta.url), 'utf8')
    const section = page.slice(page.indexOf('## TM_WINDOW_POLICY_INVALID')).split(/\n## /)[0]!
    const rows = [...section.matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\|$/gm)].map(([, code, meaning]) => [code, meaning])
    expect(rows).toEqual(Object.entries(policyProblems))
  })
})
