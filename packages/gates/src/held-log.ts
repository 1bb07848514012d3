import type { CommittedLog, LogReader, LogRecord } from '@tidemark/log'

/** A log whose reader a test can hold: while held, the client under it fetches nothing. */
export interface HeldLog {
  readonly log: CommittedLog
  /** Pauses fetching of the partitions in the client itself. */
  hold(partitions: readonly number[]): void
  release(partitions: readonly number[]): void
  /** Every record the client delivered, applied or not. */
  readonly delivered: readonly LogRecord[]
}

/** Wraps a real log; nothing of it is imitated, its reader is only reached from outside. */
export function holdLog(log: CommittedLog): HeldLog {
  const delivered: LogRecord[] = []
  let reader: LogReader | undefined
  return {
    delivered,
    hold: (partitions) => reader?.pause(partitions),
    release: (partitions) => reader?.resume(partitions),
    log: {
      inspector: log.inspector,
      readBack: (request) => log.readBack(request),
      close: () => log.close(),
      async openReader(request) {
        const opened = await log.openReader(request)
        reader = opened
        return {
          async poll(poll) {
            const result = await opened.poll(poll)
            if (result.kind === 'fetched') for (const batch of result.batches) delivered.push(...batch.records)
            return result
          },
          pause: (partitions) => opened.pause(partitions),
          resume: (partitions) => opened.resume(partitions),
          describeTopic: (deadlineMs) => opened.describeTopic(deadlineMs),
          close: () => opened.close(),
        }
      },
    },
  }
}
