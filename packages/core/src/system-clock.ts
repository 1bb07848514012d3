import type { CancelSignal, Clock } from './clock.ts'

// The pure packages compile without host types; this file alone names the three host functions that time needs.
declare const performance: { now(): number }
declare function setTimeout(callback: () => void, delayMs: number): unknown
declare function clearTimeout(handle: unknown): void

/** The host's own time. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (durationMs: number, signal?: CancelSignal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const finish = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', finish)
        resolve()
      }
      const timer = setTimeout(finish, durationMs)
      signal?.addEventListener('abort', finish, { once: true })
    }),
}
