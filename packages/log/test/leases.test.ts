import { checkEnded, checkStarted, decideFetch, decideIdleLease, fetchReturned, newIdentityLease } from '@tidemark/log'
import type { IdentityLease, SurveyVerdict } from '@tidemark/log'
import { topicIdOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

const identity = {
  clusterId: 'c',
  topic: 't',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 1,
}
const proven: SurveyVerdict = { kind: 'proven', identity }
const unproven: SurveyVerdict = { kind: 'unproven', brokerId: 1, reason: 'timeout', message: 'slow' }
const mismatch: SurveyVerdict = { kind: 'mismatch', brokerId: 2, differences: [] }
const stallMsMax = 100
const start = newIdentityLease(0)
const decide = (lease: IdentityLease, fetch: number, nowMs = 0) => decideFetch(lease, fetch, nowMs, stallMsMax)

describe('the identity lease', () => {
  it('[LOG-5] holds a fetch until a check that started after it is proven', () => {
    let lease = fetchReturned(start)
    expect(decide(lease, 1)).toEqual({ kind: 'hold', needsCheck: true })
    lease = checkStarted(lease)
    expect(decide(lease, 1)).toEqual({ kind: 'hold', needsCheck: false })
    lease = checkEnded(lease, proven, 5)
    expect(decide(lease, 1)).toEqual({ kind: 'apply' })
    expect(lease.provenAtMs).toBe(5)
  })

  it('[LOG-5] a check under way does not cover a fetch that returned meanwhile', () => {
    let lease = checkStarted(fetchReturned(start))
    lease = fetchReturned(lease)
    lease = checkEnded(lease, proven, 1)
    expect(decide(lease, 1)).toEqual({ kind: 'apply' })
    expect(decide(lease, 2)).toEqual({ kind: 'hold', needsCheck: true })
  })

  it('[LOG-5] a check that began before any fetch covers none', () => {
    const lease = checkEnded(fetchReturned(checkStarted(start)), proven, 1)
    expect(decide(lease, 1).kind).toBe('hold')
  })

  it('[LOG-5] of two checks that overlap, the earlier end is not credited with the later start', () => {
    let lease = checkStarted(fetchReturned(start))
    lease = checkStarted(fetchReturned(lease))
    // Only one of the two has ended, and nothing says that it was the one that started last.
    lease = checkEnded(lease, proven, 1)
    expect(decide(lease, 2).kind).toBe('hold')
  })

  it('[LOG-5] one proof covers every fetch before its start', () => {
    const fetched = fetchReturned(fetchReturned(fetchReturned(start)))
    const lease = checkEnded(checkStarted(fetched), proven, 1)
    for (const fetch of [1, 2, 3]) expect(decide(lease, fetch)).toEqual({ kind: 'apply' })
  })

  it('[LOG-6] a contradiction is final, for proven fetches too', () => {
    let lease = checkEnded(checkStarted(fetchReturned(start)), proven, 1)
    lease = checkEnded(checkStarted(lease), mismatch, 2)
    expect(decide(lease, 1)).toEqual({ kind: 'broken', verdict: mismatch })
    lease = checkEnded(checkStarted(lease), proven, 3)
    expect(decide(lease, 1)).toEqual({ kind: 'broken', verdict: mismatch })
    const other: SurveyVerdict = { kind: 'mismatch', brokerId: 3, differences: [] }
    expect(checkEnded(checkStarted(lease), other, 4).broken).toBe(mismatch)
  })

  it('[LOG-6] no answer holds, and stalls once it has lasted too long, counted from the first', () => {
    let lease = checkEnded(checkStarted(fetchReturned(start)), unproven, 10)
    lease = checkEnded(checkStarted(lease), unproven, 90)
    expect(decide(lease, 1, 110)).toEqual({ kind: 'hold', needsCheck: true })
    expect(decide(lease, 1, 111)).toEqual({ kind: 'stalled', unansweredMs: 101 })
    lease = checkEnded(checkStarted(lease), proven, 112)
    expect(decide(lease, 1, 500)).toEqual({ kind: 'apply' })
    expect(lease.unansweredSinceMs).toBeUndefined()
  })
})

describe('the idle lease', () => {
  it.each([
    [0, { kind: 'fresh', dueInMs: 50 }],
    [49, { kind: 'fresh', dueInMs: 1 }],
    [50, { kind: 'due' }],
    [150, { kind: 'due' }],
    [151, { kind: 'expired', ageMs: 151 }],
  ])('[LOG-7] after %i ms', (ageMs, decision) => {
    expect(decideIdleLease({ leaseMs: 50, stallMsMax, confirmedAtMs: 1_000 }, 1_000 + ageMs)).toEqual(decision)
  })
})
