import type { ProjectionMetric } from './projection-metrics.ts'

/** Units that become part of a Prometheus name; what only counts something, in braces, does not. */
const unitWords: Readonly<Record<string, string>> = { s: 'seconds' }

/**
 * What an exporter calls a figure in Prometheus, so that dashboards match whoever exports it.
 *
 * Dots become underscores, the unit is appended where it is one, a counter ends in `_total`.
 * Source: the OpenTelemetry specification, "Prometheus and OpenMetrics compatibility". Promises: TEL-6.
 */
export function prometheusName(metric: Pick<ProjectionMetric, 'name' | 'instrument' | 'unit'>): string {
  const word = unitWords[metric.unit]
  const base = prometheusLabel(metric.name)
  const withUnit = word === undefined || base.endsWith(`_${word}`) ? base : `${base}_${word}`
  return metric.instrument === 'counter' ? `${withUnit}_total` : withUnit
}

/** What an exporter calls an attribute in Prometheus. */
export function prometheusLabel(attribute: string): string {
  return attribute.replaceAll(/[^a-zA-Z0-9_]+/g, '_')
}
