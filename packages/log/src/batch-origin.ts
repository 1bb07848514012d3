import type { PartitionBatch } from './committed-log.ts'
import type { LogIdentity } from './log-identity.ts'

/** Whether a batch came from the held log, says nothing of where it came from, or came from another log. */
export type BatchOrigin = 'held' | 'unstated' | 'foreign'

/**
 * What the topic id a batch was served under proves.
 *
 * A broker answers a fetch by id only from the log that has this id, and ids are never reused, so equality with the id
 * that the start proved is a proof of its own: no check has to follow. It says nothing of the partition count, and of
 * the cluster only what the start proved of this id; both stay with the periodic check. Promises: LOG-12.
 */
export function originOfBatch(batch: PartitionBatch, held: LogIdentity): BatchOrigin {
  if (batch.servedTopicId === undefined) return 'unstated'
  return batch.servedTopicId === held.topicId ? 'held' : 'foreign'
}
