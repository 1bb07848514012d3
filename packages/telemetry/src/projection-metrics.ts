/** How a figure is reported. Source: the instruments of the OpenTelemetry metrics API. */
export type MetricInstrument = 'gauge' | 'counter' | 'histogram'

/** One figure of a projection: what it is called, what it counts in, what it says. */
export interface ProjectionMetric {
  readonly name: string
  readonly instrument: MetricInstrument
  /** UCUM; what is counted stands in braces. */
  readonly unit: string
  readonly meaning: string
  /** Attributes beside those that every figure carries. */
  readonly attributes: readonly MetricAttribute[]
  /** When somebody should look; empty for a figure that explains others. */
  readonly alertWhen: string
  /** Only for figures per partition: what stands for the partitions that are not reported one by one. */
  readonly rest?: RestRule
}

/** The attributes of figures. Each has few values; a partition is bounded by the observer's limit. */
export type MetricAttribute =
  | 'tidemark.partition'
  | 'tidemark.state'
  | 'tidemark.dirty.code'
  | 'tidemark.conflict.kind'
  | 'tidemark.identity.verdict'
  | 'tidemark.progress'

/** What every figure carries: which projection it is of. */
export const projectionAttributes = ['tidemark.topic', 'tidemark.namespace'] as const

/** The largest, the smallest or the sum over the partitions left out; positions of several partitions have none. */
export type RestRule = 'max' | 'min' | 'sum' | 'none'

const perPartition = ['tidemark.partition'] as const

/**
 * Every figure of a projection. `docs/reference/metrics.md` is compared with it, and so is what is really reported.
 *
 * Units: offsets are positions, exact up to 2^53 since a measurement is a float; the status has them exactly.
 */
