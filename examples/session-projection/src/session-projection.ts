import { createProjection, isUndecodable } from '@tidemark/checkpoint'
import type {
  CommutingWriter,
  Projection,
  ProjectionLimits,
  ProjectionObserver,
  ProjectionStore,
  ReadyTarget,
  Undecodable,
} from '@tidemark/checkpoint'
import type { CommittedLog, LogRecord } from '@tidemark/log'
import { decodeDispatch } from './dispatch-record.ts'
import { sessionKey } from './session-key.ts'

/** What the session projection is made of. */
export interface SessionProjectionOptions {
  readonly topic: string
  readonly log: CommittedLog
  readonly store: ProjectionStore<CommutingWriter>
  readonly readyTarget: ReadyTarget
  readonly undecodable: 'stop' | 'quarantine'
  readonly leaseMs: number
  readonly limits: ProjectionLimits
  readonly observer?: ProjectionObserver
}

/** Projects dispatch records into each recipient's conversations. */
export function createSessionProjection(options: SessionProjectionOptions): Projection {
  return createProjection<CommutingWriter>({ ...options, project: projectDispatch })
}

/**
 * One dispatch: every recipient has the conversation, at the time of its latest dispatch.
 *
 * `GT` makes it safe in any order and any number of times, which is why an older copy of this service can do no harm.
 */
export function projectDispatch(record: LogRecord, write: CommutingWriter): Undecodable | void {
  const dispatch = decodeDispatch(record.value)
  if (isUndecodable(dispatch)) return dispatch
  for (const user of dispatch.recipients) {
    write.zadd(sessionKey(user), 'GT', dispatch.createdAt, dispatch.conversationId)
  }
}
