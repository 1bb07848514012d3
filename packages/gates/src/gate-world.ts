import { randomUUID } from 'node:crypto'
import type { Projection, ProjectionStatus } from '@tidemark/checkpoint'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { createKafkaAdmin } from './kafka-admin.ts'
import type { KafkaAdmin } from './kafka-admin.ts'
import type { Variant } from './variants/gate-variants.ts'
import type { ProjectionParts, StorePlace, StoreWorld } from './variants/store-side.ts'

/** One topic on a real broker, one namespace of a real store, and projections between the two. */
export interface GateWorld {
  readonly variant: Variant
  readonly topic: string
  readonly place: StorePlace
  readonly kafka: KafkaAdmin
  readonly store: StoreWorld
  projection(overrides?: ProjectionOverrides): Projection
  /** Runs a projection until it is ready, then stops it. */
  catchUp(overrides?: ProjectionOverrides): Promise<void>
  close(): Promise<void>
}

/** What a gate changes about a projection. */
export interface ProjectionOverrides extends Partial<Omit<ProjectionParts, 'topic'>> {
  readonly brokers?: readonly string[]
}

/** What a test wants of its world. */
export interface WorldOptions {
  readonly variant: Variant
  /** A store server of the test's own. */
  readonly storeAddress?: string
  /** A cluster of the test's own. */
  readonly brokers?: readonly string[]
  /** A topic that is already there; a new one unless said. */
  readonly topic?: string
  readonly partitions?: number
  readonly replicas?: number
  /** The topic's settings. */
  readonly config?: Readonly<Record<string, string>>
}

/** A world of its own on shared services: fresh topic, fresh namespace, users nobody else writes. */
export async function openGateWorld(options: WorldOptions): Promise<GateWorld> {
  const { variant, partitions = 1, replicas = 1, config = {}, storeAddress } = options
  const brokers = options.brokers ?? (await sharedKafkaBrokers())
  const kafka = createKafkaAdmin(brokers)
  const topic = options.topic ?? (await kafka.createTopic(partitions, config, replicas))
  const id = randomUUID().slice(0, 8)
  const place = { namespace: `session_projection_${id}`, topic, users: `${id}-` }
  const store = await variant.store.open(storeAddress === undefined ? place : { ...place, address: storeAddress })
  const projection = ({ brokers: through = brokers, log, ...rest }: ProjectionOverrides = {}): Projection =>
    store.projection({
      topic,
      log: log ?? variant.log.open(through),
      readyTarget: 'hw',
      undecodable: 'stop',
      leaseMs: 500,
      limits: { batchRecordsMax: 100, stallMsMax: 8_000 },
      ...rest,
    })
  return {
    variant,
    topic,
    place,
    kafka,
    store,
    projection,
    async catchUp(overrides) {
      const running = projection(overrides)
      try {
        await startReady(running)
      } finally {
        await running.stop()
      }
    },
    async close() {
      await Promise.all([store.close(), kafka.close()])
    },
  }
}

/** Starts a projection and waits until it is ready, at most 30 s. */
export async function startReady(projection: Projection): Promise<void> {
  const outcome = await projection.start()
  if (outcome.kind === 'refused') throw new Error(`refused: ${JSON.stringify(outcome.refusals)}`)
  const caughtUp = await projection.caughtUp({ deadlineMs: 30_000 })
  if (caughtUp.kind !== 'ready') throw new Error(`not ready: ${JSON.stringify(caughtUp)}`)
}

/** Waits until a status holds, at most 30 s. */
export async function untilStatus(projection: Projection, holds: (status: ProjectionStatus) => boolean): Promise<void> {
  const untilMs = performance.now() + 30_000
  while (!holds(projection.status())) {
    if (performance.now() > untilMs) throw new Error(`not reached in 30 s: ${JSON.stringify(projection.status())}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
