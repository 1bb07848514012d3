import { describe, expect, it } from 'vitest'
import { timeDomainOf } from '../../src/index.ts'
import type { StreamTimePolicy } from '../../src/index.ts'
import { samplePolicy } from '../policy/sample-policy.ts'

const calendarMs = 8.64e15
const day = 86_400_000
const of = (changed: Partial<StreamTimePolicy>): { readonly behindMs: number; readonly aheadMs: number } => {
  const { minMs, maxMs } = timeDomainOf(
    samplePolicy({
      watermark: { kind: 'bounded-out-of-orderness', boundMs: 0 },
      maxFutureSkewMs: 0,
      allowedLatenessMs: 0,
      stateRetentionMs: 0,
      deduplication: { kind: 'none' },
      ...changed,
    }),
  )
  return { behindMs: minMs + calendarMs, aheadMs: calendarMs - maxMs }
}
const tumbling = { kind: 'tumbling', sizeMs: 10, offsetMs: 3 } as const

describe('the event times a policy takes', () => {
  it.each<[string, Partial<StreamTimePolicy>, number]>([
    ['size', { window: tumbling }, 10],
    ['size and lateness', { window: tumbling, allowedLatenessMs: 7, stateRetentionMs: 7 }, 17],
    ['size and retention', { window: tumbling, allowedLatenessMs: 7, stateRetentionMs: 9 }, 19],
    ['ids', { window: tumbling, deduplication: { kind: 'event-id', retainMs: 21 } }, 21],
    ['an interval of corrections', { window: tumbling, corrections: { kind: 'interval', intervalMs: 22 } }, 22],
    ['size of sliding', { window: { kind: 'sliding', sizeMs: 10, slideMs: 4, offsetMs: 0 }, stateRetentionMs: 5 }, 15],
    ['two gaps and lateness', { window: { kind: 'session', gapMs: 30 }, stateRetentionMs: 5 }, 65],
  ])('[WIN-8] leave room ahead for %s', (_, changed, aheadMs) => {
    expect(of(changed).aheadMs).toBe(aheadMs)
  })

  it.each<[string, Partial<StreamTimePolicy>, number]>([
    ['the first window that no longer holds it', { window: tumbling }, 20],
    ['the bound', { window: tumbling, watermark: { kind: 'bounded-out-of-orderness', boundMs: 21 } }, 21],
    ['the skew', { window: tumbling, maxFutureSkewMs: 22 }, 22],
  ])('[WIN-8] leave room behind for %s', (_, changed, behindMs) => {
    expect(of(changed).behindMs).toBe(behindMs)
  })

  it('[WIN-8] end with the zone data where a window is civil', () => {
    const until = Date.UTC(2500, 0, 1)
    const domain = timeDomainOf(samplePolicy({ window: { kind: 'civil', unit: 'day', zone: 'UTC' } }))
    expect(domain.maxMs).toBe(until - day)
    // Berlin: local time before 1893 was 0:53:28, and in the summer of 1945 it was 3:00.
    const berlin = timeDomainOf(samplePolicy({ window: { kind: 'civil', unit: 'week', zone: 'Europe/Berlin' } }))
    expect(berlin.maxMs).toBe(until - 7 * day - (3 * 3_600_000 - (53 * 60_000 + 28_000)))
  })

  it('[WIN-8] refuse a zone that is not there', () => {
    const window = { kind: 'civil', unit: 'day', zone: 'Europe/Atlantis' } as const
    expect(() => timeDomainOf(samplePolicy({ window }))).toThrow(
      expect.objectContaining({ code: 'TM_WINDOW_ZONE_UNKNOWN' }),
    )
  })
})
