import type { CommittedLog } from '@tidemark/log'
import type { ContractWorld } from './contract-case.ts'

/** What a log under test may or may not let its test do. */
export type LogCapability =
  /** Records can be appended in transactions that commit, abort or stay open. */
  | 'transactions'
  /** The low end can be moved. */
  | 'retention'
  /** The topic can be deleted and created again. */
  | 'recreation'
  /** The tail can be cut, as an unclean election does. */
  | 'truncation'
  /** Single records can be compacted away. */
  | 'compaction'
  /** Headers can be appended. */
  | 'headers'
  /** A running reader reports a failure when the topic under it is recreated, because it fetches by id. */
  | 'pinned-identity'

/** What a case appends; absent parts are null or empty. */
export interface WorldRecord {
  readonly key?: Uint8Array | string | null
  readonly value?: Uint8Array | string | null
  readonly timestampMs?: number
  readonly headers?: readonly { readonly name: string; readonly value: Uint8Array | null }[]
}

/** A topic of its own with two partitions, and the test's hands on the cluster beneath. One per case. */
export interface CommittedLogWorld extends ContractWorld {
  /** The topic's name; it exists and is empty. */
  readonly topic: string
  /** A new client, as another process would open it. The world closes what a case leaves open. */
  openLog(): Promise<CommittedLog>
  /** Appends committed records outside any transaction and returns when they are readable. */
  append(partition: number, records: readonly WorldRecord[]): Promise<void>
  /** Opens a transaction and appends to it; it stays open until ended. */
  begin?(partition: number, records: readonly WorldRecord[]): Promise<WorldTransaction>
  /** Moves the low end of a partition. */
  deleteRecordsBefore?(partition: number, low: bigint): Promise<void>
  /** Deletes the topic and creates it again, empty, with as many partitions; returns when brokers agree. */
  recreate?(): Promise<void>
  truncate?(partition: number, end: bigint): Promise<void>
  /** Drops the record at an offset below the end but keeps all others. */
  compactAway?(partition: number, offset: bigint): Promise<void>
  /** How long a call may take on this log at most; deadlines given by cases are this. */
  readonly deadlineMs: number
  /** How much longer than its deadline a call may really take on this machine. */
  readonly slackMs: number
}

/** A transaction a case left open. */
export interface WorldTransaction {
  commit(): Promise<void>
  abort(): Promise<void>
}
