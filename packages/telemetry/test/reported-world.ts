import { createProjection, undecodable } from '@tidemark/checkpoint'
import type { IdempotentWriter, Projection, ProjectionOptions } from '@tidemark/checkpoint'
import { createMemoryProjectionStore, createMemoryServer } from '@tidemark/checkpoint/memory'
import { createManualClock, createSeededChooser, createSimLog } from '@tidemark/testkit/sim'
import type { SimLogWorld } from '@tidemark/testkit/sim'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import type { MetricData } from '@opentelemetry/sdk-metrics'
import type { Meter } from '@opentelemetry/api'

/** A simulated log with topic `dispatch`, and projections of it into one memory server. */
export interface ReportedWorld {
  readonly log: SimLogWorld
  projection(overrides?: Partial<ProjectionOptions<IdempotentWriter>>): Projection
  append(partition: number, ...values: readonly string[]): void
}

export function createReportedWorld(partitions: number = 2): ReportedWorld {
  const clock = createManualClock({ advances: 'idle' })
  const log = createSimLog({ seed: 7, clock })
  log.cluster.createTopic('dispatch', { partitions })
  const chooser = createSeededChooser(8)
  const nonce = (): string => chooser.hex(32)
  const server = createMemoryServer({ nonce })
  return {
    log,
    projection: (overrides = {}) =>
      createProjection<IdempotentWriter>({
        topic: 'dispatch',
        log: log.openLog(),
        store: createMemoryProjectionStore({ namespace: 'sessions', server, nonce }),
        project: ({ value, offset }, write) => {
          if (value?.byteLength === 0) return undecodable('it is empty')
          write.zadd('all', 'GT', Number(offset), new TextDecoder().decode(value ?? new Uint8Array()))
          return undefined
        },
        readyTarget: 'hw',
        undecodable: 'quarantine',
        leaseMs: 1_000,
        limits: { batchRecordsMax: 4, stallMsMax: 5_000 },
        clock,
        ...overrides,
      }),
    append(partition, ...values) {
      for (const value of values) log.cluster.topic('dispatch').append(partition, { key: 'k', value })
    },
  }
}

/** A real meter, read on demand. */
export interface ReadMeter {
  readonly meter: Meter
  /** Everything reported now, by name, and what the collection complained of. */
  collect(): Promise<{ readonly metrics: ReadonlyMap<string, MetricData>; readonly errors: readonly unknown[] }>
}

class OnDemandReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export function createReadMeter(): ReadMeter {
  const reader = new OnDemandReader()
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
  return {
    meter,
    async collect() {
      const { resourceMetrics, errors } = await reader.collect()
      const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
      return { metrics: new Map(all.map((metric) => [metric.descriptor.name, metric])), errors }
    },
  }
}

/** The value of the series whose attributes include all those given. */
export function valueOf(
  metrics: ReadonlyMap<string, MetricData>,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): unknown {
  const points = metrics.get(name)?.dataPoints ?? []
  const found = points.filter((point) =>
    Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
  )
  if (found.length > 1) throw new Error(`${name} has ${found.length} such series`)
  return found[0]?.value
}
