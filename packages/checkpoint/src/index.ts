// Reading order: checkpoint-format, namespace, stored-state (words and codec) -> refusal, stored-review, store-review,
// twin-review, twin-judgement, refusals/unproven-remedy, refusals/identity-first, start-planner, state-reread (decisions) ->
// projection-write, write-buffer, quarantine-entry, projection-store (port), split/split-projection-store -> runtime/start-sequence,
// runtime/projection (the orchestrator) -> runtime/run/projection-run (one run: runtime/run/fetch-loop fills a
// runtime/run/partition-lane, runtime/run/step-applier empties it, runtime/run/identity-guard, runtime/run/history-guard and
// runtime/run/lease-loop hold it to what was proven) -> operate (dry runs, inspection, verification, rebuild).
export { decodeCheckpoint, decodeMeta, encodeCheckpoint, encodeMeta, FORMAT_VERSION } from './checkpoint-format.ts'
export type { Decoded, FieldFault, StoredCheckpoint, StoredFields, StoredMeta } from './checkpoint-format.ts'
export { checkpointKey, metaKey, namespaceOf, topicNameOf } from './namespace.ts'
export type { Namespace } from './namespace.ts'
export type {
  Apart,
  Durability,
  EvictionFact,
  Incarnation,
  StoredState,
  StoreFacts,
  UnreadableKey,
} from './stored-state.ts'
export { refusalCatalogue, refusalRunbook, renderRefusals } from './refusal.ts'
export type { Refusal, RefusalCode } from './refusal.ts'
export type { StoreDeclarations } from './store-review.ts'
export { planStart, witnessReadBacks } from './start-planner.ts'
export type {
  PartitionStart,
  PlanDeclarations,
  PlanInput,
  PlanNote,
  PlanVerdict,
  ReadyTarget,
  StartPlan,
} from './start-planner.ts'
export { rereadRefusals, sameFields } from './state-reread.ts'
export { commutes } from './projection-write.ts'
export type { CommutingWriter, IdempotentWriter, ProjectionWrite, ZaddMode } from './projection-write.ts'
export { createWriteBuffer, WRITE_PART_BYTES_MAX } from './write-buffer.ts'
export type { VocabularyBuffer, WriteBuffer, WriteBufferOptions, WriteMark } from './write-buffer.ts'
export { encodeQuarantineEntry, QUARANTINE_REASON_LENGTH_MAX, quarantineEntryOf } from './quarantine-entry.ts'
export type { QuarantineEntry } from './quarantine-entry.ts'
export { STRAY_PARTITIONS_SEARCHED } from './projection-store.ts'
export type {
  AdvanceOutcome,
  AdvanceRequest,
  BootstrapOutcome,
  BootstrapRequest,
  Claim,
  ClaimRequest,
  ProjectionStore,
  ReadStateRequest,
  StepLimits,
} from './projection-store.ts'
export { createSplitProjectionStore } from './split/split-projection-store.ts'
export type { SplitProjectionStoreOptions } from './split/split-projection-store.ts'
export { isUndecodable, undecodable } from './runtime/undecodable.ts'
export type { Undecodable } from './runtime/undecodable.ts'
export type { ProjectionLimits, ProjectionOptions } from './runtime/projection-options.ts'
export type { ProjectionObserver, StepReport } from './runtime/projection-observer.ts'
export { projectionTransitions } from './runtime/projection-state.ts'
export type { ProjectionEvent, ProjectionState } from './runtime/projection-state.ts'
export { dirtyCatalogue, dirtyRunbook } from './runtime/dirty-reason.ts'
export type { DirtyCode, DirtyReason } from './runtime/dirty-reason.ts'
export type { PartitionStatus, ProjectionCounters, ProjectionStatus } from './runtime/projection-status.ts'
export { createProjection } from './runtime/projection.ts'
export type { CaughtUp, Projection, StartOutcome } from './runtime/projection.ts'
export { explainStart } from './operate/explain-start.ts'
export type { ExplainStartOptions, OpenQuestion, StartExplanation } from './operate/explain-start.ts'
export type { StrayKeys } from './operate/stray-keys.ts'
export type { StartObservation } from './runtime/start-sequence.ts'
export { inspectNamespace } from './operate/inspect-namespace.ts'
export type { InspectNamespaceOptions, NamespaceInspection } from './operate/inspect-namespace.ts'
export type { StoredReview } from './stored-review.ts'
export { newestEntries } from './store-inspector.ts'
export type { QuarantineListing, QuarantineRequest, StoreInspector } from './store-inspector.ts'
export { explainRebuild, rebuild } from './operate/rebuild.ts'
export type {
  ExplainRebuildOptions,
  RebuildOptions,
  RebuildOutcome,
  RebuildProblem,
  RebuildVerdict,
} from './operate/rebuild.ts'
export { sameValue, verifyProjection } from './operate/verify.ts'
export type { ProjectedDifference, VerifyOptions, VerifyProgress, VerifyReport } from './operate/verify.ts'
export { checkpointErrors } from './errors.ts'
export type { ProjectedDataReader, ProjectedValue } from './projected-data.ts'
