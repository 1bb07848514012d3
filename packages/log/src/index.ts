// Reading order: log-identity, log-bounds, log-record, tail-witness (words) -> identity-survey, judge-witness,
// read-back-answer, applied-history, fence (decisions) -> identity-lease, batch-origin, idle-lease (decisions over time) ->
// topic-inspector, committed-log (ports).
export { identityDifferences, PARTITION_COUNT_MAX } from './log-identity.ts'
export type { IdentityDifference, IdentityField, LogIdentity } from './log-identity.ts'
export { boundsFault } from './log-bounds.ts'
export type { BoundsReading, PartitionBounds } from './log-bounds.ts'
export type { LogRecord, RecordHeader } from './log-record.ts'
export { judgeSurvey } from './identity-survey.ts'
export type {
  BrokerAnswer,
  ClientStatement,
  IdentityStatement,
  IdentitySurvey,
  NoAnswerReason,
  SurveyVerdict,
} from './identity-survey.ts'
export { judgeWitness } from './judge-witness.ts'
export type { WitnessVerdict } from './judge-witness.ts'
export { decodeWitness, encodeWitness, witnessOf } from './tail-witness.ts'
export type { TailWitness } from './tail-witness.ts'
export { answerReadBack } from './read-back-answer.ts'
export { appliedStretches, indexReadBacks, judgeApplied } from './applied-history.ts'
export type { ReadBackAnswers } from './applied-history.ts'
export { decodeFence, encodeFence, judgeFence } from './fence.ts'
export type { Fence, FenceVerdict } from './fence.ts'
export {
  checkEnded,
  checkStarted,
  decideFetch,
  fetchReturned,
  newIdentityLease,
  PROVEN_BY_ORIGIN,
} from './identity-lease.ts'
export type { IdentityLease, LeaseDecision } from './identity-lease.ts'
export { originOfBatch } from './batch-origin.ts'
export type { BatchOrigin } from './batch-origin.ts'
export { decideIdleLease } from './idle-lease.ts'
export type { IdleLease, IdleLeaseDecision } from './idle-lease.ts'
export type { InspectOptions, TopicInspector, TopicSettings, TopicSettingsReading } from './topic-inspector.ts'
export type {
  CommittedLog,
  LogReader,
  PartitionBatch,
  PartitionPosition,
  PollRequest,
  PollResult,
  ReadBack,
  ReadBackRequest,
  ReadBackStretch,
  ReaderRequest,
  ReadFailure,
} from './committed-log.ts'
