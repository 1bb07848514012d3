import type { LogPlace } from '../settings/place-settings.ts'

/** One record to write; the partition follows from the key unless it is said. */
export interface DispatchMessage {
  readonly key: string
  readonly value: Uint8Array | null
  readonly partition?: number
}

/** Writes dispatch records in transactions. */
export interface DispatchWriter {
  /** One transaction: all records, then commit or abort. Resolves when the log has confirmed it. */
  write(messages: readonly DispatchMessage[], ending: 'commit' | 'abort'): Promise<void>
  close(): Promise<void>
}

/** What a writer needs. */
export interface DispatchWriterOptions {
  readonly place: LogPlace
  readonly topic: string
  /** The longest wait for any one answer. */
  readonly deadlineMs: number
}
