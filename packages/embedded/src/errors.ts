import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

interface EmbeddedErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_EMBEDDED_LOCKED: ErrorSpec<{ readonly file: string; readonly holder: string; readonly reason: string }>
  readonly TM_EMBEDDED_LOCK_LOST: ErrorSpec<{ readonly file: string }>
  readonly TM_EMBEDDED_DAMAGED: ErrorSpec<{ readonly file: string; readonly position: number; readonly reason: string }>
  readonly TM_EMBEDDED_FORMAT_UNKNOWN: ErrorSpec<{ readonly file: string; readonly found: string }>
  readonly TM_EMBEDDED_DIRECTORY_FOREIGN: ErrorSpec<{ readonly directory: string; readonly found: string }>
  readonly TM_EMBEDDED_LOG_MISSING: ErrorSpec<{ readonly directory: string }>
  readonly TM_EMBEDDED_STORAGE_MISSING: ErrorSpec<{ readonly directory: string }>
  readonly TM_EMBEDDED_READ_ONLY: ErrorSpec<{ readonly directory: string }>
  readonly TM_EMBEDDED_RECORDS_LOST: ErrorSpec<{
    readonly directory: string
    readonly end: string
    readonly highWatermark: string
  }>
  readonly TM_EMBEDDED_TOPIC_EXISTS: ErrorSpec<{ readonly topic: string }>
  readonly TM_EMBEDDED_TOPIC_UNKNOWN: ErrorSpec<{ readonly topic: string }>
  readonly TM_EMBEDDED_OPTION_INVALID: ErrorSpec<{ readonly option: string; readonly reason: string }>
  readonly TM_EMBEDDED_RECORD_INVALID: ErrorSpec<{
    readonly topic: string
    readonly index: number
    readonly reason: string
  }>
  readonly TM_EMBEDDED_OFFSET_OUT_OF_RANGE: ErrorSpec<{
    readonly topic: string
    readonly partition: number
    readonly offset: string
    readonly low: string
    readonly highWatermark: string
  }>
  readonly TM_EMBEDDED_TRANSACTION_ENDED: ErrorSpec<{ readonly state: string }>
  readonly TM_EMBEDDED_STEP_TOO_LARGE: ErrorSpec<{ readonly bytes: number; readonly bytesMax: number }>
  readonly TM_EMBEDDED_CLOSED: ErrorSpec<{ readonly what: string }>
  readonly TM_EMBEDDED_IO_FAILED: ErrorSpec<{ readonly what: string; readonly file: string; readonly reason: string }>
  readonly TM_EMBEDDED_STORAGE_REPLACED: ErrorSpec<{ readonly file: string; readonly reason: string }>
}

/** Every error the embedded package can raise. */
export const embeddedErrors: ErrorCatalogue<EmbeddedErrorSpecs> = defineErrors<EmbeddedErrorSpecs>('EMBEDDED', {
  TM_EMBEDDED_LOCKED: {
    retriable: true,
    message: (d) => `${d.file} is held by ${d.holder}: ${d.reason}; only one writer may open this directory`,
    remedy: 'Stop the holder. If it runs on a host that no longer exists, remove the lock file by hand.',
  },
  TM_EMBEDDED_LOCK_LOST: {
    retriable: false,
    message: (d) => `${d.file} no longer names this writer; it writes nothing further`,
    remedy: 'Find out who removed or took the lock file; make sure one writer runs, then start it again.',
  },
  TM_EMBEDDED_DAMAGED: {
    retriable: false,
    message: (d) => `${d.file} is damaged at byte ${d.position}: ${d.reason}`,
    remedy:
      'Restore the whole directory from a backup, or move it away and rebuild from a log whose history is complete.',
  },
  TM_EMBEDDED_FORMAT_UNKNOWN: {
    retriable: false,
    message: (d) => `${d.file} was not written in a format this version reads: ${d.found}`,
    remedy: 'Open the directory with the version that wrote it; check that the path names the directory meant.',
  },
  TM_EMBEDDED_DIRECTORY_FOREIGN: {
    retriable: false,
    message: (d) => `${d.directory} holds ${d.found}, which this package did not write there`,
    remedy: 'Give the log and the store a directory each, and nothing else in it.',
  },
  TM_EMBEDDED_LOG_MISSING: {
    retriable: true,
    message: (d) => `no embedded log stands in ${d.directory}`,
    remedy: 'Check the path; the first producer that opens the directory creates the log.',
  },
  TM_EMBEDDED_STORAGE_MISSING: {
    retriable: false,
    message: (d) => `no embedded storage stands in ${d.directory}`,
    remedy: 'Check the path: it names the directory of the store, not that of the log. Looking creates nothing.',
  },
  TM_EMBEDDED_READ_ONLY: {
    retriable: false,
    message: (d) => `the view of ${d.directory} is for reading; a step was asked of it`,
    remedy: 'Open the directory by createEmbeddedStorage to write; it has one writer at a time.',
  },
  TM_EMBEDDED_RECORDS_LOST: {
    retriable: false,
    message: (d) => `${d.directory} ends at ${d.end}, but records below ${d.highWatermark} were acknowledged`,
    remedy:
      'Restore the directory, or open it with lostRecords "accept": projections that applied the lost records refuse.',
  },
  TM_EMBEDDED_TOPIC_EXISTS: {
    retriable: false,
    message: (d) => `topic ${d.topic} exists already`,
    remedy: 'Use the topic that is there, or delete it first; a recreated topic has another id.',
  },
  TM_EMBEDDED_TOPIC_UNKNOWN: {
    retriable: false,
    message: (d) => `topic ${d.topic} does not exist`,
    remedy: 'Create the topic first; check its name.',
  },
  TM_EMBEDDED_OPTION_INVALID: {
    retriable: false,
    message: (d) => `option ${d.option}: ${d.reason}`,
    remedy: 'State the option as its documentation says.',
  },
  TM_EMBEDDED_RECORD_INVALID: {
    retriable: false,
    message: (d) => `record ${d.index} for topic ${d.topic}: ${d.reason}`,
    remedy: 'Correct the record; nothing of the append was written.',
  },
  TM_EMBEDDED_OFFSET_OUT_OF_RANGE: {
    retriable: false,
    message: (d) =>
      `offset ${d.offset} of ${d.topic}-${d.partition} is outside its log, which holds ${d.low} to ${d.highWatermark}`,
    remedy: 'Use an offset from the low to the high end of the partition.',
  },
  TM_EMBEDDED_TRANSACTION_ENDED: {
    retriable: false,
    message: (d) => `the transaction is ${d.state} and takes nothing further`,
    remedy: 'Begin a new transaction.',
  },
  TM_EMBEDDED_STEP_TOO_LARGE: {
    retriable: false,
    message: (d) => `one step takes ${d.bytes} bytes, more than ${d.bytesMax}`,
    remedy: 'A step is one record or more; refuse or quarantine records that make so many writes.',
  },
  TM_EMBEDDED_CLOSED: {
    retriable: false,
    message: (d) => `${d.what} was closed before this call`,
    remedy: 'Open it again; a closed one is never reused.',
  },
  TM_EMBEDDED_IO_FAILED: {
    retriable: false,
    message: (d) => `${d.what} ${d.file} failed: ${d.reason}`,
    remedy:
      'Check free space, permissions and the disk; what was in flight is unknown until the directory is opened again.',
  },
  TM_EMBEDDED_STORAGE_REPLACED: {
    retriable: false,
    message: (d) => `${d.file} is not the file this writer opened any more: ${d.reason}`,
    remedy: 'Find out who replaced or emptied the directory; nothing was written into the new one.',
  },
})
