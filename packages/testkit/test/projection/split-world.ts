import { createProjection, createSplitProjectionStore } from '@tidemark/checkpoint'
import type { IdempotentWriter, Projection, ProjectionOptions, ProjectionStore } from '@tidemark/checkpoint'
import { createMemoryProjectionStore, createMemoryServer } from '@tidemark/checkpoint/memory'
import type { MemoryServer } from '@tidemark/checkpoint/memory'
import { createManualClock, createSeededChooser, createSimLog } from '@tidemark/testkit/sim'
import type { SimLogWorld, SimProcess } from '@tidemark/testkit/sim'
import { expectedSessions, projectDispatch, topicName } from './projection-world.ts'

type Store = ProjectionStore<IdempotentWriter>

/** How the two stores become one; planted bugs put something else here. */
export type JoinStores = (data: Store, checkpoints: Store) => Store

/** A simulated log, and two memory servers that outlive every projection: one keeps data, one keeps checkpoints. */
export interface SplitWorld {
  readonly log: SimLogWorld
  readonly data: MemoryServer
  readonly checkpoints: MemoryServer
  projection(overrides?: Partial<ProjectionOptions<IdempotentWriter>>, process?: SimProcess): Projection
  store(process?: SimProcess): Store
  position(side: 'data' | 'checkpoint', partition: number): bigint | undefined
  sessions(): ReadonlyMap<string, Readonly<Record<string, number>>>
}

const splitStores: JoinStores = (data, checkpoints) => createSplitProjectionStore({ data, checkpoints })

/** A world with `dispatch` created. */
export function createSplitWorld(seed: number, join: JoinStores = splitStores): SplitWorld {
  const clock = createManualClock({ advances: 'idle' })
  const log = createSimLog({ seed, clock })
  log.cluster.createTopic(topicName, { partitions: 2 })
  const chooser = createSeededChooser(seed + 2_000)
  const nonce = (): string => chooser.hex(32)
  const [data, checkpoints] = [createMemoryServer({ nonce }), createMemoryServer({ nonce })]
  const methods = ['read', 'claim', 'bootstrap', 'advance', 'close'] as const
  const store = (process?: SimProcess): Store => {
    const sides = {
      data: createMemoryProjectionStore({ namespace: 'p:twin', server: data, nonce }),
      checkpoints: createMemoryProjectionStore({ namespace: 'p', server: checkpoints, nonce }),
    }
    if (process === undefined) return join(sides.data, sides.checkpoints)
    // Each server is a call of its own, so that a life can end between the two.
    return join(
      process.guard('data', sides.data, [...methods]),
      process.guard('checkpoints', sides.checkpoints, [...methods]),
    )
  }
  return {
    log,
    data,
    checkpoints,
    store,
    projection(overrides = {}, process) {
      const opened = log.openLog()
      return createProjection<IdempotentWriter>({
        topic: topicName,
        log: process?.guardLog(opened) ?? opened,
        store: store(process),
        project: projectDispatch,
        readyTarget: 'hw',
        undecodable: 'quarantine',
        leaseMs: 1_000,
        limits: { batchRecordsMax: 4, stallMsMax: 5_000 },
        clock: process?.guardClock(clock) ?? clock,
        ...overrides,
      })
    },
    position(side, partition) {
      const [server, namespace] = side === 'data' ? [data, 'p:twin'] : [checkpoints, 'p']
      const value = server.snapshot().get(`${namespace}:checkpoint:${topicName}:${partition}`)
      const next = value?.kind === 'hash' ? value.fields.get('next_offset') : undefined
      return next === undefined ? undefined : BigInt(next)
    },
    sessions() {
      const sessions = new Map<string, Record<string, number>>()
      for (const [key, value] of data.snapshot()) {
        if (key.startsWith('convs:') && value.kind === 'sorted-set')
          sessions.set(key.slice('convs:'.length), Object.fromEntries(value.scores))
      }
      return sessions
    },
  }
}

/** Throws when data lacks a record below the lower of the two positions, or one of them is beyond the log. */
export function checkSplitNotAhead(world: SplitWorld): void {
  const stored = world.sessions()
  for (const [user, conversations] of expectedSessions(world, (partition) => world.position('data', partition) ?? 0n)) {
    for (const [conversation, time] of Object.entries(conversations)) {
      if ((stored.get(user)?.[conversation] ?? -1) < time)
        throw new Error(`${user}/${conversation} is below the position in the data but not stored`)
    }
  }
}

/** Throws unless the data is what the whole log says and both positions are at its end. */
export function checkSplitComplete(world: SplitWorld): void {
  const [stored, expected] = [world.sessions(), expectedSessions(world, () => 2n ** 63n)]
  const text = (sessions: ReadonlyMap<string, Readonly<Record<string, number>>>): string =>
    JSON.stringify([...sessions].sort(byName).map(([user, each]) => [user, Object.entries(each).sort(byName)]))
  if (text(stored) !== text(expected)) throw new Error(`sessions are ${text(stored)}, the log says ${text(expected)}`)
  for (const partition of [0, 1]) {
    const { lastStableOffset } = world.log.cluster.topic(topicName).partition(partition).bounds()
    const positions = [world.position('data', partition), world.position('checkpoint', partition)]
    if (positions.some((position) => position !== lastStableOffset))
      throw new Error(
        `partition ${partition} stands at ${positions.join(' and ')}, the log ends at ${lastStableOffset}`,
      )
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

/** What a server holds, to be put back later: an older copy restored. */
export function copyOf(server: MemoryServer): { restore(): void } {
  const held = server.snapshot()
  return {
    restore() {
      server.restart({ empty: true })
      for (const [key, value] of held) server.put(key, value)
    },
  }
}
