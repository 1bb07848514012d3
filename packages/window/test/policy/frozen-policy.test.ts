import { describe, expect, it } from 'vitest'
import { checkFrozenPolicy, freezePolicy, judgeGeneration, policyDigest, topologyDigest } from '../../src/index.ts'
import type { StreamTimePolicy } from '../../src/index.ts'
import { samplePolicy } from './sample-policy.ts'

const berlin = {
  window: { kind: 'civil', unit: 'day', zone: 'Europe/Berlin' },
  deduplication: { kind: 'none' },
} as const

/** One other value for every field. */
const otherValues: { readonly [K in keyof Omit<StreamTimePolicy, 'schema'>]: StreamTimePolicy[K] } = {
  job: { name: 'hourly-revenue', version: 15, manifestDigest: 'a'.repeat(64) },
  businessStream: 'returns',
  generation: 4,
  sources: [{ source: 'orders', partitions: [0, 1, 2] }],
  timestampExtractor: { name: 'order.paid_at', version: 2 },
  watermark: { kind: 'bounded-out-of-orderness', boundMs: 300_001 },
  idlePartitionAfter: { kind: 'never' },
  window: { kind: 'tumbling', sizeMs: 3_600_000, offsetMs: 1 },
  timezone: 'Asia/Tokyo',
  trigger: 'ON_FRONTIER',
  allowedLatenessMs: 86_399_999,
  lateClassification: 'PER_WINDOW',
  maxFutureSkewMs: 300_001,
  stateRetentionMs: 86_400_001,
  correctionMode: 'DELTA',
  corrections: { kind: 'per-batch' },
  deduplication: { kind: 'event-id', retainMs: 90_000_001 },
  allIdle: 'FLUSH_MAX',
  resumeBehind: 'EXCLUDE',
  input: 'changes',
}

describe('the digest of a policy', () => {
  it('[WIN-9] is the same for the same policy, in whatever order it was written down', () => {
    const reversed = Object.fromEntries(Object.entries(samplePolicy()).toReversed()) as unknown as StreamTimePolicy
    const { sources } = samplePolicy()
    const digest = policyDigest(samplePolicy())
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect(policyDigest(reversed)).toBe(digest)
    expect(policyDigest(samplePolicy({ sources: sources.toReversed() }))).toBe(digest)
    // Stored in every cut and revision: another text of the same policy must not change it.
    expect(digest).toBe('de86c754373bb2c0b2e820f3dbc6c53381f2793b7e86900bbb3b9ef15b4a2d56')
  })

  it('[WIN-9] is another one for another value of any field', () => {
    const free = Object.entries(otherValues).filter(([field]) => !['trigger', 'lateClassification'].includes(field))
    const digests = free.map(([field, value]) => policyDigest(samplePolicy({ [field]: value })))
    expect(new Set([policyDigest(samplePolicy()), ...digests]).size).toBe(free.length + 1)
    expect(policyDigest(samplePolicy({ trigger: 'OTHER' as 'ON_FRONTIER' }))).not.toBe(policyDigest(samplePolicy()))
  })

  it('[WIN-9] tells topologies apart by partitions, not by their order', () => {
    const digest = topologyDigest(samplePolicy().sources)
    const refunds = { source: 'refunds', partitions: [0, 4] }
    expect(topologyDigest([refunds, { source: 'orders', partitions: [2, 1, 0] }])).toBe(digest)
    expect(topologyDigest([refunds, { source: 'orders', partitions: [0, 1, 2, 3] }])).not.toBe(digest)
    expect(topologyDigest([refunds])).not.toBe(digest)
    expect(
      topologyDigest([
        { source: 'refunds', partitions: [0, 4] },
        { source: 'order', partitions: [0, 1, 2] },
      ]),
    ).not.toBe(digest)
  })

  it('[WIN-10] [WW-51] covers the clocks of a civil window, so that other zone data are another policy', () => {
    const held = freezePolicy(samplePolicy(berlin))
    const upgraded = freezePolicy(samplePolicy(berlin), () => 'MIN:3600000\n2000000000000:7200000')
    expect(held.digest).not.toBe(upgraded.digest)
    expect(held.topologyDigest).toBe(upgraded.topologyDigest)
    expect(judgeGeneration(held, upgraded)).toEqual({
      kind: 'needs-new-generation',
      changes: [
        {
          path: '$.window.zone',
          held: `clocks ${held.zoneDigest}`,
          offered: `clocks ${upgraded.zoneDigest}`,
        },
      ],
    })
  })

  it('[WIN-10] [WW-51] covers no other zone: an upgrade stops only what it changes', () => {
    const changedElsewhere = (zone: string): string => {
      if (zone !== 'Europe/Berlin') throw new Error(`asked for ${zone}`)
      return 'MIN:3600000'
    }
    const policy = samplePolicy(berlin)
    expect(policyDigest(policy, changedElsewhere)).toBe(policyDigest(policy, () => 'MIN:3600000'))
    const fixed = samplePolicy({ timezone: 'Europe/Berlin' })
    const unasked = (): string => {
      throw new Error('no window of it uses a zone')
    }
    expect(policyDigest(fixed, unasked)).toBe(policyDigest(fixed))
    expect(freezePolicy(fixed).zoneDigest).toBeNull()
  })

  it('[WIN-10] refuses a zone that the pinned data do not have', () => {
    const window = { kind: 'civil', unit: 'day', zone: 'Europe/Atlantis' } as const
    expect(() => policyDigest(samplePolicy({ window }))).toThrow(
      expect.objectContaining({ code: 'TM_WINDOW_ZONE_UNKNOWN' }),
    )
  })
})

describe('a policy that was stored with its digests', () => {
  const frozen = freezePolicy(samplePolicy(berlin))

  it('[WIN-9] is let through where they fit', () => {
    expect(() => checkFrozenPolicy(frozen, 'a test')).not.toThrow()
    expect(() => checkFrozenPolicy(JSON.parse(JSON.stringify(frozen)) as typeof frozen, 'a test')).not.toThrow()
  })

  it.each([
    [{ policy: samplePolicy({ ...berlin, allIdle: 'FLUSH_MAX' }) }, ['digest']],
    [{ digest: 'f'.repeat(64) }, ['digest']],
    [{ topologyDigest: 'f'.repeat(64) }, ['topologyDigest']],
    [{ zoneDigest: 'f'.repeat(64) }, ['digest']],
    [{ zoneDigest: null }, ['digest', 'zoneDigest']],
    [{ policy: samplePolicy({ ...berlin, sources: [] }) }, ['digest', 'topologyDigest']],
  ])('[WIN-9] is damaged where they do not: row %#', (damage, fields) => {
    expect(() => checkFrozenPolicy({ ...frozen, ...damage }, 'the last cut')).toThrow(
      expect.objectContaining({
        code: 'TM_WINDOW_POLICY_DAMAGED',
        message: `the policy of "revenue" generation 3 in the last cut does not have the digests stored with it: ${fields.join(', ')}`,
        details: { where: 'the last cut', businessStream: 'revenue', generation: 3, fields },
      }),
    )
  })
})
