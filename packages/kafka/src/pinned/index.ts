// Reading order: pinned-options (what may be said) -> fetch-request, fetch-answer (the wire) -> batch-header, record-set
// (what batches hold) -> fetch-verdict, fetch-plan, partition-cursor (decisions) -> topic-leaders, leader-fetching,
// pinned-reader (acting) -> pinned-kafka-log (all together).
export { createPinnedKafkaLog } from './pinned-kafka-log.ts'
export type { PinnedFetchOptions, PinnedKafkaLogOptions } from './pinned-options.ts'
export type { KafkaConnectionOptions } from '../connection-options.ts'
export type { KafkaSasl, KafkaSecurity, KafkaTls } from '../security.ts'
export { kafkaErrors } from '../errors.ts'
