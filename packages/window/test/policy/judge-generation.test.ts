import { describe, expect, it } from 'vitest'
import { freezePolicy, judgeGeneration, judgeHandover } from '../../src/index.ts'
import type { StreamTimePolicy } from '../../src/index.ts'
import { samplePolicy } from './sample-policy.ts'

const frozen = (changed: Partial<StreamTimePolicy> = {}) => freezePolicy(samplePolicy(changed))
const held = frozen()

describe('whether a policy goes on with the state of another', () => {
  it('[WIN-11] does where nothing changed', () => {
    expect(judgeGeneration(held, frozen())).toEqual({ kind: 'same' })
  })

  it.each<[Partial<StreamTimePolicy>, readonly object[]]>([
    [{ allIdle: 'FLUSH_MAX' }, [{ path: '$.allIdle', held: 'HOLD', offered: 'FLUSH_MAX' }]],
    [{ allowedLatenessMs: 1 }, [{ path: '$.allowedLatenessMs', held: 86_400_000, offered: 1 }]],
    [
      { job: { name: 'hourly-revenue', version: 15, manifestDigest: 'b'.repeat(64) } },
      [
        { path: '$.job.version', held: 14, offered: 15 },
        { path: '$.job.manifestDigest', held: 'a'.repeat(64), offered: 'b'.repeat(64) },
      ],
    ],
    [
      { window: { kind: 'tumbling', sizeMs: 60_000, offsetMs: 1 } },
      [
        { path: '$.window.sizeMs', held: 3_600_000, offered: 60_000 },
        { path: '$.window.offsetMs', held: 0, offered: 1 },
      ],
    ],
    [
      { window: { kind: 'session', gapMs: 5 } },
      [
        {
          path: '$.window',
          held: { kind: 'tumbling', sizeMs: 3_600_000, offsetMs: 0 },
          offered: { kind: 'session', gapMs: 5 },
        },
      ],
    ],
    [
      {
        sources: [
          { source: 'orders', partitions: [0, 1, 2, 3] },
          { source: 'returns', partitions: [0] },
        ],
      },
      [
        { path: '$.sources.orders', held: [0, 1, 2], offered: [0, 1, 2, 3] },
        { path: '$.sources.refunds', held: [0, 4] },
        { path: '$.sources.returns', offered: [0] },
      ],
    ],
  ])('[WIN-11] needs a new generation for %j, and says what changed', (changed, changes) => {
    expect(judgeGeneration(held, frozen(changed))).toEqual({ kind: 'needs-new-generation', changes })
    expect(judgeGeneration(held, frozen({ ...changed, generation: 4 }))).toEqual({ kind: 'new-generation', changes })
  })

  it('[WIN-11] is a new generation also where only the number is new: a replay of the same', () => {
    expect(judgeGeneration(held, frozen({ generation: 4 }))).toEqual({ kind: 'new-generation', changes: [] })
  })

  it('[WIN-11] never goes back, and never over to another stream', () => {
    expect(judgeGeneration(held, frozen({ generation: 2 }))).toEqual({ kind: 'behind', heldGeneration: 3 })
    expect(judgeGeneration(held, frozen({ businessStream: 'returns', generation: 4 }))).toEqual({
      kind: 'other-stream',
      heldStream: 'revenue',
    })
  })

  it('[WIN-11] tells another zone as a change of the zone, and its clocks not beside it', () => {
    const civil = (zone: string) => frozen({ window: { kind: 'civil', unit: 'day', zone } })
    expect(judgeGeneration(civil('Europe/Berlin'), civil('Europe/Paris'))).toEqual({
      kind: 'needs-new-generation',
      changes: [{ path: '$.window.zone', held: 'Europe/Berlin', offered: 'Europe/Paris' }],
    })
  })

  it.each(['held', 'offered'])('[WIN-11] judges nothing by a damaged policy %s', (which) => {
    const damaged = { ...held, digest: '0'.repeat(64) }
    const judge = () => (which === 'held' ? judgeGeneration(damaged, held) : judgeGeneration(held, damaged))
    expect(judge).toThrow(`the policy of "revenue" generation 3 in the policy ${which} does not have the digests`)
  })
})

describe('whether a new generation takes over the frontier', () => {
  it.each<Partial<StreamTimePolicy>>([
    {},
    { allowedLatenessMs: 0, stateRetentionMs: 0 },
    { window: { kind: 'session', gapMs: 5 } },
    { sources: [{ source: 'orders', partitions: [0, 1, 2, 3] }] },
    { allIdle: 'FLUSH_MAX', resumeBehind: 'EXCLUDE' },
  ])('[WIN-12] does with the same bound and extractor: %j', (changed) => {
    expect(judgeHandover(held, frozen({ ...changed, generation: 4 }))).toEqual({ kind: 'allowed' })
  })

  it('[WIN-12] does not with another bound or extractor, in the same or an earlier generation, or for another stream', () => {
    const watermark = { kind: 'bounded-out-of-orderness', boundMs: 300_001 } as const
    const timestampExtractor = { name: 'order.occurred_at', version: 3 }
    const codes = (changed: Partial<StreamTimePolicy>): readonly string[] => {
      const verdict = judgeHandover(held, frozen(changed))
      return verdict.kind === 'refused' ? verdict.reasons.map(({ code }) => code) : []
    }
    expect(codes({ generation: 4, watermark })).toEqual(['OTHER_WATERMARK'])
    expect(codes({ generation: 4, timestampExtractor })).toEqual(['OTHER_EXTRACTOR'])
    expect(codes({})).toEqual(['NOT_A_LATER_GENERATION'])
    expect(codes({ generation: 2 })).toEqual(['NOT_A_LATER_GENERATION'])
    expect(codes({ allIdle: 'FLUSH_MAX' })).toEqual(['NOT_A_LATER_GENERATION'])
    expect(codes({ businessStream: 'returns', watermark, timestampExtractor })).toEqual([
      'OTHER_STREAM',
      'OTHER_WATERMARK',
      'OTHER_EXTRACTOR',
    ])
  })

  it('[WIN-12] says both values of what differs', () => {
    const changed = { generation: 4, watermark: { kind: 'bounded-out-of-orderness', boundMs: 7 } } as const
    expect(judgeHandover(held, frozen(changed))).toEqual({
      kind: 'refused',
      reasons: [{ code: 'OTHER_WATERMARK', message: 'the claims were made with a bound of 300000 ms, not of 7 ms' }],
    })
  })
})
