import { projectionTransitions } from '@tidemark/checkpoint'
import type { PartitionStatus, ProjectionState, ProjectionStatus } from '@tidemark/checkpoint'
import { checkLimit } from '@tidemark/core'
import { projectionMetrics } from './projection-metrics.ts'
import type { ProjectionMetric, ProjectionMetricName, RestRule } from './projection-metrics.ts'

/** One value of one figure, with all its attributes. */
export interface ProjectionReading {
  readonly name: ProjectionMetricName
  readonly value: number
  readonly attributes: Readonly<Record<string, string>>
}

/** Steps that lost a comparison, by kind. */
export type ConflictTally = Readonly<Record<'fenced' | 'conflict' | 'process-changed', number>>

/** What a reading is made with. */
export interface ReadingOptions {
  /**
   * So many partitions, the lowest ones, are reported one by one; the others by one series whose partition is `rest`.
   * 0 to {@link PARTITIONS_REPORTED_LIMIT}.
   */
  readonly partitionsMax: number
  /** Conflicts by kind. Without it the total of the status stands under `conflict`. */
  readonly conflicts?: ConflictTally
}

/** How many partitions are reported one by one unless said otherwise. */
export const PARTITIONS_REPORTED_DEFAULT = 256

/** The most partitions that can be reported one by one: the SDK drops attributes beyond 2,000 series of a figure. */
export const PARTITIONS_REPORTED_LIMIT = 1_900

type Row = (typeof projectionMetrics)[number]
type PartitionMetricName = Extract<Row, { readonly rest: RestRule }>['name']
type OwnMetricName = Exclude<Exclude<Row, { readonly instrument: 'histogram' }>['name'], PartitionMetricName>
type Values = readonly (readonly [value: number, attributes?: Readonly<Record<string, string>>])[]

/** A reader per figure of a partition: the compiler asks for each. */
const partitionReaders: Readonly<Record<PartitionMetricName, (partition: PartitionStatus) => number>> = {
  'tidemark.projection.offset.next': ({ next }) => Number(next),
  'tidemark.projection.offset.low': ({ low }) => Number(low),
  'tidemark.projection.offset.target': ({ target }) => Number(target),
  'tidemark.projection.offset.last_stable': ({ lastStableOffset }) => Number(lastStableOffset),
  'tidemark.projection.offset.high_watermark': ({ highWatermark }) => Number(highWatermark),
  'tidemark.projection.lag': ({ behind }) => behind,
  'tidemark.projection.headroom': ({ headroom }) => headroom,
  'tidemark.projection.open_transaction': ({ openTransaction }) => openTransaction,
  'tidemark.projection.replay_at_start': ({ replayAtStart }) => replayAtStart,
  'tidemark.projection.queued': ({ queued }) => queued,
  'tidemark.projection.stalled': ({ stalledMs }) => (stalledMs ?? 0) / 1_000,
  'tidemark.projection.quarantine.stored': ({ quarantined }) => quarantined,
}

