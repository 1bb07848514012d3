import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProjection } from '@tidemark/checkpoint'
import {
  createEmbeddedLog,
  createEmbeddedProducer,
  createEmbeddedProjectionStore,
  createEmbeddedStorage,
} from '@tidemark/embedded'
import type { EmbeddedDurability, EmbeddedProducer, EmbeddedStorage } from '@tidemark/embedded'
import { afterEach } from 'vitest'
import { dispatchValue, project } from './dispatch-project.ts'

export const topic = 'dispatch'
export const namespace = 'sessions'

/** A log and a store in files, with a projection that has run. */
export interface EmbeddedWorld {
  readonly logDirectory: string
  readonly storeDirectory: string
  /** Options that name both places and the projection. */
  readonly places: readonly string[]
  readonly names: readonly string[]
  produce(work: (producer: EmbeddedProducer) => Promise<void>): Promise<void>
  /** Changes what is stored as an operator's mistake would, while nobody has it open. */
  damage(work: (storage: EmbeddedStorage) => Promise<void>): Promise<void>
  project(): Promise<void>
  /** Every file of the store, for finding out whether one changed. */
  storeFiles(): Readonly<Record<string, string>>
}

const created: string[] = []

afterEach(() => {
  for (const directory of created.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** A world with a topic of two partitions, unless said, and some records, projected up to its end. */
export async function createEmbeddedWorld(
  records: number = 10,
  durability: EmbeddedDurability = 'server',
  partitionCount: number = 2,
): Promise<EmbeddedWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-cli-'))
  created.push(directory)
  const [logDirectory, storeDirectory] = [join(directory, 'log'), join(directory, 'store')]
  const world: EmbeddedWorld = {
    logDirectory,
    storeDirectory,
    places: ['--embedded', storeDirectory, '--embedded-log', logDirectory],
    names: ['-n', namespace, '-t', topic],
    async produce(work) {
      const producer = await createEmbeddedProducer({ directory: logDirectory, durability: 'server' })
      await work(producer).finally(() => producer.close())
    },
    async damage(work) {
      const storage = await createEmbeddedStorage({ directory: storeDirectory, durability: 'server' })
      await work(storage).finally(() => storage.close())
    },
    project: () => projectAll(logDirectory, storeDirectory, durability),
    storeFiles: () =>
      Object.fromEntries(
        readdirSync(storeDirectory).map((name) => [name, readFileSync(join(storeDirectory, name)).toString('base64')]),
      ),
  }
  await world.produce(async (producer) => {
    await producer.createTopic(topic, { partitionCount })
    await producer.append(topic, dispatches(records))
  })
  await world.project()
  return world
}

/** Records over both partitions. */
export function dispatches(count: number, from: number = 0) {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index
    return { partition: n % 2, key: null, value: dispatchValue(`u${n % 3}`, `c${n}`, 1_000 + n) }
  })
}

/** Writes one field of a stored hash. */
export function setField(key: string, field: string, value: string): (storage: EmbeddedStorage) => Promise<void> {
  return (storage) => storage.step(() => ({ outcome: undefined, writes: [{ op: 'hset', key, field, value }] }))
}

/** Removes a stored key. */
export function removeKey(key: string): (storage: EmbeddedStorage) => Promise<void> {
  return (storage) => storage.step(() => ({ outcome: undefined, writes: [{ op: 'del', key }] }))
}

async function projectAll(logDirectory: string, storeDirectory: string, durability: EmbeddedDurability): Promise<void> {
  const storage = await createEmbeddedStorage({ directory: storeDirectory, durability })
  const projection = createProjection({
    topic,
    log: createEmbeddedLog({ directory: logDirectory }),
    store: createEmbeddedProjectionStore({ storage, namespace }),
    project,
    readyTarget: 'hw',
    undecodable: 'quarantine',
    leaseMs: 1_000,
    limits: { batchRecordsMax: 100, stallMsMax: 10_000 },
  })
  try {
    const started = await projection.start()
    if (started.kind === 'refused') throw new Error(JSON.stringify(started.refusals))
    const caught = await projection.caughtUp({ deadlineMs: 20_000 })
    if (caught.kind !== 'ready') throw new Error(JSON.stringify(caught))
  } finally {
    await projection.stop()
    await storage.close()
  }
}
