import type { LogCase } from './log-fixture.ts'
import { logGapCases } from './log-gap-cases.ts'
import { logInspectionCases } from './log-inspection-cases.ts'
import { logReadingCases } from './log-reading-cases.ts'

/** Every law of the CommittedLog and TopicInspector ports. An adapter that passes them all may be projected from. */
export const committedLogCases: readonly LogCase[] = [...logReadingCases, ...logGapCases, ...logInspectionCases]
