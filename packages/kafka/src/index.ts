// Reading order: connection-options, security (what may be said) -> reading/ (the guarded client and its reader) ->
// inspection/ (identity, bounds and settings from the brokers) -> kafka-log (both together).
export { createKafkaLog } from './kafka-log.ts'
export type { KafkaLogOptions } from './kafka-log.ts'
export { createKafkaInspector } from './inspection/kafka-inspector.ts'
export type { KafkaInspector } from './inspection/kafka-inspector.ts'
export { checkClientTuning, TUNABLE_CLIENT_OPTIONS } from './reading/safe-consumer-options.ts'
export type { ClientTuning } from './reading/safe-consumer-options.ts'
export type { KafkaConnectionOptions } from './connection-options.ts'
export type { KafkaSasl, KafkaSecurity, KafkaTls } from './security.ts'
export { kafkaErrors } from './errors.ts'
