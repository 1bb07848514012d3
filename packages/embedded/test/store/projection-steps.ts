import type { AdvanceOutcome, IdempotentWriter, ProjectionStore } from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import { witnessOf } from '@tidemark/log'
import type { Fence, LogIdentity, LogRecord } from '@tidemark/log'

export const identity: LogIdentity = {
  clusterId: 'cluster-a',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 2,
}

export function recordAt(partition: number, offset: number): LogRecord {
  const value = new TextEncoder().encode(`v${offset}`)
  return { partition, offset: offsetOf(offset), leaderEpoch: 0, timestampMs: 1, key: null, value, headers: [] }
}

/** Claims and bootstraps both partitions of an empty store. */
export async function begin(store: ProjectionStore<IdempotentWriter>): Promise<ReadonlyMap<number, Fence>> {
  const { fences } = await store.claim({ topic: 'dispatch', partitionCount: 2 })
  await store.bootstrap({ identity, createMeta: true, partitions: [0, 1], fences })
  return fences
}

export interface Step {
  readonly process: string
  readonly partition: number
  readonly from: number
  readonly to: number
  readonly write: (writer: IdempotentWriter) => void
}

export function advance(
  store: ProjectionStore<IdempotentWriter>,
  fences: ReadonlyMap<number, Fence>,
  step: Step,
): Promise<AdvanceOutcome> {
  const { process, partition } = step
  const writes = store.newWrites()
  step.write(writes.writer)
  const witness = witnessOf(recordAt(partition, step.to - 1))
  const [from, to] = [offsetOf(step.from), offsetOf(step.to)]
  const fence = fences.get(partition)!
  return store.advance({ identity, partition, fence, process, from, to, writes, witness, quarantine: [] })
}
