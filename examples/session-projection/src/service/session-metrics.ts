import type { ProjectionStatus } from '@tidemark/checkpoint'
import {
  PARTITIONS_REPORTED_DEFAULT,
  projectionAttributes,
  projectionMetrics,
  prometheusLabel,
  prometheusName,
  readProjection,
} from '@tidemark/telemetry'
import type { ProjectionMetric } from '@tidemark/telemetry'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { StoreProfile } from './store-profile.ts'

/**
 * The gauges and counters of the catalogue, read from the status whenever they are scraped.
 *
 * The names are those that an OpenTelemetry exporter gives them, so that dashboards fit both.
 */
export function createSessionMetrics(status: () => ProjectionStatus, store: () => StoreProfile | undefined): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const metric of projectionMetrics as readonly ProjectionMetric[]) {
    if (metric.instrument === 'gauge') addGauge(registry, metric, status)
    if (metric.instrument === 'counter') addCounter(registry, metric, status)
  }
  addStore(registry, store)
  return registry
}

/** What a confirmed step survives, as a label: alerts can then ask for a class. */
function addStore(registry: Registry, store: () => StoreProfile | undefined): void {
  new Gauge({
    name: 'session_store_info',
    help: 'Always 1; the store of this service, and what a step it has confirmed survives.',
    labelNames: ['store', 'durability'],
    registers: [registry],
    collect() {
      this.reset()
      const profile = store()
      if (profile !== undefined) this.set({ store: profile.name, durability: profile.durability }, 1)
    },
  })
}

interface LabelledValue {
  readonly labels: Record<string, string>
  readonly value: number
}

function addGauge(registry: Registry, metric: ProjectionMetric, status: () => ProjectionStatus): void {
  new Gauge({
    ...describe(registry, metric),
    collect() {
      // A series that is no longer told, such as a dirty reason that never was, must not keep an old value.
      this.reset()
      for (const { labels, value } of valuesOf(metric, status())) this.set(labels, value)
    },
  })
}

function addCounter(registry: Registry, metric: ProjectionMetric, status: () => ProjectionStatus): void {
  new Counter({
    ...describe(registry, metric),
    collect() {
      // The projection counts; the metric only repeats its total.
      this.reset()
      for (const { labels, value } of valuesOf(metric, status())) this.inc(labels, value)
    },
  })
}

function describe(
  registry: Registry,
  metric: ProjectionMetric,
): { name: string; help: string; labelNames: string[]; registers: Registry[] } {
  const labelNames = [...projectionAttributes, ...metric.attributes].map(prometheusLabel)
  return { name: prometheusName(metric), help: metric.meaning, labelNames, registers: [registry] }
}

function valuesOf(metric: ProjectionMetric, status: ProjectionStatus): readonly LabelledValue[] {
  return readProjection(status, { partitionsMax: PARTITIONS_REPORTED_DEFAULT })
    .filter(({ name }) => name === metric.name)
    .map(({ attributes, value }) => {
      const labels = Object.entries(attributes).map(([key, text]) => [prometheusLabel(key), text] as const)
      return { labels: Object.fromEntries(labels), value }
    })
}
