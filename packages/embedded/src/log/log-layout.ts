import { join } from 'node:path'
import type { TopicId } from '@tidemark/core'

/** The lock file of a log directory's one writer. */
export const LOG_LOCK = 'writer.lock'

/** Which cluster this is: written once, when the log is created. */
export function clusterFile(directory: string): string {
  return join(directory, 'log.json')
}

/** Where topics are named: one file each, replaced in one step. */
export function topicsDirectory(directory: string): string {
  return join(directory, 'topics')
}

/** A topic's name, id, partition count and settings. */
export function topicFile(directory: string, topic: string): string {
  return join(topicsDirectory(directory), `${topic}.json`)
}

/** Where records stand, by topic id: a recreated topic has another folder, so nobody reads it by the old id. */
export function recordsDirectory(directory: string): string {
  return join(directory, 'records')
}

/** One partition's files. */
export function partitionDirectory(directory: string, topicId: TopicId, partition: number): string {
  return join(recordsDirectory(directory), topicId, String(partition))
}

/** What the partition's writer publishes to readers. */
export function boundsFile(partitionDirectory: string): string {
  return join(partitionDirectory, 'bounds')
}

/** The ids of the partition's aborted transactions. */
export function abortedFile(partitionDirectory: string): string {
  return join(partitionDirectory, 'aborted')
}

/** A segment, named by its first offset. */
export function segmentFile(partitionDirectory: string, baseOffset: bigint): string {
  return join(partitionDirectory, `${String(baseOffset).padStart(19, '0')}.segment`)
}

/** The first offset of the segment with this file name, or `undefined` when it is not a segment. */
export function segmentBase(name: string): bigint | undefined {
  const match = /^([0-9]{19})\.segment$/.exec(name)
  return match === null ? undefined : BigInt(match[1]!)
}

/** Which transactions were decided to commit; their markers may still have to be written. */
export function decisionsFile(directory: string): string {
  return join(directory, 'decisions')
}
