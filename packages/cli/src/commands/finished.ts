import { systemClock, withDeadline } from '@tidemark/core'
import type { Style } from '../render/style.ts'
import type { ReportHead } from '../reports/report.ts'

/** How a command ended: the report, and the same for people. */
export interface Finished {
  readonly report: ReportHead
  render(style: Style): readonly string[]
}

/** How long closing may hold up a finished command; what stays open ends with the process. */
const closeMsMax = 2_000

/** Closes what a command opened. A service that hangs while closing must not hold back the verdict. */
export async function closeQuietly(...opened: readonly { close(): Promise<void> }[]): Promise<void> {
  const closing = Promise.allSettled(opened.map((each) => each.close()))
  await withDeadline(systemClock, 'closing', closeMsMax, closing).catch(() => undefined)
}
