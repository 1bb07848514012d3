import { createProjection, undecodable } from '@tidemark/checkpoint'
import type { IdempotentWriter, Projection, ProjectionOptions, StoredFields } from '@tidemark/checkpoint'
import { createMemoryProjectionStore, createMemoryServer } from '@tidemark/checkpoint/memory'
import type { MemoryServer } from '@tidemark/checkpoint/memory'
import type { LogRecord } from '@tidemark/log'
import { createManualClock, createSeededChooser, createSimLog } from '@tidemark/testkit/sim'
import type { RecreationBehaviour, SeededChooser, SimLogWorld, SimProcess } from '@tidemark/testkit/sim'

/** A simulated log and a memory server that outlive every projection a test makes over them. */
export interface ProjectionWorld {
  readonly log: SimLogWorld
  readonly server: MemoryServer
  readonly chooser: SeededChooser
  /** Makes a projection of `dispatch` into `p`, as one process; several may exist, also after a crash. */
  projection(overrides?: Partial<ProjectionOptions<IdempotentWriter>>, process?: SimProcess): Projection
  /** Scores by member under `convs:<user>`. */
  sessions(user: string): Readonly<Record<string, number>>
  checkpoint(partition: number): bigint | undefined
  fields(partition: number): StoredFields | undefined
}

export const topicName = 'dispatch'

/** A record for one user: conversation `c<n>` at time `n`. */
export function dispatch(user: string, n: number): { readonly key: string; readonly value: string } {
  return { key: user, value: `${user}|c${n}|${n}` }
}

/** A world with `dispatch` created. */
export function createProjectionWorld(
  options: { seed?: number; partitions?: number; brokers?: number; recreation?: RecreationBehaviour } = {},
): ProjectionWorld {
  const seed = options.seed ?? 1
  const clock = createManualClock({ advances: 'idle' })
  const { recreation = 'silent', brokers = 1 } = options
  const log = createSimLog({ seed, clock, brokers, recreation })
  log.cluster.createTopic(topicName, { partitions: options.partitions ?? 2 })
  const chooser = createSeededChooser(seed + 1_000)
  const nonce = (): string => chooser.hex(32)
  const server = createMemoryServer({ nonce })
  const fields = (partition: number): StoredFields | undefined => {
    const value = server.snapshot().get(`p:checkpoint:${topicName}:${partition}`)
    return value?.kind === 'hash' ? Object.fromEntries(value.fields) : undefined
  }
  return {
    log,
    server,
    chooser,
    projection(overrides = {}, process) {
      const opened = log.openLog()
      const store = createMemoryProjectionStore({ namespace: 'p', server, nonce })
      const guarded = process?.guard('store', store, ['read', 'claim', 'bootstrap', 'advance', 'close']) ?? store
      return createProjection<IdempotentWriter>({
        topic: topicName,
        log: process?.guardLog(opened) ?? opened,
        store: guarded,
        project: projectDispatch,
        readyTarget: 'hw',
        undecodable: 'quarantine',
        leaseMs: 1_000,
        limits: { batchRecordsMax: 4, stallMsMax: 5_000 },
        clock: process?.guardClock(clock) ?? clock,
        ...overrides,
      })
    },
    sessions(user) {
      const value = server.snapshot().get(`convs:${user}`)
      return value?.kind === 'sorted-set' ? Object.fromEntries([...value.scores].sort(byName)) : {}
    },
    fields,
    checkpoint(partition) {
      const next = fields(partition)?.['next_offset']
      return next === undefined ? undefined : BigInt(next)
    },
  }
}

/** Projects `user|conversation|time`; anything else is undecodable. */
export function projectDispatch(
  record: LogRecord,
  write: IdempotentWriter,
): ReturnType<typeof undecodable> | undefined {
  const [user, conversation, time] = textOf(record).split('|')
  if (user === undefined || conversation === undefined || time === undefined) return undecodable('three parts are due')
  write.zadd(`convs:${user}`, 'GT', Number(time), conversation)
  return undefined
}

export function textOf(record: LogRecord): string {
  return record.value === null ? '' : new TextDecoder().decode(record.value)
}

/** What the sessions must be, recomputed from the committed records of the log, independently of the projection. */
export function expectedSessions(
  world: Pick<ProjectionWorld, 'log'>,
  below: (partition: number) => bigint,
): Map<string, Record<string, number>> {
  const sessions = new Map<string, Record<string, number>>()
  const topic = world.log.cluster.topic(topicName)
  for (let partition = 0; partition < topic.partitionCount; partition += 1) {
    for (const record of topic.committed(partition)) {
      if (record.offset >= below(partition)) continue
      const [user, conversation, time] = textOf(record).split('|')
      if (user === undefined || conversation === undefined || time === undefined) continue
      const known = sessions.get(user) ?? {}
      known[conversation] = Math.max(known[conversation] ?? 0, Number(time))
      sessions.set(user, known)
    }
  }
  return sessions
}

/** Throws unless every record below every checkpoint is in the data: the checkpoint is never ahead of the data. */
export function checkNotAhead(world: ProjectionWorld): void {
  for (const [user, conversations] of expectedSessions(world, (partition) => world.checkpoint(partition) ?? 0n)) {
    const stored = world.sessions(user)
    for (const [conversation, time] of Object.entries(conversations)) {
      if ((stored[conversation] ?? -1) < time) throw new Error(`${user}/${conversation} is checkpointed but not stored`)
    }
  }
}

/** Throws unless the data is exactly what the whole log says. */
export function checkComplete(world: ProjectionWorld): void {
  const expected = expectedSessions(world, () => 2n ** 63n)
  for (const [user, conversations] of expected) {
    const [have, want] = [
      JSON.stringify(world.sessions(user)),
      JSON.stringify(Object.fromEntries(Object.entries(conversations).sort(byName))),
    ]
    if (have !== want) throw new Error(`sessions of ${user} are ${have}, the log says ${want}`)
  }
  for (const key of world.server.snapshot().keys()) {
    if (key.startsWith('convs:') && !expected.has(key.slice('convs:'.length)))
      throw new Error(`${key} is not in the log`)
  }
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1
}
