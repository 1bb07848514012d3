import { randomBytes } from 'node:crypto'
import { decodeFence } from '@tidemark/log'
import type { Fence } from '@tidemark/log'
import type { Claim, ClaimRequest } from '@tidemark/checkpoint'
import { redisErrors } from '../errors.ts'
import type { RedisLink } from '../connection/redis-link.ts'
import { arrayReply, malformed, textReply } from '../connection/reply-shape.ts'
import type { KeyLayout } from './key-layout.ts'
import { claimFencesScript } from './scripts/claim-fences.ts'

/** How many fences one script takes. Two claimers that cross between scripts both find out when they re-read. */
const fencesPerScript = 2_000

/** Takes every partition's fence. Promises: RED-7. */
export async function claimFences(link: RedisLink, keys: KeyLayout, request: ClaimRequest): Promise<Claim> {
  const { topic, partitionCount } = request
  const perScript = keys.isSlotted ? 1 : fencesPerScript
  const chunks: { readonly partitions: readonly number[]; readonly nonces: readonly string[] }[] = []
  for (let from = 0; from < partitionCount; from += perScript) {
    const partitions = Array.from({ length: Math.min(perScript, partitionCount - from) }, (_, index) => from + index)
    const nonces = partitions.map((partition) => request.nonces?.get(partition) ?? newNonce())
    chunks.push({ partitions, nonces })
  }
  const replies = await link.sendAll(
    'claim',
    chunks.map(({ partitions, nonces }) => {
      const names = partitions.map((partition) => keys.fence(topic, partition))
      return { script: claimFencesScript, keys: names, args: nonces }
    }),
  )
  const fences = new Map<number, Fence>()
  chunks.forEach(({ partitions, nonces }, chunk) => {
    const parts = claimedFences(replies[chunk], partitions.length)
    partitions.forEach((partition, index) => {
      const fence = decodeFence(textReply('claim', parts[index + 1]))
      if (fence === undefined || fence.nonce !== nonces[index]) throw malformed('claim', 'the fence just set', parts)
      fences.set(partition, fence)
    })
  })
  return { fences }
}

/** The reply of one script, checked: a word and a fence for each key. */
function claimedFences(reply: unknown, count: number): readonly unknown[] {
  const parts = arrayReply('claim', reply)
  if (parts[0] === 'wrongtype' && parts.length === 3) {
    const details = { operation: 'claim', key: textReply('claim', parts[1]), found: textReply('claim', parts[2]) }
    throw redisErrors.create('TM_REDIS_WRONG_TYPE', details)
  }
  if (parts[0] !== 'claimed' || parts.length !== count + 1) throw malformed('claim', `${count} fences`, reply)
  return parts
}

/** 128 random bits as 32 hexadecimal digits. */
export function newNonce(): string {
  return randomBytes(16).toString('hex')
}
