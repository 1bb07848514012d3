import { randomBytes } from 'node:crypto'
import { embeddedErrors } from '../errors.ts'
import { NO_TRANSACTION } from '../log/batch-codec.ts'
import type { TransactionId } from '../log/batch-codec.ts'
import type { DecisionLog } from './decision-log.ts'
import type { AppendedRecord, NewRecord } from '../log/new-record.ts'
import type { PartitionLog } from './partition-log.ts'

/** Records of several topics and partitions that are delivered all or not at all. */
export interface EmbeddedTransaction {
  append(topic: string, records: readonly NewRecord[]): Promise<readonly AppendedRecord[]>
  /** Resolves when the decision is as durable as declared: from then on a crash finishes it. */
  commit(): Promise<void>
  abort(): Promise<void>
}

/** What a transaction needs of its producer. */
export interface TransactionHost {
  run<T>(job: () => Promise<T>): Promise<T>
  appendWithin(
    topic: string,
    records: readonly NewRecord[],
    transactionId: TransactionId,
    touched: Set<PartitionLog>,
  ): Promise<readonly AppendedRecord[]>
  readonly decisions: DecisionLog
  /** False for a partition whose topic was deleted meanwhile. */
  isLive(log: PartitionLog): boolean
}

/** A transaction without records yet. */
export function beginTransaction(host: TransactionHost, ended: () => void): EmbeddedTransaction {
  const transactionId = freshTransactionId()
  const touched = new Set<PartitionLog>()
  let state: 'open' | 'to be aborted' | 'committed' | 'aborted' | 'in doubt' = 'open'
  const requireOpen = (isAbort: boolean): void => {
    if (state === 'open' || (isAbort && state === 'to be aborted')) return
    throw embeddedErrors.create('TM_EMBEDDED_TRANSACTION_ENDED', { state })
  }
  const end = (kind: 'commit' | 'abort', after: 'committed' | 'aborted'): Promise<void> =>
    host.run(async () => {
      requireOpen(kind === 'abort')
      // Until the markers are written, a failure leaves the outcome to the next opening of the log.
      state = 'in doubt'
      ended()
      const partitions = [...touched].filter((log) => host.isLive(log) && log.openTransactions.has(transactionId))
      // One marker alone is one frame, so a commit of a single partition needs no decision beside it.
      if (kind === 'commit' && partitions.length > 1) await host.decisions.commit(transactionId)
      await allSettled(partitions.map((log) => log.mark(kind, transactionId)))
      await host.decisions.forgetIfLarge()
      state = after
    })
  return {
    append: (topic, records) =>
      host.run(async () => {
        requireOpen(false)
        try {
          return await host.appendWithin(topic, records, transactionId, touched)
        } catch (error) {
          // Some of the records may stand there; committing the rest would deliver a part as the whole.
          state = 'to be aborted'
          throw error
        }
      }),
    commit: () => end('commit', 'committed'),
    abort: () => end('abort', 'aborted'),
  }
}

function freshTransactionId(): TransactionId {
  const transactionId = randomBytes(8).readBigUInt64BE(0)
  return transactionId === NO_TRANSACTION ? 1n : transactionId
}

/** Waits for all, so that nothing is still being written when the caller goes on, then fails as the first that failed. */
export async function allSettled(jobs: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(jobs)) if (result.status === 'rejected') throw result.reason
}
