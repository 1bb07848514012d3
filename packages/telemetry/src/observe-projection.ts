import type { BatchObservableResult, Histogram, Meter, Observable } from '@opentelemetry/api'
import type { Projection, ProjectionObserver } from '@tidemark/checkpoint'
import { checkLimit } from '@tidemark/core'
import { histogramBounds, projectionMetrics } from './projection-metrics.ts'
import type { ProjectionMetric, ProjectionMetricName } from './projection-metrics.ts'
import {
  attributesOf,
  PARTITIONS_REPORTED_DEFAULT,
  PARTITIONS_REPORTED_LIMIT,
  readProjection,
} from './projection-readings.ts'

/** Where the figures of a projection go. */
export interface ObserveProjectionOptions {
  /** Of the host's own provider; without one the API's meter does nothing. */
  readonly meter: Meter
  /**
   * Partitions reported one by one, the lowest ones; the others are one series whose partition is `rest`.
   * Default 256. 0 to 1,900.
   */
  readonly partitionsMax?: number
  /** Attributes of the host for every figure, for example the instance. Values must be few, and never secret. */
  readonly attributes?: Readonly<Record<string, string>>
}

/** A projection being reported. */
export interface ProjectionObservation {
  /** Reports no more. May be called again. */
  end(): void
  [Symbol.dispose](): void
}

type Attributes = Readonly<Record<string, string>>

/**
 * Reports every figure of the catalogue to a meter, from now on; call it before the start, so that nothing is missed.
 *
 * Gauges and counters are read from the status when the meter collects; histograms are recorded once a step and once an
 * identity check. Cost: nothing per record. Nothing is thrown into the projection or into the collection.
 * Promises: TEL-1 to TEL-5.
 *
 * @throws {TidemarkError} TM_CORE_LIMIT_INVALID
 */
export function observeProjection(
  projection: Pick<Projection, 'status' | 'observe'>,
  options: ObserveProjectionOptions,
): ProjectionObservation {
  const { meter, partitionsMax = PARTITIONS_REPORTED_DEFAULT } = options
  checkLimit('partitionsMax', partitionsMax, { min: 0, max: PARTITIONS_REPORTED_LIMIT })
  // Ours come last: a host cannot pass one projection off as another.
  const shared: Attributes = { ...options.attributes, ...attributesOf(projection.status()) }
  const conflicts = { fenced: 0, conflict: 0, 'process-changed': 0 }
  const instruments = createObservables(meter)
  const observe = (result: BatchObservableResult): void => {
    try {
      for (const { name, value, attributes } of readProjection(projection.status(), { partitionsMax, conflicts })) {
        result.observe(instruments.get(name)!, value, { ...options.attributes, ...attributes })
      }
    } catch {
      // A collection without this projection's figures is noticed by whoever watches them; a crash would cost more.
    }
  }
  const observables = [...instruments.values()]
  const unsubscribe = projection.observe(stepObserver(meter, shared, conflicts))
  meter.addBatchObservableCallback(observe, observables)
  const end = (): void => {
    unsubscribe()
    meter.removeBatchObservableCallback(observe, observables)
  }
  return { end, [Symbol.dispose]: end }
}

/** Counts and times what happens between two collections. */
function stepObserver(
  meter: Meter,
  shared: Attributes,
  conflicts: Record<'fenced' | 'conflict' | 'process-changed', number>,
): ProjectionObserver {
  const stepDuration = createHistogram(meter, 'tidemark.projection.step.duration')
  const stepRecords = createHistogram(meter, 'tidemark.projection.step.records')
  const checkDuration = createHistogram(meter, 'tidemark.projection.identity.check.duration')
  return {
    onStep({ durationMs, records }) {
      stepDuration.record(durationMs / 1_000, shared)
      stepRecords.record(records, shared)
    },
    onIdentityCheck(verdict, durationMs) {
      checkDuration.record(durationMs / 1_000, { ...shared, 'tidemark.identity.verdict': verdict.kind })
    },
    onConflict(_partition, kind) {
      conflicts[kind] += 1
    },
  }
}

function createObservables(meter: Meter): ReadonlyMap<ProjectionMetricName, Observable> {
  const instruments = new Map<ProjectionMetricName, Observable>()
  for (const { name, instrument, unit, meaning } of projectionMetrics) {
    const described = { unit, description: meaning }
    if (instrument === 'gauge') instruments.set(name, meter.createObservableGauge(name, described))
    if (instrument === 'counter') instruments.set(name, meter.createObservableCounter(name, described))
  }
  return instruments
}

function createHistogram(meter: Meter, name: ProjectionMetricName): Histogram {
  const { unit, meaning }: ProjectionMetric = projectionMetrics.find((metric) => metric.name === name)!
  const explicitBucketBoundaries = [...(histogramBounds[unit] ?? [])]
  return meter.createHistogram(name, { unit, description: meaning, advice: { explicitBucketBoundaries } })
}
