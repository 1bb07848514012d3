// Reading order: time, policy (words).
export { FRONTIER_MAX, FRONTIER_MIN } from './time/frontier-time.ts'
export type { Frontier } from './time/frontier-time.ts'
export { POLICY_SCHEMA } from './policy/stream-time-policy.ts'
export type { StreamTimePolicy } from './policy/stream-time-policy.ts'
export { placeOf } from './envelope/input-partition.ts'
export type { InputPartition } from './envelope/input-partition.ts'
export type { Envelope } from './envelope/envelope.ts'
export { checkEnvelope } from './envelope/check-envelope.ts'
export type { EnvelopeFault, EnvelopeLimits } from './envelope/check-envelope.ts'
export { checkPlace } from './envelope/check-place.ts'
export { envelopeWitness } from './envelope/envelope-witness.ts'
export { createPartitionPositions } from './envelope/partition-positions.ts'
export type {
  HoleVerdict,
  PartitionPositions,
  PositionsOptions,
  PositionsStart,
  PositionVerdict,
} from './envelope/partition-positions.ts'
export type { PartitionPosition, PositionsState } from './envelope/positions-state.ts'
export type { StateProblem } from './envelope/state-problem.ts'
export type { ActiveMark, FinishedMark, IdleMark, Mark, PartitionStatus } from './frontier/marks.ts'
export { judgeMark } from './frontier/judge-mark.ts'
export type { MarkedPartition, MarkRejection, MarkVerdict } from './frontier/judge-mark.ts'
export { judgeQuiet } from './frontier/judge-quiet.ts'
export type { QuietProbe, QuietVerdict } from './frontier/judge-quiet.ts'
export { BOUND_MAX_MS, createFrontierTracker } from './frontier/frontier-tracker.ts'
export type { FrontierOptions, FrontierTracker } from './frontier/frontier-tracker.ts'
export type { FrontierStart } from './frontier/frontier-start.ts'
export type { FrontierState, PartitionFrontier, StoredFrontier } from './frontier/frontier-state.ts'
export { frontierReport } from './frontier/frontier-report.ts'
export type { FrontierHolder, FrontierReport, PartitionReport } from './frontier/frontier-report.ts'
export { windowErrors } from './errors.ts'
