import type { Clock } from '@tidemark/core'
import { answerReadBack } from '@tidemark/log'
import type { CommittedLog, LogReader, ReadBack } from '@tidemark/log'
import { createCallGate } from './call-gate.ts'
import type { CallGate } from './call-gate.ts'
import { simErrors } from './errors.ts'
import type { ManualClock } from './manual-clock.ts'
import { createManualClock } from './manual-clock.ts'
import { createSeededChooser } from './seeded-chooser.ts'
import type { SeededChooser } from './seeded-chooser.ts'
import { createSimCluster } from './sim-cluster.ts'
import type { SimCluster } from './sim-cluster.ts'
import { createSimInspector } from './sim-inspector.ts'
import type { InspectorFaults } from './sim-inspector.ts'
import { createSimReader } from './sim-reader.ts'
import type { ReaderFaults, RecreationBehaviour } from './sim-reader.ts'

/** A simulated cluster with the logs that processes open on it. Everything a test changes hangs here. */
export interface SimLogWorld {
  readonly cluster: SimCluster
  readonly clock: Clock
  readonly chooser: SeededChooser
  /** Where tests hold calls, act between steps, and count. Shared by all logs of the world. */
  readonly gate: CallGate
  readonly reading: ReaderFaults
  readonly inspecting: InspectorFaults
  /** Makes reading back fail, by partition. */
  readonly readBackUnreadable: Map<number, string>
  /** Opens the log as one process does. Closing it leaves the cluster as it is. */
  openLog(): CommittedLog
}

/** How a simulated log is made. */
export interface SimLogOptions {
  readonly seed?: number
  readonly brokers?: number
  /** A manual clock that advances when idle, unless given. */
  readonly clock?: Clock
  readonly recreation?: RecreationBehaviour
  readonly idleStepMs?: number
}

/**
 * A log world in memory: committed log and inspector over one cluster that the test commands.
 *
 * It behaves as a real cluster read through librdkafka does where that matters: a recreated topic goes on silently, a
 * dead partition is reported once, the end is reported after the records, only committed records are delivered.
 * Promises: TST-2 to TST-4.
 */
export function createSimLog(options: SimLogOptions = {}): SimLogWorld {
  const chooser = createSeededChooser(options.seed ?? 1)
  const clock = options.clock ?? defaultClock()
  const cluster = createSimCluster(chooser, options.brokers ?? 1)
  const gate = createCallGate()
  const reading: ReaderFaults = {
    clientStatement: undefined,
    swallowFailures: false,
    frozen: false,
    staleBatches: [],
    nextFailure: undefined,
    endsUnreported: false,
  }
  const inspecting: InspectorFaults = {
    boundsUnreadable: undefined,
    settingsUnreadable: undefined,
    boundsRewrite: undefined,
    latencyMs: 0,
  }
  const readBackUnreadable = new Map<number, string>()
  const world: SimLogWorld = {
    cluster,
    clock,
    chooser,
    gate,
    reading,
    inspecting,
    readBackUnreadable,
    openLog: () => openLog(world, options),
  }
  return world
}

function defaultClock(): ManualClock {
  return createManualClock({ advances: 'idle' })
}

function openLog(world: SimLogWorld, options: SimLogOptions): CommittedLog {
  const { cluster, clock, gate, reading } = world
  const readers = new Set<LogReader>()
  const state = { closed: false }
  return {
    inspector: createSimInspector(cluster, clock, gate, world.inspecting),
    openReader: (request) =>
      gate.pass('openReader', () => {
        if (state.closed) throw simErrors.create('TM_SIM_CLOSED', { what: 'the log' })
        const reader = createSimReader(
          {
            cluster,
            clock,
            chooser: world.chooser,
            gate,
            faults: reading,
            recreation: options.recreation ?? 'silent',
            idleStepMs: options.idleStepMs ?? 10,
          },
          request,
        )
        readers.add(reader)
        return reader
      }),
    readBack: (request) =>
      gate.pass('readBack', () => {
        if (state.closed) throw simErrors.create('TM_SIM_CLOSED', { what: 'the log' })
        return request.records.map((stretch): ReadBack => {
          const { partition, offset } = stretch
          const message = world.readBackUnreadable.get(partition)
          if (message !== undefined) return { kind: 'unreadable', ...stretch, message }
          const topic = cluster.findTopic(request.topic)
          if (topic === undefined || partition >= topic.partitionCount) {
            return { kind: 'unreadable', ...stretch, message: `no partition ${partition} of ${request.topic}` }
          }
          const held = options.recreation === 'fails' ? request.identity?.topicId : undefined
          if (held !== undefined && held !== topic.topicId) {
            return { kind: 'unreadable', ...stretch, message: `topic id ${held} is unknown` }
          }
          const own = topic.partition(partition)
          const [first] = own.readCommitted(offset, 1).records
          return answerReadBack(stretch, first, own.bounds().lastStableOffset)!
        })
      }),
    async close() {
      state.closed = true
      await Promise.all([...readers].map((reader) => reader.close()))
      readers.clear()
    },
  }
}
