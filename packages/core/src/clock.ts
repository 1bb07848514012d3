/**
 * A request to stop early. An `AbortSignal` fits as it is.
 */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** PORT: where time comes from. Leases and deadlines use the monotonic reading, records and logs the wall clock. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back when the wall clock is set. */
  monotonicMs(): number
  /** Epoch milliseconds. */
  wallMs(): number
  /** Resolves after a time, or as soon as the signal is aborted. Never rejects. */
  sleep(durationMs: number, signal?: CancelSignal): Promise<void>
}
