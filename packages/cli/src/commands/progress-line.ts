import { systemClock } from '@tidemark/core'
import type { CommandHost } from '../host.ts'

/** Writes a line to standard error now and then, however often it is called. */
export interface ProgressLine {
  tell(text: () => string): void
}

/** At most one line for every interval, the first after one; silent where nobody wants it. */
export function createProgressLine(host: CommandHost, wanted: boolean, intervalMs: number = 1_000): ProgressLine {
  let nextMs = systemClock.monotonicMs() + intervalMs
  return {
    tell(text) {
      const nowMs = systemClock.monotonicMs()
      if (!wanted || nowMs < nextMs) return
      nextMs = nowMs + intervalMs
      host.stderr.write(`${text()}\n`)
    },
  }
}
