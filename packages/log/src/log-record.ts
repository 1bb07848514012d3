import type { Offset } from '@tidemark/core'

/** One committed data record as it was read. Control records and aborted records never appear as one. */
export interface LogRecord {
  readonly partition: number
  readonly offset: Offset
  /** The epoch of the leader that appended it, or -1 where the client does not say. Source: KIP-101. */
  readonly leaderEpoch: number
  /** Epoch milliseconds as the producer or broker set them; -1 where absent. Not checked. */
  readonly timestampMs: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly RecordHeader[]
}

/** A header of a record; names may repeat. */
export interface RecordHeader {
  readonly name: string
  readonly value: Uint8Array | null
}
