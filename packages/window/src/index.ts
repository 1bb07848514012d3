// Reading order: time, policy (words) -> envelope (records and their places) -> frontier (claims, marks, report) -> civil, assign,
// accumulate -> errors.
export { FRONTIER_MAX, FRONTIER_MIN } from './time/frontier-time.ts'
export type { Frontier } from './time/frontier-time.ts'
export { timeDomainOf, windowSpanMaxMs } from './time/time-domain.ts'
export type { ReachingFields, TimeDomain } from './time/time-domain.ts'
export { POLICY_SCHEMA } from './policy/stream-time-policy.ts'
export type {
  BoundedOutOfOrderness,
  CivilWindow,
  CorrectionCoalescing,
  Deduplication,
  NameAtVersion,
  PolicyJob,
  PolicySource,
  SessionWindow,
  SlidingWindow,
  StreamTimePolicy,
  TumblingWindow,
  WindowShape,
} from './policy/stream-time-policy.ts'
export { readDuration, renderDuration } from './policy/duration.ts'
export type { DurationReading } from './policy/duration.ts'
export { policyProblems, renderProblem } from './policy/policy-problem.ts'
export type { PolicyProblem, PolicyProblemCode } from './policy/policy-problem.ts'
export { PARTITIONS_MAX, WINDOWS_PER_EVENT_MAX } from './policy/policy-rules.ts'
export type { AggregateAbilities } from './policy/policy-rules.ts'
export { policyProfileNames } from './policy/policy-profile.ts'
export type { PolicyFilling, PolicyProfileName } from './policy/policy-profile.ts'
export { POLICY_TEXT_CHARACTERS_MAX, renderCompactPolicy } from './policy/compact/compact-policy.ts'
export { parsePolicy, requirePolicy } from './policy/parse-policy.ts'
export type { ParsePolicyOptions, PolicyDeployment, PolicyReading } from './policy/parse-policy.ts'
export { manifestDigest } from './policy/job-manifest.ts'
export type { JobManifest } from './policy/job-manifest.ts'
export { topologyDigest } from './policy/topology-digest.ts'
export { checkFrozenPolicy, freezePolicy, policyDigest } from './policy/frozen-policy.ts'
export type { FrozenPolicy, TransitionsText } from './policy/frozen-policy.ts'
export { judgeGeneration } from './policy/judge-generation.ts'
export type { GenerationVerdict, PolicyChange } from './policy/judge-generation.ts'
export { judgeHandover } from './policy/judge-handover.ts'
export type { HandoverRefusal, HandoverVerdict } from './policy/judge-handover.ts'
export { judgeRegistration } from './policy/generation-registry.ts'
export type { GenerationRegistry, RegistrationVerdict } from './policy/generation-registry.ts'
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
export type { ActiveMark, FinishedMark, IdleMark, Mark, MarkPlace, PartitionStatus } from './frontier/marks.ts'
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
export type { CivilUnit } from './civil/civil-date.ts'
export { readZoneTransitions, ZONE_DATA_UNTIL_MS, zoneNames, zoneTransitionsText } from './civil/zone-transitions.ts'
export type { ZoneTransitions } from './civil/zone-transitions.ts'
export { createZoneCalendar } from './civil/zone-calendar.ts'
export type { ZoneCalendar } from './civil/zone-calendar.ts'
export type { AlignedAssigner } from './assign/assigner.ts'
export { createAlignedAssigner } from './assign/aligned-assigner.ts'
export type { AlignedShape } from './assign/aligned-assigner.ts'
export type { Aggregate, AggregateName } from './accumulate/aggregate.ts'
export { createCount } from './accumulate/count.ts'
export { createSum } from './accumulate/sum.ts'
export type { IntegerOptions } from './accumulate/sum.ts'
export { createDecimalSum } from './accumulate/decimal-sum.ts'
export type { DecimalOptions } from './accumulate/decimal-sum.ts'
export type { ExactTotal } from './accumulate/exact/exact-total.ts'
export type { ExactValue } from './accumulate/exact/exact-value.ts'
export { createAverage, createDecimalAverage } from './accumulate/average.ts'
export type { AverageForm, AverageState } from './accumulate/average.ts'
export type { Rounding } from './accumulate/exact/exact-quotient.ts'
export { createDecimalMax, createDecimalMin, createMax, createMin, VALUES_MAX } from './accumulate/min-max.ts'
export type { ValuesBound } from './accumulate/min-max.ts'
export type { ValueMultiset } from './accumulate/value-multiset.ts'
export {
  createAppendOnlyDecimalMax,
  createAppendOnlyDecimalMin,
  createAppendOnlyMax,
  createAppendOnlyMin,
} from './accumulate/append-only-min-max.ts'
export type { ExtremeState } from './accumulate/append-only-min-max.ts'
export { createDistinctCount } from './accumulate/distinct-count.ts'
export type { DistinctOptions, DistinctValue } from './accumulate/distinct-count.ts'
export { guardAggregate } from './accumulate/check-aggregate.ts'
export type { AggregateIsolation } from './accumulate/check-aggregate.ts'
export { logicalWindowId, projectionId } from './revision/window-id.ts'
export type { LogicalWindow } from './revision/window-id.ts'
export { createInputSets } from './revision/input-sets.ts'
export type { InputSet, InputSets, OffsetHull } from './revision/input-sets.ts'
export { windowErrors } from './errors.ts'
export type { AggregateFault, InputPlace } from './errors.ts'
