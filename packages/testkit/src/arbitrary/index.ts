// Reading order: drawn-log, drawn-store (the two sides of a start) -> start-state (both together) -> log-history (what
// happens to a log over time).
export {
  boundsAnswer,
  identityChange,
  logIdentity,
  mostly,
  nearOffset,
  recordOf,
  settingsAnswer,
  soundBounds,
  surveyOutcome,
} from './drawn-log.ts'
export { damagedText, fieldDamage, storeFacts } from './drawn-store.ts'
export { startState } from './start-state.ts'
export { createHistoryPlayer, logHistory } from './log-history.ts'
export type { HistoryPlayer, LogEvent, LogHistoryOptions } from './log-history.ts'
