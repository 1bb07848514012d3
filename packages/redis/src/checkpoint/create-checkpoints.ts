import { invariant } from '@tidemark/core'
import { encodeMeta } from '@tidemark/checkpoint'
import type { BootstrapOutcome, BootstrapRequest } from '@tidemark/checkpoint'
import { judgeFence } from '@tidemark/log'
import { redisErrors } from '../errors.ts'
import type { RedisLink } from '../connection/redis-link.ts'
import { arrayReply, countReply, malformed, optionalTextReply, textReply } from '../connection/reply-shape.ts'
import { newNonce } from './claim-fences.ts'
import type { KeyLayout } from './key-layout.ts'
import { createCheckpointScript } from './scripts/create-checkpoint.ts'
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

/**
 * The same in a cluster, where meta and every checkpoint lie in slots of their own: fences are looked at first, then meta is
 * created or compared, then checkpoint after checkpoint, each under its fence. What a crash leaves is meta with checkpoints
 * missing, and those start at 0. Promises: RED-25.
 */
export async function createClusterCheckpoints(
  link: RedisLink,
  keys: KeyLayout,
  request: BootstrapRequest,
): Promise<BootstrapOutcome> {
  const { identity, partitions, fences } = request
  const { topic } = identity
  const lost = await firstLostFence(link, keys, request)
  if (lost !== undefined) return lost
  const meta = await createCheckpoints(link, keys, { ...request, partitions: [] })
  if (meta.kind !== 'created' || partitions.length === 0) return meta
  const members = partitions.map((partition) => keys.indexMember(topic, partition))
  const indexed = { name: 'SADD', args: [keys.partitions, ...members], key: keys.partitions }
  countReply('bootstrap', await link.send('bootstrap', indexed), members.length)
  const fields = encodeMeta(identity)
  const identityArgs = metaFieldOrder.map((field) => fields[field]!)
  const replies = await link.sendAll(
    'bootstrap',
    partitions.map((partition) => ({
      script: createCheckpointScript,
      keys: [keys.checkpoint(topic, partition), keys.fence(topic, partition), keys.witness(topic, partition)],
      args: [...identityArgs, String(partition), fences.get(partition)!.nonce],
    })),
  )
  const outcomes = replies.map(readReply)
  return outcomes.find(({ kind }) => kind !== 'created') ?? { kind: 'created' }
}

async function firstLostFence(
  link: RedisLink,
  keys: KeyLayout,
  { identity, partitions, fences }: BootstrapRequest,
): Promise<BootstrapOutcome | undefined> {
  const names = partitions.map((partition) => keys.fence(identity.topic, partition))
  const replies = await link.sendAll(
    'bootstrap',
    names.map((key) => ({ name: 'GET', args: [key], key })),
  )
  for (const [index, partition] of partitions.entries()) {
    const fence = fences.get(partition)
    invariant(fence !== undefined, 'RED-25', `bootstrap of partition ${partition} without its fence`)
    const found = optionalTextReply('bootstrap', replies[index])
    if (judgeFence(fence, found).kind !== 'held') return { kind: 'fenced', partition, found }
  }
  return undefined
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
