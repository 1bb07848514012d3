import { decodeOffset, encodeOffset, isCanonicalTopicId } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import type { LogIdentity } from '@tidemark/log'

/** The one stored format this version reads and writes. */
export const FORMAT_VERSION = '1'

/** The fields of a stored hash exactly as the store returned them. */
export type StoredFields = Readonly<Record<string, string>>

/** A projection's identity record: which log its data came from. */
export interface StoredMeta {
  readonly identity: LogIdentity
}

/** One partition's position, bound to the identity it was read under. */
export interface StoredCheckpoint {
  readonly identity: LogIdentity
  readonly partition: number
  /** The next record to process. */
  readonly nextOffset: Offset
}

/** What is wrong with a stored field. */
export type FieldFault =
  | { readonly kind: 'missing'; readonly field: string }
  | { readonly kind: 'unknown'; readonly field: string }
  | { readonly kind: 'unparseable'; readonly field: string; readonly text: string }
  | { readonly kind: 'format-version'; readonly text: string }

/** A decoded hash, or everything that is wrong with it. */
export type Decoded<T> =
  { readonly kind: 'decoded'; readonly value: T } | { readonly kind: 'faulty'; readonly faults: readonly FieldFault[] }

const identityFields = ['format_version', 'dispatch_topic', 'partition_count', 'cluster_id', 'topic_id'] as const
const checkpointFields = [...identityFields, 'partition', 'next_offset'] as const

/** The fields of a meta hash, in their fixed order. Promises: CKP-1. */
export function encodeMeta(identity: LogIdentity): StoredFields {
  return {
    format_version: FORMAT_VERSION,
    dispatch_topic: identity.topic,
    partition_count: String(identity.partitionCount),
    cluster_id: identity.clusterId,
    topic_id: identity.topicId,
  }
}

/** The fields of a checkpoint hash, in their fixed order. Promises: CKP-1. */
export function encodeCheckpoint(checkpoint: StoredCheckpoint): StoredFields {
  return {
    ...encodeMeta(checkpoint.identity),
    partition: String(checkpoint.partition),
    next_offset: encodeOffset(checkpoint.nextOffset),
  }
}

/** The meta that stored fields stand for. Nothing is defaulted, trimmed or guessed. Promises: CKP-2. */
export function decodeMeta(fields: StoredFields): Decoded<StoredMeta> {
  const faults = shapeFaults(fields, identityFields)
  const identity = decodeIdentity(fields, faults)
  return identity === undefined || faults.length > 0
    ? { kind: 'faulty', faults }
    : { kind: 'decoded', value: { identity } }
}

/** An identity and the stored fields it was decoded from. */
export interface DecodedIdentity {
  readonly fields: StoredFields
  readonly identity: LogIdentity
}

/** The checkpoint that stored fields stand for. Promises: CKP-2. */
export function decodeCheckpoint(fields: StoredFields): Decoded<StoredCheckpoint> {
  return decodeCheckpointLike(fields, undefined)
}

/**
 * The same, beside one that was decoded before: the partitions of one log repeat its identity word for word, so what stands in
 * the same words is not decoded again.
 */
export function decodeCheckpointLike(
  fields: StoredFields,
  like: DecodedIdentity | undefined,
): Decoded<StoredCheckpoint> {
  const known = like !== undefined && repeatsIdentity(fields, like.fields)
  const faults = known && hasPositionAndNoMore(fields) ? [] : shapeFaults(fields, checkpointFields)
  const identity = known ? like.identity : decodeIdentity(fields, faults)
  const partition = readCount(fields, 'partition', 0, faults)
  const nextText = fields['next_offset']
  const nextOffset = nextText === undefined ? undefined : decodeOffset(nextText)
  if (nextText !== undefined && nextOffset === undefined) faults.push(unparseable('next_offset', nextText))
  if (faults.length > 0 || identity === undefined || partition === undefined || nextOffset === undefined) {
    return { kind: 'faulty', faults }
  }
  return { kind: 'decoded', value: { identity, partition, nextOffset } }
}

function shapeFaults(fields: StoredFields, known: readonly string[]): FieldFault[] {
  const faults: FieldFault[] = []
  for (const field of known) if (!Object.hasOwn(fields, field)) faults.push({ kind: 'missing', field })
  const found = Object.keys(fields)
  // All of the known ones and no more of them: nothing unknown to look for.
  if (faults.length > 0 || found.length !== known.length) {
    for (const field of found) if (!known.includes(field)) faults.push({ kind: 'unknown', field })
  }
  const version = fields['format_version']
  if (version !== undefined && version !== FORMAT_VERSION)
    faults.push({ kind: 'format-version', text: version.slice(0, 64) })
  return faults
}

function decodeIdentity(fields: StoredFields, faults: FieldFault[]): LogIdentity | undefined {
  const partitionCount = readCount(fields, 'partition_count', 1, faults)
  const topic = readText(fields, 'dispatch_topic', faults)
  const clusterId = readText(fields, 'cluster_id', faults)
  const topicId = fields['topic_id']
  if (topicId !== undefined && !isCanonicalTopicId(topicId)) faults.push(unparseable('topic_id', topicId))
  if (partitionCount === undefined || topic === undefined || clusterId === undefined) return undefined
  if (topicId === undefined || !isCanonicalTopicId(topicId)) return undefined
  return { clusterId, topic, topicId, partitionCount }
}

/** Whether the fields of the identity are there and say the same, word for word. */
function repeatsIdentity(fields: StoredFields, known: StoredFields): boolean {
  return (
    fields['topic_id'] === known['topic_id'] &&
    fields['dispatch_topic'] === known['dispatch_topic'] &&
    fields['partition_count'] === known['partition_count'] &&
    fields['cluster_id'] === known['cluster_id'] &&
    fields['format_version'] === known['format_version']
  )
}

/** Beside an identity that is complete: the two other fields, and nothing unknown. */
function hasPositionAndNoMore(fields: StoredFields): boolean {
  if (fields['partition'] === undefined || fields['next_offset'] === undefined) return false
  return Object.keys(fields).length === checkpointFields.length
}

function readText(fields: StoredFields, field: string, faults: FieldFault[]): string | undefined {
  const text = fields[field]
  if (text === '') faults.push(unparseable(field, text))
  return text === '' ? undefined : text
}

function readCount(fields: StoredFields, field: string, min: number, faults: FieldFault[]): number | undefined {
  const text = fields[field]
  if (text === undefined) return undefined
  const value = /^(?:0|[1-9][0-9]{0,5})$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= PARTITION_COUNT_MAX) return value
  faults.push(unparseable(field, text))
  return undefined
}

function unparseable(field: string, text: string): FieldFault {
  // Damaged values can be huge or hold anything; a short excerpt is enough to recognise one.
  return { kind: 'unparseable', field, text: text.slice(0, 64) }
}
