import { dirtyRunbook } from '@tidemark/checkpoint'
import type {
  DirtyReason,
  OpenQuestion,
  PlanVerdict,
  RebuildProblem,
  RebuildVerdict,
  StartPlan,
} from '@tidemark/checkpoint'
import { verdicts } from '../verdicts.ts'
import type { Verdict } from '../verdicts.ts'
import { printable } from '../render/printable.ts'
import { boundedList, boundedMap } from './bounded-list.ts'
import type { BoundedList } from './bounded-list.ts'
import { MESSAGE_LENGTH_MAX, reasonLine, refusalVerdict, shownValues } from './reason-line.ts'
import { REPORT_VERSION } from './report.ts'
import type { ReasonLine, ReportHead } from './report.ts'

/** What `rebuild` prints. */
export interface RebuildReport extends ReportHead<'rebuild'> {
  /** The namespace being left; it stays as it is. */
  readonly from: string
  /** The namespace that is built. */
  readonly into: string
  readonly topic: string
  readonly store: string
  readonly log: string
  /** `shared` takes the fences of the old namespace first, so that its writer stops. */
  readonly data: 'new-prefix' | 'shared'
  /** False: nothing was changed. */
  readonly executed: boolean
  readonly problems: BoundedList<RebuildProblem>
  readonly refusals: BoundedList<ReasonLine>
  /** Of a look: reasons for which the start may still be refused, since only the start itself asks about them. */
  readonly leftOpen: BoundedList<OpenQuestion>
  /** Absent where the start was not planned. */
  readonly plan?: { readonly partitions: number; readonly toRead: string }
  readonly applied?: { readonly records: number; readonly quarantined: number }
  /** Why the projection stopped on the way. */
  readonly dirty?: ReasonLine
}

/** What is the same in every report of one call. */
export type RebuildFrame = Pick<RebuildReport, 'from' | 'into' | 'topic' | 'store' | 'log' | 'data' | 'executed'>

/** The report of a rebuild that was only looked at, or that did not start. */
export function rebuildReport(frame: RebuildFrame, outcome: RebuildVerdict, limit: number): RebuildReport {
  switch (outcome.kind) {
    case 'refused':
      return { ...framed(frame, 'refused'), problems: boundedMap(outcome.problems, limit, (problem) => problem) }
    case 'start-refused': {
      const { refusals } = outcome.start as Extract<PlanVerdict, { kind: 'refused' }>
      return { ...framed(frame, refusalVerdict(refusals)), refusals: boundedMap(refusals, limit, reasonLine) }
    }
    case 'would-start':
      return {
        ...framed(frame, 'would-start'),
        leftOpen: boundedList(outcome.leftOpen, limit),
        plan: planLine(outcome.plan),
      }
  }
}

/** How a rebuild that started came to its end. */
export type RebuildEnd =
  { readonly kind: 'rebuilt' | 'interrupted' } | { readonly kind: 'dirty'; readonly reason: DirtyReason }

/** The report of a rebuild that was begun. */
export function begunReport(
  frame: RebuildFrame,
  plan: StartPlan,
  applied: NonNullable<RebuildReport['applied']>,
  end: RebuildEnd,
): RebuildReport {
  const report = { ...framed(frame, end.kind), plan: planLine(plan), applied }
  if (end.kind !== 'dirty') return report
  const { code, partition, message, values, remedy } = end.reason
  const where = partition === undefined ? {} : { partition }
  return {
    ...report,
    dirty: {
      code,
      ...where,
      message: printable(message, MESSAGE_LENGTH_MAX),
      values: shownValues(values),
      remedy,
      runbook: dirtyRunbook(code),
    },
  }
}

function framed(frame: RebuildFrame, verdict: Verdict): RebuildReport {
  const none = { total: 0, items: [] }
  const head = { version: REPORT_VERSION, command: 'rebuild', verdict, exitCode: verdicts[verdict].exitCode } as const
  return { ...head, ...frame, problems: none, refusals: none, leftOpen: none }
}

function planLine(plan: StartPlan): NonNullable<RebuildReport['plan']> {
  const toRead = plan.partitions.reduce((sum, { target, nextOffset }) => sum + (target - nextOffset), 0n)
  return { partitions: plan.partitions.length, toRead: String(toRead) }
}
