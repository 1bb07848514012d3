import type { CancelSignal } from './clock.ts'

/** The side of a cancellation that asks for the end; its signal is handed to whoever must stop. */
export interface CancelSource {
  readonly signal: CancelSignal
  /** Ends everything that listens, once; later calls do nothing. */
  cancel(): void
}

/** A cancellation that needs no host types; an `AbortController` serves as well where there is one. */
export function createCancelSource(): CancelSource {
  const listeners = new Set<() => void>()
  let aborted = false
  const signal: CancelSignal = {
    get aborted() {
      return aborted
    },
    addEventListener: (_type, listener) => {
      // An AbortSignal never calls a listener that was added too late, so callers check `aborted` themselves.
      if (!aborted) listeners.add(listener)
    },
    removeEventListener: (_type, listener) => void listeners.delete(listener),
  }
  return {
    signal,
    cancel() {
      if (aborted) return
      aborted = true
      for (const listener of [...listeners]) listener()
      listeners.clear()
    },
  }
}
