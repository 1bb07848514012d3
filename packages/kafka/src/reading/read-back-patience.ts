import { systemClock } from '@tidemark/core'
import type { ReadBackRequest } from '@tidemark/log'

/** How long a read-back goes on. */
export interface ReadBackPatience {
  /** Milliseconds left until it is given up unless another sign comes; zero or less when its time is up. */
  remainingMs(): number
  /** The log served the reading until then. A moment ahead is the end of a rest that a broker asked for. */
  served(untilMs: number): void
  /** Why it is given up. */
  reason(): string
}

/**
 * Bounded twice: silence by `deadlineMs`, everything together by `totalMsMax`. Without the second the first bounds
 * everything. Promises: KAF-10.
 */
export function newReadBackPatience({
  deadlineMs,
  totalMsMax,
}: Pick<ReadBackRequest, 'deadlineMs' | 'totalMsMax'>): ReadBackPatience {
  const wholeMs = totalMsMax ?? deadlineMs
  const beganMs = systemClock.monotonicMs()
  let servedMs = beganMs
  const totalEndMs = beganMs + wholeMs
  return {
    remainingMs: () => Math.min(totalEndMs, servedMs + deadlineMs) - systemClock.monotonicMs(),
    served(untilMs) {
      servedMs = Math.max(servedMs, untilMs)
    },
    reason: () =>
      totalEndMs <= servedMs + deadlineMs
        ? `no record and no end within ${wholeMs} ms`
        : `no record and no end, and nothing came for ${deadlineMs} ms`,
  }
}
