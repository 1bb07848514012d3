import { isTidemarkError, withDeadline } from '@tidemark/core'
import { createManualClock } from '@tidemark/testkit/sim'
import { describe, expect, it } from 'vitest'

describe('manual clock', () => {
  it('[TST-1] wakes sleepers at their own time and in order', async () => {
    const clock = createManualClock()
    const woken: string[] = []
    const sleep = async (name: string, durationMs: number): Promise<void> => {
      await clock.sleep(durationMs)
      woken.push(`${name}@${clock.monotonicMs()}`)
    }
    void sleep('late', 30)
    void sleep('early', 10).then(() => sleep('again', 10))
    await clock.advance(20)
    expect(woken).toEqual(['early@10', 'again@20'])
    await clock.advance(100)
    expect(woken.at(-1)).toBe('late@30')
    expect(clock.monotonicMs()).toBe(120)
  })

  it('[TST-1] ends an aborted sleep at once and forgets it', async () => {
    const clock = createManualClock()
    const controller = new AbortController()
    const slept = clock.sleep(1_000, controller.signal)
    controller.abort()
    await slept
    expect(clock.sleeping).toBe(0)
    expect(clock.monotonicMs()).toBe(0)
  })

  it('[TST-1] jumps over idle hours, and not while held', async () => {
    const clock = createManualClock({ advances: 'idle' })
    const release = clock.hold()
    const slept = clock.sleep(3_600_000)
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(clock.monotonicMs()).toBe(0)
    release()
    await slept
    expect(clock.monotonicMs()).toBe(3_600_000)
  })

  it('[TST-1] ends a deadline over a promise that never settles', async () => {
    const clock = createManualClock({ advances: 'idle' })
    const error: unknown = await withDeadline(clock, 'nothing', 500, new Promise(() => undefined)).catch(
      (e: unknown) => e,
    )
    expect(isTidemarkError(error, 'TM_CORE_DEADLINE_EXCEEDED')).toBe(true)
    expect(clock.sleeping).toBe(0)
  })
})
