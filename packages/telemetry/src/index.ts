// Reading order: projection-metrics (the catalogue) -> projection-readings (a status as values) -> observe-projection
// (values into a meter), prometheus-name (what exporters make of the names).
export { projectionAttributes, projectionMetrics } from './projection-metrics.ts'
export type {
  MetricAttribute,
  MetricInstrument,
  ProjectionMetric,
  ProjectionMetricName,
  RestRule,
} from './projection-metrics.ts'
export { PARTITIONS_REPORTED_DEFAULT, PARTITIONS_REPORTED_LIMIT, readProjection } from './projection-readings.ts'
export type { ConflictTally, ProjectionReading, ReadingOptions } from './projection-readings.ts'
export { observeProjection } from './observe-projection.ts'
export type { ObserveProjectionOptions, ProjectionObservation } from './observe-projection.ts'
export { prometheusLabel, prometheusName } from './prometheus-name.ts'
