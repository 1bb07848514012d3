import {
  checkLimit,
  createCancelSource,
  durationOf,
  EVENT_TIME_MAX_MS,
  eventTimeOf,
  isTidemarkError,
} from '@tidemark/core'
import { systemClock, withDeadline } from '@tidemark/core'
import type { CancelSignal, Clock } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

/** A clock whose sleepers wake only when told, and that shows how many wait. */
function stillClock(): Clock & { readonly waiting: Set<() => void> } {
  const waiting = new Set<() => void>()
  return {
    waiting,
    monotonicMs: () => 0,
    wallMs: () => 0,
    sleep: (_: number, signal?: CancelSignal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
        signal?.addEventListener('abort', wake, { once: true })
      }),
  }
}

describe('times', () => {
  it('[COR-4] are whole milliseconds inside the calendar', () => {
    for (const value of [0, -1, 1_700_000_000_000, EVENT_TIME_MAX_MS, -EVENT_TIME_MAX_MS]) {
      expect(eventTimeOf(value)).toBe(value)
    }
    for (const value of [0.5, Number.NaN, Infinity, EVENT_TIME_MAX_MS + 1, -EVENT_TIME_MAX_MS - 1]) {
      expect(() => eventTimeOf(value, 'created_at')).toThrow(/^created_at: /)
    }
    expect(() => eventTimeOf(0.5)).toThrow(expect.objectContaining({ code: 'TM_CORE_TIME_INVALID' }))
    expect(durationOf(0)).toBe(0)
    for (const value of [-1, 0.5, Number.NaN]) expect(() => durationOf(value)).toThrow(/is not a time/)
  })
})

describe('deadlines and cancelling', () => {
  it('[COR-10] pass an outcome through and leave no timer behind', async () => {
    const clock = stillClock()
    expect(await withDeadline(clock, 'reading', 10, Promise.resolve(7))).toBe(7)
    await expect(withDeadline(clock, 'reading', 10, Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect(clock.waiting.size).toBe(0)
  })

  it('[COR-10] end the wait with a typed error that says what was waited for', async () => {
    const clock = stillClock()
    const waited = withDeadline(clock, 'reading', 10, new Promise(() => undefined))
    for (const wake of [...clock.waiting]) wake()
    const error: unknown = await waited.catch((thrown: unknown) => thrown)
    expect(isTidemarkError(error, 'TM_CORE_DEADLINE_EXCEEDED')).toBe(true)
    expect(error).toMatchObject({ message: 'reading did not answer within 10 ms', retriable: true })
  })

  it('[COR-10] a late rejection after the deadline is nobody’s unhandled one', async () => {
    const clock = stillClock()
    let reject: (error: Error) => void = () => undefined
    const waited = withDeadline(clock, 'reading', 10, new Promise((_, late) => (reject = late)))
    for (const wake of [...clock.waiting]) wake()
    await expect(waited).rejects.toThrow(/did not answer/)
    reject(new Error('late'))
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('[COR-10] a cancellation reaches every listener once, and none that was taken off', () => {
    const source = createCancelSource()
    const heard: string[] = []
    const gone = (): void => void heard.push('gone')
    source.signal.addEventListener('abort', () => void heard.push('a'))
    source.signal.addEventListener('abort', gone)
    source.signal.addEventListener('abort', () => void heard.push('b'))
    source.signal.removeEventListener('abort', gone)
    expect(source.signal.aborted).toBe(false)
    source.cancel()
    source.cancel()
    expect(source.signal.aborted).toBe(true)
    expect(heard).toEqual(['a', 'b'])
  })

  it('[COR-10] the host clock sleeps, and wakes at once when cancelled', async () => {
    const startedMs = systemClock.monotonicMs()
    await systemClock.sleep(15)
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(14)
    const controller = new AbortController()
    const slept = systemClock.sleep(60_000, controller.signal)
    controller.abort()
    await slept
    await systemClock.sleep(60_000, controller.signal)
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(30_000)
    expect(Math.abs(systemClock.wallMs() - Date.now())).toBeLessThan(1_000)
  })
})

describe('limits', () => {
  it('[COR-11] are whole numbers inside their range, or refused by name', () => {
    const range = { min: 1, max: 10 }
    expect(checkLimit('batchRecordsMax', 1, range)).toBe(1)
    expect(checkLimit('batchRecordsMax', 10, range)).toBe(10)
    for (const value of [0, 11, 1.5, Number.NaN, Infinity, '5' as unknown as number]) {
      expect(() => checkLimit('batchRecordsMax', value, range)).toThrow(/^limit batchRecordsMax is .* from 1 to 10$/)
    }
  })
})
