import { projectionTransitions } from '@tidemark/checkpoint'
import type { PartitionStatus, ProjectionState, ProjectionStatus } from '@tidemark/checkpoint'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'

const prefix = 'session_projection_'

type PartitionNumber = Exclude<keyof PartitionStatus, 'partition' | 'caughtUp' | 'stalledMs'>

const partitionGauges: readonly (readonly [string, PartitionNumber, string])[] = [
  ['next_offset', 'next', 'The next record to apply'],
  ['low_offset', 'low', 'The oldest retained record'],
  ['target_offset', 'target', 'H0: what must be reached to be ready'],
  ['last_stable_offset', 'lastStableOffset', 'The read-committed end'],
  ['high_watermark', 'highWatermark', 'The replicated end'],
  ['behind_records', 'behind', 'Offsets between the position and the read-committed end'],
  ['headroom_records', 'headroom', 'Offsets between the oldest retained record and the position'],
  ['open_transaction_records', 'openTransaction', 'Offsets held back by an open transaction'],
  ['queued_records', 'queued', 'Records fetched and not applied'],
  ['quarantined_records', 'quarantined', 'Records set aside, ever'],
]

/** Metrics of a projection, read from its status whenever they are scraped. */
export function createSessionMetrics(status: () => ProjectionStatus): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const [name, field, help] of partitionGauges)
    addPartitionGauge(registry, name, help, status, (p) => Number(p[field]))
  addPartitionGauge(registry, 'caught_up', '1 when the target is reached', status, (p) => (p.caughtUp ? 1 : 0))
  addPartitionGauge(registry, 'stalled_seconds', 'Waiting without an advance; 0 when it advances', status, (p) => {
    return (p.stalledMs ?? 0) / 1_000
  })
  addStateGauges(registry, status)
  addCounters(registry, status)
  return registry
}

function addPartitionGauge(
  registry: Registry,
  name: string,
  help: string,
  status: () => ProjectionStatus,
  valueOf: (partition: PartitionStatus) => number,
): void {
  new Gauge({
    name: `${prefix}${name}`,
    help,
    labelNames: ['partition'],
    registers: [registry],
    collect() {
      for (const partition of status().partitions) this.set({ partition: partition.partition }, valueOf(partition))
    },
  })
}

function addStateGauges(registry: Registry, status: () => ProjectionStatus): void {
  const register = { registers: [registry] }
  new Gauge({
    ...register,
    name: `${prefix}ready`,
    help: '1 when sessions may be served',
    collect() {
      this.set(status().ready ? 1 : 0)
    },
  })
  new Gauge({
    ...register,
    name: `${prefix}state`,
    help: '1 for the state it is in, 0 for the others',
    labelNames: ['state'],
    collect() {
      const current = status().state
      for (const state of Object.keys(projectionTransitions) as ProjectionState[]) {
        this.set({ state }, state === current ? 1 : 0)
      }
    },
  })
  new Gauge({
    ...register,
    name: `${prefix}dirty`,
    help: '1 with the reason code when it went dirty; no series otherwise',
    labelNames: ['code'],
    collect() {
      const { dirty } = status()
      if (dirty !== undefined) this.set({ code: dirty.code }, 1)
    },
  })
}

function addCounters(registry: Registry, status: () => ProjectionStatus): void {
  const counters = {
    records_applied_total: ['recordsApplied', 'Records applied'],
    steps_applied_total: ['stepsApplied', 'Steps confirmed by the store'],
    steps_resent_total: ['stepsResent', 'Steps that the store found already done'],
    conflicts_total: ['conflicts', 'Steps that lost a race'],
    identity_checks_total: ['identityChecks', 'Identity checks'],
    quarantined_total: ['quarantinedHere', 'Records set aside by this process'],
    observer_failures_total: ['observerFailures', 'Hooks that threw'],
  } as const
  for (const [name, [field, help]] of Object.entries(counters)) {
    new Counter({
      name: `${prefix}${name}`,
      help,
      registers: [registry],
      collect() {
        // The projection counts; the metric only repeats its total.
        this.reset()
        this.inc(status().counters[field])
      },
    })
  }
}
