import { createCancelSource } from '@tidemark/core'
import type { Clock } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import type { IdentityGuard } from '../../src/runtime/run/identity-guard.ts'
import { createLeaseLoop } from '../../src/runtime/run/lease-loop.ts'
import type { RunContext } from '../../src/runtime/run/run-context.ts'
import { bounds, identity } from '../planner-input.ts'

const leaseMs = 1_000
const stallMsMax = 5_000
/** Unlike every pause of the loop, so that the deadlines of a port never pass here. */
const inspectMsMax = 90_000

/** Runs the loop for one lease, with a store that read itself at `storeReadAtMs`, and looks when the next one is due. */
async function afterOneLease(storeReadAtMs: number) {
  const cancel = createCancelSource()
  let nowMs = 0
  const clock: Clock = {
    monotonicMs: () => nowMs,
    wallMs: () => nowMs,
    sleep: async (durationMs) => {
      if (durationMs >= inspectMsMax) return new Promise(() => undefined)
      nowMs += durationMs
    },
  }
  let confirmedAtMs = -1
  let checks = 0
  const guard = {
    freshVerdict: async () => {
      checks += 1
      if (checks === 2) {
        confirmedAtMs = loop.confirmedAtMs
        cancel.cancel()
      }
      return { kind: 'proven', identity } as const
    },
  } as unknown as IdentityGuard
  const partitions = [bounds(0, 0, 9), bounds(1, 0, 9)]
  const context = {
    options: {
      clock,
      leaseMs,
      limits: { stallMsMax, inspectMsMax },
      topic: identity.topic,
      log: { inspector: { readBounds: async () => ({ kind: 'bounds', partitions }) } },
    },
    signal: cancel.signal,
    lanes: [],
    laneOf: new Map(),
    start: { plan: { identity } },
  } as unknown as RunContext<never>
  const loop = createLeaseLoop(context, guard, { process: 'p', recheck: async () => storeReadAtMs })
  await loop.run()
  const expiredAt = (atMs: number): boolean => {
    nowMs = atMs
    return loop.expired()
  }
  return { confirmedAtMs, expiredAt }
}

describe('the lease', () => {
  it.each([
    ['begun when it was asked for', 1_000, 1_000],
    ['under way already', 400, 400],
  ])('[CKP-39] counts from the beginning of the reading of the store, one %s', async (_name, storeReadAtMs, due) => {
    const { confirmedAtMs, expiredAt } = await afterOneLease(storeReadAtMs)
    expect(confirmedAtMs).toBe(due)
    expect(expiredAt(due + leaseMs + stallMsMax)).toBe(false)
    expect(expiredAt(due + leaseMs + stallMsMax + 1)).toBe(true)
  })
})
