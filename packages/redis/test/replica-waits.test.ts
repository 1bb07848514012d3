import { describe, expect, it } from 'vitest'
import type { RedisLink } from '../src/connection/redis-link.ts'
import { createReplicaWaits } from '../src/checkpoint/wait-replicas.ts'
import type { ReplicationReport } from '../src/checkpoint/wait-replicas.ts'

interface Scene {
  /** Steps whose work lasts until they are let go. */
  step(partition: number): { readonly done: Promise<void>; confirm(): void }
  /** The questions that were sent, each with its answer still to give. */
  readonly asked: { answer(count: number): void; fail(): void }[]
  readonly begun: number[]
  readonly reports: ReplicationReport[]
}

function scene(commandDeadlineMs = 2_000): Scene {
  const asked: Scene['asked'] = []
  const begun: number[] = []
  const reports: ReplicationReport[] = []
  const link = {
    send: () =>
      new Promise((resolve, reject) => {
        asked.push({ answer: resolve, fail: () => reject(new Error('cut')) })
      }),
  } as unknown as RedisLink
  const onReplication = (report: ReplicationReport): void => void reports.push(report)
  const waits = createReplicaWaits({ count: 1, timeoutMs: 10, onReplication }, { commandDeadlineMs })
  return {
    asked,
    begun,
    reports,
    step(partition) {
      let confirm!: () => void
      const confirmed = new Promise<void>((resolve) => (confirm = resolve))
      const startedAtMs = performance.now()
      const work = (): Promise<void> => (begun.push(partition), confirmed)
      const done = waits.during(link, work).then(() => waits.report({ link, startedAtMs }, partition))
      return { done, confirm }
    },
  }
}

const settled = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0))

describe('questions to replicas', () => {
  it('[RED-27] sixteen steps in flight share one, which is asked when the last of them is confirmed', async () => {
    const { step, asked, reports } = scene()
    const steps = Array.from({ length: 16 }, (_, partition) => step(partition))
    for (const each of steps.slice(0, 15)) each.confirm()
    await settled()
    expect(asked).toHaveLength(0)
    steps[15]!.confirm()
    await settled()
    expect(asked).toHaveLength(1)
    asked[0]!.answer(1)
    await Promise.all(steps.map(({ done }) => done))
    expect(asked).toHaveLength(1)
    expect(reports.map(({ partition }) => partition).sort((a, b) => a - b)).toEqual(steps.map((_, index) => index))
    expect(reports.every(({ acknowledged, isReplicated }) => acknowledged === 1 && isReplicated)).toBe(true)
  })

  it('[RED-27] steps that come while one is under way begin after it, and share the next', async () => {
    const { step, asked, begun, reports } = scene()
    const first = step(0)
    first.confirm()
    await settled()
    const later = [step(1), step(2)]
    for (const each of later) each.confirm()
    await settled()
    expect([begun, asked.length]).toEqual([[0], 1])
    asked[0]!.answer(1)
    await first.done
    await settled()
    expect([begun, asked.length]).toEqual([[0, 1, 2], 2])
    asked[1]!.answer(0)
    await Promise.all(later.map(({ done }) => done))
    expect(reports.map(({ partition, isReplicated }) => [partition, isReplicated])).toEqual([
      [0, true],
      [1, false],
      [2, false],
    ])
  })

  it('[RED-27] one that fails tells of no replica, rejects nothing, and holds nobody up', async () => {
    const { step, asked, reports } = scene()
    const first = step(0)
    first.confirm()
    await settled()
    asked[0]!.fail()
    await first.done
    expect(reports).toEqual([{ partition: 0, wanted: 1, acknowledged: 0, isReplicated: false }])
    const second = step(1)
    second.confirm()
    await settled()
    asked[1]!.answer(1)
    await second.done
    expect(reports.at(-1)).toMatchObject({ partition: 1, isReplicated: true })
  })

  it('[RED-27] [RED-2] one that is never answered is told as no replica by the deadline of the step', async () => {
    const { step, reports } = scene(60)
    const first = step(0)
    first.confirm()
    const startedAtMs = performance.now()
    await first.done
    expect(performance.now() - startedAtMs).toBeLessThan(1_000)
    expect(reports).toEqual([{ partition: 0, wanted: 1, acknowledged: 0, isReplicated: false }])
  })

  it('[RED-27] a wait that does not fit twice into the deadline is refused', () => {
    for (const timeoutMs of [1_000, 2_000]) {
      expect(() => createReplicaWaits({ count: 1, timeoutMs }, { commandDeadlineMs: 2_000 })).toThrow(
        expect.objectContaining({
          code: 'TM_CHECKPOINT_OPTION_INVALID',
          details: expect.objectContaining({ option: 'waitReplicas.timeoutMs' }) as object,
        }),
      )
    }
    expect(createReplicaWaits({ count: 1, timeoutMs: 999 }, { commandDeadlineMs: 2_000 })).toBeDefined()
  })
})
