import { offsetOf, systemClock } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createWriteBuffer } from '../../src/index.ts'
import type { AdvanceOutcome, AdvanceRequest, DirtyReason } from '../../src/index.ts'
import { createApplyScheduler } from '../../src/runtime/run/apply-scheduler.ts'
import type { IdentityGuard } from '../../src/runtime/run/identity-guard.ts'
import { createPartitionLane } from '../../src/runtime/run/partition-lane.ts'
import { noRunCounts } from '../../src/runtime/run/run-context.ts'
import type { RunContext } from '../../src/runtime/run/run-context.ts'
import { createStepApplier } from '../../src/runtime/run/step-applier.ts'
import type { StoreWatch } from '../../src/runtime/run/store-watch.ts'
import { identity } from '../planner-input.ts'

const fence = { epoch: 1n, nonce: '0'.repeat(32) }
const zero = offsetOf(0)
const guard = { decide: () => ({ kind: 'apply' }), lease: { proven: 1 } } as unknown as IdentityGuard

function record(offset: number): LogRecord {
  return { partition: 0, offset: offsetOf(offset), leaderEpoch: 0, timestampMs: 0, key: null, value: null, headers: [] }
}

/** Applies records, one a step, to a store that answers as said by how often it was asked. */
async function applied(records: number, answer: (asked: number, request: AdvanceRequest<never>) => AdvanceOutcome) {
  const bounds = { partition: 0, low: zero, lastStableOffset: offsetOf(records), highWatermark: offsetOf(records) }
  const lane = createPartitionLane({ partition: 0, nextOffset: zero, target: zero, origin: 'checkpoint', bounds })
  lane.enqueue({ partition: 0, records: Array.from({ length: records }, (_, n) => record(n)) }, 1)
  const failures: DirtyReason[] = []
  let [asked, rechecks] = [0, 0]
  const context = {
    options: {
      store: {
        stepLimits: { writesMax: 10, bytesMax: 10_000 },
        newWrites: () => createWriteBuffer({ reservedPrefix: 'ns:' }),
        advance: async (request: AdvanceRequest<never>) => answer((asked += 1), request),
      },
      clock: systemClock,
      limits: { batchRecordsMax: 1, queuedRecordsMax: 100 },
      undecodable: 'stop',
      project: () => undefined,
    },
    start: { plan: { identity }, claim: { fences: new Map([[0, fence]]) } },
    signal: { aborted: false },
    counts: noRunCounts(),
    fail: (reason: DirtyReason) => failures.push(reason),
    notify: () => undefined,
  }
  // What is under test does not rely on what the watch does: here it finds nothing and adopts nothing.
  const watch: StoreWatch = { process: 'held', recheck: async () => (rechecks += 1) }
  const { applyStep } = createStepApplier(context as unknown as RunContext<never>, guard, watch, () => undefined)
  const scheduler = createApplyScheduler(1, applyStep)
  scheduler.kick(lane)
  await scheduler.whenIdle()
  return { asked, rechecks, failures, counts: context.counts, next: lane.next }
}

const changed: AdvanceOutcome = { kind: 'process-changed', process: 'another' }
const advanced = { kind: 'advanced', resent: false } as AdvanceOutcome

describe('applying steps', () => {
  it('[CKP-81] a store that says for ever that its process changed ends the projection instead of spinning', async () => {
    const { asked, rechecks, failures, counts, next } = await applied(1, () => changed)
    expect(failures).toMatchObject([
      { code: 'STORE_FAILED', partition: 0, values: { times: 17, held: 'held', found: 'another' } },
    ])
    expect({ asked, rechecks, next, applied: counts.recordsApplied }).toEqual({
      asked: 17,
      rechecks: 16,
      next: 0n,
      applied: 0,
    })
  })

  it('[CKP-81] any number of changes is followed while steps are confirmed in between', async () => {
    // Sixteen changes before each of five steps.
    const { failures, counts, next } = await applied(5, (asked) => (asked % 17 === 0 ? advanced : changed))
    expect(failures).toEqual([])
    expect({ next, applied: counts.recordsApplied, conflicts: counts.conflicts }).toEqual({
      next: 5n,
      applied: 5,
      conflicts: 80,
    })
  })
})
