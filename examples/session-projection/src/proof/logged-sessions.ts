import { isUndecodable } from '@tidemark/checkpoint'
import type { Offset } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'
import { decodeDispatch } from '../dispatch-record.ts'
import type { DispatchRecord } from '../dispatch-record.ts'

/** A dispatch and where it stands in the log. */
export interface LoggedDispatch {
  readonly partition: number
  readonly offset: Offset
  readonly dispatch: DispatchRecord
}

/** What the log says every user's sessions are, recomputed record by record. */
export interface LoggedSessions {
  /** By user, by conversation: the time of the latest dispatch. */
  readonly sessions: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly dispatches: readonly LoggedDispatch[]
  /** Records that stand for no dispatch. */
  readonly undecodable: number
  take(record: LogRecord): void
}

/** An empty recomputation. It shares the meaning of a record with the projection, and nothing else. */
export function createLoggedSessions(): LoggedSessions {
  const sessions = new Map<string, Map<string, number>>()
  const dispatches: LoggedDispatch[] = []
  let undecodable = 0
  return {
    sessions,
    dispatches,
    get undecodable() {
      return undecodable
    },
    take(record) {
      const dispatch = decodeDispatch(record.value)
      if (isUndecodable(dispatch)) {
        undecodable += 1
        return
      }
      dispatches.push({ partition: record.partition, offset: record.offset, dispatch })
      for (const user of dispatch.recipients) {
        const conversations = sessions.get(user) ?? new Map<string, number>()
        sessions.set(user, conversations)
        const latest = conversations.get(dispatch.conversationId)
        if (latest === undefined || latest < dispatch.createdAt) {
          conversations.set(dispatch.conversationId, dispatch.createdAt)
        }
      }
    },
  }
}
