import { checkpointErrors } from './errors.ts'

declare const namespaceBrand: unique symbol

/** The prefix under which one projection keeps its checkpoints; two projections never share one. */
export type Namespace = string & { readonly [namespaceBrand]: true }

/**
 * The namespace of a text.
 *
 * Braces are refused because Redis Cluster reads them as a hash tag; blanks and control characters because an operator
 * cannot see them.
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID
 */
export function namespaceOf(text: string): Namespace {
  if (/^[A-Za-z0-9_.:-]{1,200}$/.test(text) && !text.startsWith(':') && !text.endsWith(':')) return text as Namespace
  throw checkpointErrors.create('TM_CHECKPOINT_NAMESPACE_INVALID', { namespace: text.slice(0, 64) })
}

/** The key of a projection's identity record. */
export function metaKey(namespace: Namespace): string {
  return `${namespace}:meta`
}

/** The key of one partition's checkpoint. A legal topic name holds no colon, so two keys never coincide. */
export function checkpointKey(namespace: Namespace, topic: string, partition: number): string {
  return `${namespace}:checkpoint:${topic}:${partition}`
}

/**
 * The topic name of a text.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_TOPIC_INVALID for a name Kafka itself does not allow.
 */
export function topicNameOf(text: string): string {
  if (/^[A-Za-z0-9._-]{1,249}$/.test(text) && text !== '.' && text !== '..') return text
  throw checkpointErrors.create('TM_CHECKPOINT_TOPIC_INVALID', { topic: text.slice(0, 64) })
}