export const projectionMetrics = [
  {
    name: 'tidemark.projection.state',
    instrument: 'gauge',
    unit: '{projection}',
    meaning: '1 for the state it is in, 0 for the others',
    attributes: ['tidemark.state'],
    alertWhen: 'not ready for longer than a start takes',
  },
  {
    name: 'tidemark.projection.ready',
    instrument: 'gauge',
    unit: '{projection}',
    meaning: '1 when data may be served: ready, and both leases fresh',
    attributes: [],
    alertWhen: '0 for longer than a start takes',
  },
  {
    name: 'tidemark.projection.dirty',
    instrument: 'gauge',
    unit: '{projection}',
    meaning: '1 with the code of the reason once it went dirty; no series before',
    attributes: ['tidemark.dirty.code'],
    alertWhen: 'present',
  },
  {
    name: 'tidemark.projection.offset.next',
    instrument: 'gauge',
    unit: '{offset}',
    meaning: 'the next record to apply: the checkpoint',
    attributes: perPartition,
    alertWhen: '',
    rest: 'none',
  },
  {
    name: 'tidemark.projection.offset.low',
    instrument: 'gauge',
    unit: '{offset}',
    meaning: 'the oldest retained record',
    attributes: perPartition,
    alertWhen: '',
    rest: 'none',
  },
  {
    name: 'tidemark.projection.offset.target',
    instrument: 'gauge',
    unit: '{offset}',
    meaning: 'H0: what must be reached to be ready; fixed at start',
    attributes: perPartition,
    alertWhen: '',
    rest: 'none',
  },
  {
    name: 'tidemark.projection.offset.last_stable',
    instrument: 'gauge',
    unit: '{offset}',
    meaning: 'lso: the read-committed end',
    attributes: perPartition,
    alertWhen: '',
    rest: 'none',
  },
  {
    name: 'tidemark.projection.offset.high_watermark',
    instrument: 'gauge',
    unit: '{offset}',
    meaning: 'hw: the replicated end',
    attributes: perPartition,
    alertWhen: '',
    rest: 'none',
  },
  {
    name: 'tidemark.projection.lag',
    instrument: 'gauge',
    unit: '{record}',
    meaning: 'lso - next: how much could be applied now',
    attributes: perPartition,
    alertWhen: 'it keeps growing',
    rest: 'max',
  },
  {
    name: 'tidemark.projection.headroom',
    instrument: 'gauge',
    unit: '{record}',
    meaning: 'next - low: how far retention is behind the position',
    attributes: perPartition,
    alertWhen: 'it shrinks towards 0 while lag is above 0, before records are lost',
    rest: 'min',
  },
  {
    name: 'tidemark.projection.open_transaction',
    instrument: 'gauge',
    unit: '{record}',
    meaning: 'hw - lso: what waits behind an open transaction',
    attributes: perPartition,
    alertWhen: 'it stays above 0: a producer may have died',
    rest: 'max',
  },
  {
    name: 'tidemark.projection.replay_at_start',
    instrument: 'gauge',
    unit: '{record}',
    meaning: 'H0 - next at start: what had to be replayed to be ready',
    attributes: perPartition,
    alertWhen: '',
    rest: 'sum',
  },
  {
    name: 'tidemark.projection.queued',
    instrument: 'gauge',
    unit: '{record}',
    meaning: 'records fetched and not applied',
    attributes: perPartition,
    alertWhen: '',
    rest: 'sum',
  },
  {
    name: 'tidemark.projection.stalled',
    instrument: 'gauge',
    unit: 's',
    meaning: 'for how long records have waited without an advance; 0 while it advances',
    attributes: perPartition,
    alertWhen: 'above half of stallMsMax',
    rest: 'max',
  },
  {
    name: 'tidemark.projection.quarantine.stored',
    instrument: 'gauge',
    unit: '{record}',
    meaning: 'records set aside, over all starts',
    attributes: perPartition,
    alertWhen: 'it grows',
    rest: 'sum',
  },
  {
    name: 'tidemark.projection.partitions',
    instrument: 'gauge',
    unit: '{partition}',
    meaning: 'how many partitions reached H0 (caught-up) and how many did not (waiting)',
    attributes: ['tidemark.progress'],
    alertWhen: '',
  },
  {
    name: 'tidemark.projection.identity.age',
    instrument: 'gauge',
    unit: 's',
    meaning: 'since when the identity is proven',
    attributes: [],
    alertWhen: 'above leaseMs by much',
  },
  {
    name: 'tidemark.projection.lease.age',
    instrument: 'gauge',
    unit: 's',
    meaning: 'since when identity, store and bounds were last re-read together',
    attributes: [],
    alertWhen: 'above leaseMs by much',
  },
  {
    name: 'tidemark.projection.time_to_ready',
    instrument: 'gauge',
    unit: 's',
    meaning: 'from the call of start until first ready; no series before',
    attributes: [],
    alertWhen: 'it grows from start to start',
  },
  {
    name: 'tidemark.projection.records.applied',
    instrument: 'counter',
    unit: '{record}',
    meaning: 'records applied and confirmed',
    attributes: [],
    alertWhen: 'no increase while lag is above 0',
  },
  {
    name: 'tidemark.projection.records.quarantined',
    instrument: 'counter',
    unit: '{record}',
    meaning: 'records set aside by this process',
    attributes: [],
    alertWhen: 'any increase',
  },
  {
    name: 'tidemark.projection.steps.applied',
    instrument: 'counter',
    unit: '{step}',
    meaning: 'steps confirmed by the store',
    attributes: [],
    alertWhen: '',
  },
  {
    name: 'tidemark.projection.steps.resent',
    instrument: 'counter',
    unit: '{step}',
    meaning: 'steps that the store found already done',
    attributes: [],
    alertWhen: 'any increase without a network fault',
  },
  {
    name: 'tidemark.projection.conflicts',
    instrument: 'counter',
    unit: '{step}',
    meaning: 'steps that lost a compare-and-set: fenced, conflict or process-changed',
    attributes: ['tidemark.conflict.kind'],
    alertWhen: 'any increase outside a deployment',
  },
  {
    name: 'tidemark.projection.identity.checks',
    instrument: 'counter',
    unit: '{check}',
    meaning: 'identity checks ended',
    attributes: [],
    alertWhen: '',
  },
  {
    name: 'tidemark.projection.observer.failures',
    instrument: 'counter',
    unit: '{failure}',
    meaning: 'hooks of observers that threw',
    attributes: [],
    alertWhen: 'any increase',
  },
  {
    name: 'tidemark.projection.step.duration',
    instrument: 'histogram',
    unit: 's',
    meaning: 'how long the store took for a confirmed step',
    attributes: [],
    alertWhen: 'its 99th percentile nears the deadline of the store',
  },
  {
    name: 'tidemark.projection.step.records',
    instrument: 'histogram',
    unit: '{record}',
    meaning: 'records in a confirmed step',
    attributes: [],
    alertWhen: '',
  },
  {
    name: 'tidemark.projection.identity.check.duration',
    instrument: 'histogram',
    unit: 's',
    meaning: 'how long an identity check took, by its verdict',
    attributes: ['tidemark.identity.verdict'],
    alertWhen: 'unproven or mismatch appears',
  },
] as const satisfies readonly ProjectionMetric[]

/** The name of a figure in the catalogue. */
export type ProjectionMetricName = (typeof projectionMetrics)[number]['name']

/** The bounds of a histogram's buckets: a step takes from a fraction of a millisecond to seconds. */
export const histogramBounds: Readonly<Record<string, readonly number[]>> = {
  s: [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  '{record}': [0, 1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000],
}
