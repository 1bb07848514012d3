import type { IdempotentWriter, ProjectionStore } from '@tidemark/checkpoint'
import { createMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import { offsetOf } from '@tidemark/core'
import type { CommittedLog, LogReader, PartitionBatch, PollResult } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

type Store = ProjectionStore<IdempotentWriter>

/** One rule of a port broken on purpose, and what the runtime must make of it. */
interface PlantedBug {
  readonly name: string
  readonly code: string
  readonly store?: (store: Store) => Partial<Store>
  /** Changes what a poll answers; counted from 1 over the polls that brought something. */
  readonly batches?: (batches: readonly PartitionBatch[], poll: number) => readonly PartitionBatch[]
}

const bugs: readonly PlantedBug[] = [
  {
    name: 'a store confirms a step that it did not make, and nobody writes after it',
    code: 'STORE_CHANGED',
    store: () => ({ advance: async () => ({ kind: 'advanced', resent: false }) }),
  },
  {
    name: 'a store confirms one step that it did not make',
    code: 'CONFLICT',
    store(store) {
      let swallowed = false
      return {
        advance(request) {
          if (swallowed) return store.advance(request)
          swallowed = true
          return Promise.resolve({ kind: 'advanced', resent: false })
        },
      }
    },
  },
  {
    name: 'a store moves a checkpoint further than it was told',
    code: 'CONFLICT',
    store: (store) => ({
      advance: (request) => store.advance({ ...request, to: offsetOf(request.to + 1n) }),
    }),
  },
  {
    name: 'a store throws where an outcome is due',
    code: 'STORE_FAILED',
    store: () => ({
      advance: () => {
        throw new TypeError('not a promise')
      },
    }),
  },
  {
    name: 'a log delivers a record twice',
    code: 'OFFSETS_BACKWARDS',
    batches: (batches) => batches.flatMap((batch) => (batch.records.length > 0 ? [withoutEnd(batch), batch] : [batch])),
  },
  {
    name: 'a log turns the records of a batch around',
    code: 'OFFSETS_BACKWARDS',
    batches: (batches) => batches.map((batch) => ({ ...batch, records: [...batch.records].reverse() })),
  },
  {
    name: 'a log reports an end below what it delivered',
    code: 'OFFSETS_BACKWARDS',
    batches: (batches) =>
      batches.map((batch) => (batch.records.length > 0 ? { ...batch, endOffset: batch.records[0]!.offset } : batch)),
  },
  {
    name: 'a log delivers a partition that was not assigned',
    code: 'READ_FAILED',
    batches: (batches) => batches.map((batch) => ({ ...batch, partition: 7 })),
  },
]

function withoutEnd({ partition, records }: PartitionBatch): PartitionBatch {
  return { partition, records }
}

function plantInStore(world: ProjectionWorld, bug: PlantedBug): Store {
  const store = createMemoryProjectionStore({
    namespace: 'p',
    server: world.server,
    nonce: () => world.chooser.hex(32),
  })
  return Object.assign(Object.create(store) as Store, bug.store?.(store))
}

function plantInLog(log: CommittedLog, bug: PlantedBug): CommittedLog {
  let polls = 0
  const spoil = (result: PollResult): PollResult => {
    if (result.kind === 'failed' || result.batches.length === 0 || bug.batches === undefined) return result
    polls += 1
    return { kind: 'fetched', batches: bug.batches(result.batches, polls) }
  }
  return {
    ...log,
    async openReader(request): Promise<LogReader> {
      const reader = await log.openReader(request)
      return { ...reader, poll: async (poll) => spoil(await reader.poll(poll)) }
    },
  }
}

describe('a port that breaks its contract', () => {
  it.each(bugs)('[CKP-30] $name: $code', async (bug) => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    // More than one step, so that a lie about the first one meets a second.
    for (let n = 0; n < 6; n += 1) topic.append(0, dispatch('ann', n))
    const limits = { batchRecordsMax: bug.code === 'STORE_CHANGED' ? 10 : 2, stallMsMax: 5_000 }
    const projection = world.projection({
      store: plantInStore(world, bug),
      log: plantInLog(world.log.openLog(), bug),
      limits,
    })
    await projection.start()
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: bug.code } })
    expect(projection.status().ready).toBe(false)
    await projection.stop()
  })
})
