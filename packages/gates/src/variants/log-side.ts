import type { CommittedLog } from '@tidemark/log'

/** Which client reads the log. */
export type LogName = 'official' | 'pinned'

/** One client under the gates. */
export interface LogSide {
  readonly name: LogName
  open(brokers: readonly string[]): CommittedLog
}
