import { offsetOf } from '@tidemark/core'
import type { Offset, TopicId } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'
import { simErrors } from './errors.ts'
import { createSimPartition } from './sim-partition.ts'
import type { SimPartition, SimRecordInput, TransactionState } from './sim-partition.ts'

/** One life of a topic: deleting and creating it again makes another one with another id. */
export interface SimTopic {
  readonly name: string
  readonly topicId: TopicId
  readonly partitionCount: number
  retentionMs: bigint
  cleanupPolicy: string
  partition(partition: number): SimPartition
  append(partition: number, ...inputs: readonly SimRecordInput[]): readonly Offset[]
  /** Opens a transaction; its records hold the last stable offset back until it ends. */
  begin(): SimTransaction
  deleteRecordsBefore(partition: number, low: bigint | number): void
  compact(partition: number, keep: (record: LogRecord) => boolean): void
  truncate(partition: number, end: bigint | number): void
  /** Adds empty partitions, as an operator does; it cannot shrink. */
  grow(partitionCount: number): void
  /** Every committed record still there, in order: what a complete projection of the partition must have seen. */
  committed(partition: number): readonly LogRecord[]
}

/** An open transaction over any partitions of its topic. */
export interface SimTransaction {
  append(partition: number, ...inputs: readonly SimRecordInput[]): readonly Offset[]
  commit(): void
  abort(): void
}

/** A new topic. Made by the simulated cluster, which hands out the ids. */
export function createSimTopic(name: string, topicId: TopicId, partitionCount: number): SimTopic {
  const partitions = Array.from({ length: partitionCount }, (_, partition) => createSimPartition(partition))
  const partitionOf = (partition: number): SimPartition => {
    const found = partitions[partition]
    if (found === undefined) throw simErrors.create('TM_SIM_TOPIC_UNKNOWN', { topic: name, partition })
    return found
  }
  return {
    name,
    topicId,
    get partitionCount() {
      return partitions.length
    },
    retentionMs: 604_800_000n,
    cleanupPolicy: 'delete',
    partition: partitionOf,
    append: (partition, ...inputs) => inputs.map((input) => partitionOf(partition).append(input)),
    begin: () => openTransaction(partitionOf),
    deleteRecordsBefore: (partition, low) => partitionOf(partition).deleteRecordsBefore(offsetOf(low)),
    compact: (partition, keep) => partitionOf(partition).compact(keep),
    truncate: (partition, end) => partitionOf(partition).truncate(offsetOf(end)),
    grow(count) {
      if (count < partitions.length) {
        const reason = `${count} is fewer than ${partitions.length}`
        throw simErrors.create('TM_SIM_WORLD_INVALID', { action: 'grow the topic', reason })
      }
      while (partitions.length < count) partitions.push(createSimPartition(partitions.length))
    },
    committed: (partition) => partitionOf(partition).readCommitted(offsetOf(0n), Number.MAX_SAFE_INTEGER).records,
  }
}

function openTransaction(partitionOf: (partition: number) => SimPartition): SimTransaction {
  const state: TransactionState = { outcome: 'open' }
  const touched = new Set<number>()
  const end = (outcome: 'committed' | 'aborted'): void => {
    if (state.outcome !== 'open') {
      const reason = `it is ${state.outcome} already`
      throw simErrors.create('TM_SIM_WORLD_INVALID', { action: 'end the transaction', reason })
    }
    state.outcome = outcome
    for (const partition of touched) partitionOf(partition).appendControl(state)
  }
  return {
    append(partition, ...inputs) {
      if (state.outcome !== 'open') {
        const reason = `the transaction is ${state.outcome}`
        throw simErrors.create('TM_SIM_WORLD_INVALID', { action: 'append', reason })
      }
      touched.add(partition)
      return inputs.map((input) => partitionOf(partition).append(input, state))
    },
    commit: () => end('committed'),
    abort: () => end('aborted'),
  }
}