/** A reader per figure of the whole projection. */
const ownReaders: Readonly<Record<OwnMetricName, (status: ProjectionStatus, options: ReadingOptions) => Values>> = {
  'tidemark.projection.state': ({ state }) =>
    (Object.keys(projectionTransitions) as ProjectionState[]).map((each) => [
      each === state ? 1 : 0,
      { 'tidemark.state': each },
    ]),
  'tidemark.projection.ready': ({ ready }) => [[ready ? 1 : 0]],
  'tidemark.projection.dirty': ({ dirty }) => (dirty === undefined ? [] : [[1, { 'tidemark.dirty.code': dirty.code }]]),
  'tidemark.projection.partitions': ({ partitions }) => {
    const caughtUp = partitions.filter((partition) => partition.caughtUp).length
    return [
      [caughtUp, { 'tidemark.progress': 'caught-up' }],
      [partitions.length - caughtUp, { 'tidemark.progress': 'waiting' }],
    ]
  },
  'tidemark.projection.identity.age': ({ identityAgeMs }) => secondsOf(identityAgeMs),
  'tidemark.projection.lease.age': ({ leaseAgeMs }) => secondsOf(leaseAgeMs),
  'tidemark.projection.time_to_ready': ({ timeToReadyMs }) => secondsOf(timeToReadyMs),
  'tidemark.projection.records.applied': ({ counters }) => [[counters.recordsApplied]],
  'tidemark.projection.records.quarantined': ({ counters }) => [[counters.quarantinedHere]],
  'tidemark.projection.steps.applied': ({ counters }) => [[counters.stepsApplied]],
  'tidemark.projection.steps.resent': ({ counters }) => [[counters.stepsResent]],
  'tidemark.projection.conflicts': ({ counters }, { conflicts }) => {
    const tally = conflicts ?? { fenced: 0, conflict: counters.conflicts, 'process-changed': 0 }
    return Object.entries(tally).map(([kind, count]) => [count, { 'tidemark.conflict.kind': kind }])
  },
  'tidemark.projection.identity.checks': ({ counters }) => [[counters.identityChecks]],
  'tidemark.projection.observer.failures': ({ counters }) => [[counters.observerFailures]],
}

/** The attributes that say which projection a figure is of. */
export function attributesOf({
  topic,
  namespace,
}: Pick<ProjectionStatus, 'topic' | 'namespace'>): Readonly<Record<string, string>> {
  return { 'tidemark.topic': topic, 'tidemark.namespace': namespace }
}

/**
 * Every gauge and counter of the catalogue as a status tells them; histograms come from events, not from a status.
 *
 * Shape: one reading per series. Cost: linear in partitions, at the time of a look; nothing per record.
 * Promises: TEL-2, TEL-3.
 * @throws {TidemarkError} TM_CORE_LIMIT_INVALID
 */
export function readProjection(status: ProjectionStatus, options: ReadingOptions): readonly ProjectionReading[] {
  const { partitionsMax } = options
  checkLimit('partitionsMax', partitionsMax, { min: 0, max: PARTITIONS_REPORTED_LIMIT })
  const single = status.partitions.filter(({ partition }) => partition < partitionsMax)
  const folded = status.partitions.filter(({ partition }) => partition >= partitionsMax)
  const readings: ProjectionReading[] = []
  const shared = attributesOf(status)
  const add = (name: ProjectionMetricName, value: number, own: Readonly<Record<string, string>> = {}): void =>
    void readings.push({ name, value, attributes: { ...shared, ...own } })
  for (const metric of projectionMetrics as readonly ProjectionMetric[]) {
    const name = metric.name as ProjectionMetricName
    if (isOwn(name)) for (const [value, attributes] of ownReaders[name](status, options)) add(name, value, attributes)
    if (!isPartitionMetric(name)) continue
    const read = partitionReaders[name]
    for (const each of single) add(name, read(each), { 'tidemark.partition': String(each.partition) })
    const rest = fold(metric.rest, folded.map(read))
    if (rest !== undefined) add(name, rest, { 'tidemark.partition': 'rest' })
  }
  return readings
}

function isOwn(name: ProjectionMetricName): name is OwnMetricName {
  return Object.hasOwn(ownReaders, name)
}

function isPartitionMetric(name: ProjectionMetricName): name is PartitionMetricName {
  return Object.hasOwn(partitionReaders, name)
}

function secondsOf(ms: number | undefined): Values {
  return ms === undefined ? [] : [[ms / 1_000]]
}

/** What stands for partitions that are not reported: the one an alert would have fired for, or their sum. */
function fold(rule: RestRule | undefined, values: readonly number[]): number | undefined {
  const [first, ...others] = values
  if (first === undefined || rule === undefined || rule === 'none') return undefined
  switch (rule) {
    case 'max':
      return others.reduce((most, value) => Math.max(most, value), first)
    case 'min':
      return others.reduce((least, value) => Math.min(least, value), first)
    case 'sum':
      return others.reduce((total, value) => total + value, first)
  }
}
