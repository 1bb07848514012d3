// Reading order: connection-options, security, safe-consumer-options (what may be set) -> guarded-consumer,
// assignment-progress, kafka-reader (fetching) -> topic-metadata, metadata-survey, list-offsets, topic-settings,
// kafka-inspector (proving) -> read-back -> kafka-log (both together).
export { createKafkaLog } from './kafka-log.ts'
export type { KafkaLogOptions } from './kafka-log.ts'
export { createKafkaInspector } from './kafka-inspector.ts'
export type { KafkaInspector } from './kafka-inspector.ts'
export { checkClientTuning, TUNABLE_CLIENT_OPTIONS } from './safe-consumer-options.ts'
export type { ClientTuning } from './safe-consumer-options.ts'
export type { KafkaConnectionOptions } from './connection-options.ts'
export type { KafkaSasl, KafkaSecurity, KafkaTls } from './security.ts'
export { kafkaErrors } from './errors.ts'
