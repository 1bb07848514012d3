import { invariant } from '@tidemark/core'
import { encodeMeta } from '@tidemark/checkpoint'
import type { BootstrapOutcome, BootstrapRequest } from '@tidemark/checkpoint'
import { redisErrors } from '../errors.ts'
import type { RedisLink } from '../connection/redis-link.ts'
import { arrayReply, malformed, optionalTextReply, textReply } from '../connection/reply-shape.ts'
import { newNonce } from './claim-fences.ts'
import type { KeyLayout } from './key-layout.ts'
import { createCheckpointsScript } from './scripts/create-checkpoints.ts'

/**
 * Creates meta, checkpoints and the incarnation nonce in one script, all or none. Promises: RED-8.
 *
 * The script is not cut at the step limits: half a bootstrap would be worse than a long one, and it happens once.
 */
export async function createCheckpoints(
  link: RedisLink,
  keys: KeyLayout,
  request: BootstrapRequest,
): Promise<BootstrapOutcome> {
  const { identity, createMeta, partitions, fences } = request
  const { topic } = identity
  const fields = encodeMeta(identity)
  const names = [keys.meta, keys.partitions, keys.incarnation]
  const args = [createMeta ? '1' : '0', ...metaFieldOrder.map((field) => fields[field]!), newNonce()]
  for (const partition of partitions) {
    const fence = fences.get(partition)
    invariant(fence !== undefined, 'RED-8', `bootstrap of partition ${partition} without its fence`)
    names.push(keys.checkpoint(topic, partition), keys.fence(topic, partition), keys.witness(topic, partition))
    args.push(String(partition), fence.nonce)
  }
  return readReply(await link.send('bootstrap', { script: createCheckpointsScript, keys: names, args }))
}

const metaFieldOrder = ['format_version', 'dispatch_topic', 'partition_count', 'cluster_id', 'topic_id'] as const

/** The outcome a reply stands for; every one has a length of its own. */
function readReply(reply: unknown): BootstrapOutcome {
  const parts = arrayReply('bootstrap', reply)
  const text = (index: number): string => textReply('bootstrap', parts[index])
  if (parts.length === 1 && parts[0] === 'created') return { kind: 'created' }
  if (parts.length === 3 && parts[0] === 'fenced') {
    return { kind: 'fenced', partition: Number(text(1)), found: optionalTextReply('bootstrap', parts[2]) }
  }
  if (parts.length === 3 && parts[0] === 'conflict') return { kind: 'conflict', key: text(1), explanation: text(2) }
  if (parts.length === 3 && parts[0] === 'wrongtype') {
    throw redisErrors.create('TM_REDIS_WRONG_TYPE', { operation: 'bootstrap', key: text(1), found: text(2) })
  }
  throw malformed('bootstrap', 'a known outcome of known length', reply)
}
