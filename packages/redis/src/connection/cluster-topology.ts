import { redisErrors } from '../errors.ts'
import { SLOT_COUNT } from './key-slot.ts'
import { arrayReply, countReply, malformed, textReply } from './reply-shape.ts'

/** Where a node says it can be reached. */
export interface NodeAddress {
  readonly host: string
  readonly port: number
}

/** A stretch of slots and the primary that serves it. */
export interface SlotRange {
  readonly from: number
  readonly to: number
  readonly primary: NodeAddress
  readonly nodeId: string
}

/**
 * The ranges in a reply to CLUSTER SLOTS, in order of slots.
 *
 * A node that does not know its own host leaves it out; then it is the one that was asked.
 * @throws {TidemarkError} TM_REDIS_CLUSTER_DISAGREES when a slot is served by nobody or twice, TM_REDIS_REPLY_MALFORMED.
 */
export function readSlotRanges(reply: unknown, asked: NodeAddress): readonly SlotRange[] {
  const ranges = arrayReply('CLUSTER SLOTS', reply).map((entry): SlotRange => {
    const parts = arrayReply('CLUSTER SLOTS', entry)
    if (parts.length < 3) throw malformed('CLUSTER SLOTS', 'a range and its primary', entry)
    const node = arrayReply('CLUSTER SLOTS', parts[2])
    if (node.length < 3) throw malformed('CLUSTER SLOTS', 'host, port and id of a node', node)
    const host = node[0] === null ? '' : textReply('CLUSTER SLOTS', node[0])
    return {
      from: countReply('CLUSTER SLOTS', parts[0], SLOT_COUNT - 1),
      to: countReply('CLUSTER SLOTS', parts[1], SLOT_COUNT - 1),
      primary: {
        host: host === '' || host === '?' ? asked.host : host,
        port: countReply('CLUSTER SLOTS', node[1], 65_535),
      },
      nodeId: textReply('CLUSTER SLOTS', node[2]),
    }
  })
  ranges.sort((a, b) => a.from - b.from)
  let next = 0
  for (const { from, to } of ranges) {
    if (from !== next || to < from) break
    next = to + 1
  }
  if (next === SLOT_COUNT) return ranges
  const address = `${asked.host}:${asked.port}`
  throw redisErrors.create('TM_REDIS_CLUSTER_DISAGREES', { address, reason: `slot ${next} is not served by one node` })
}

/** Equal texts mean the same slots at the same nodes. */
export function topologyText(ranges: readonly SlotRange[]): string {
  return JSON.stringify(ranges.map(({ from, to, primary, nodeId }) => [from, to, primary.host, primary.port, nodeId]))
}
