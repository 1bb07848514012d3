import { encodeOffset, invariant } from '@tidemark/core'
import { checkpointErrors, encodeCheckpoint, encodeQuarantineEntry } from '@tidemark/checkpoint'
import type { AdvanceOutcome, AdvanceRequest, ProjectionWrite, QuarantineEntry } from '@tidemark/checkpoint'
import { encodeWitness } from '@tidemark/log'
import { redisErrors } from '../errors.ts'
import { keySlot } from '../connection/key-slot.ts'
import type { RedisCommand, RedisLink } from '../connection/redis-link.ts'
import { arrayReply, malformed, optionalTextReply, textReply } from '../connection/reply-shape.ts'
import type { KeyLayout } from './key-layout.ts'
import { advanceCheckpointScript } from './scripts/advance-checkpoint.ts'
import { encodeWrites } from './write-encoding.ts'

/** The parts of a request that every script of its step carries. */
export interface StepRequest extends Omit<AdvanceRequest<unknown>, 'writes'> {
  /** Writes of ours to a side key in the slot of the checkpoint; they come with the move of the checkpoint. */
  readonly ownWrites?: readonly ProjectionWrite[]
}

/** One script of a step. */
export interface StepPart {
  readonly writes: readonly ProjectionWrite[]
  readonly quarantine: readonly QuarantineEntry[]
  /** The last part moves the checkpoint. */
  readonly isLast: boolean
  /** The process that confirmed earlier parts of the step; absent when there are none. */
  readonly runId: string | undefined
}

/** The command of one part. Key and argument order are the script's. */
export function advanceCommand(
  keys: KeyLayout,
  dataPrefix: string,
  request: StepRequest,
  part: StepPart,
): RedisCommand {
  const { identity, partition, fence, from, to, witness } = request
  const { topic } = identity
  const own = [
    // In a cluster meta lies in another slot; its place is taken by the checkpoint, which tells the script so.
    keys.isSlotted ? keys.checkpoint(topic, partition) : keys.meta,
    keys.checkpoint(topic, partition),
    keys.fence(topic, partition),
    keys.witness(topic, partition),
    keys.quarantine(topic, partition),
  ]
  const fields = encodeCheckpoint({ identity, partition, nextOffset: from })
  const { ownWrites = [] } = request
  const isOwn = part.isLast && ownWrites.length > 0
  invariant(!isOwn || part.writes.length === 0, 'RED-42', 'writes of ours come in a script without data')
  const data = isOwn ? encodeWrites(ownWrites, '') : encodeWrites(part.writes, dataPrefix)
  if (keys.isSlotted && !isOwn) checkSlots(keys, topic, partition, data.keys)
  const args = [
    fence.nonce,
    fields['format_version']!,
    fields['dispatch_topic']!,
    fields['partition_count']!,
    fields['cluster_id']!,
    fields['topic_id']!,
    fields['partition']!,
    fields['next_offset']!,
    encodeOffset(to),
    witness === undefined ? '' : encodeWitness(witness),
    part.isLast ? 'last' : 'data',
    part.runId ?? '',
    String(part.quarantine.length),
    data.program,
    data.values,
  ]
  for (const entry of part.quarantine) args.push(encodeOffset(entry.offset), encodeQuarantineEntry(entry))
  return { script: advanceCheckpointScript, keys: own.concat(data.keys), args }
}

/**
 * One script reaches one slot, so every data key must lie in that of the checkpoint, and must not be a key of ours there.
 *
 * @throws {TidemarkError} TM_REDIS_SLOT_FOREIGN, TM_CHECKPOINT_WRITE_INVALID; nothing of the step was sent then.
 */
function checkSlots(keys: KeyLayout, topic: string, partition: number, dataKeys: readonly string[]): void {
  const checkpoint = keys.checkpoint(topic, partition)
  const tag = `{${checkpoint}}`
  checkDataKeys(keys, dataKeys)
  for (const key of dataKeys) {
    if (key.startsWith(tag)) continue
    const slot = keySlot(key)
    if (slot === keySlot(checkpoint)) continue
    throw redisErrors.create('TM_REDIS_SLOT_FOREIGN', { key: key.slice(0, 128), slot, partition, tag })
  }
}

/**
 * A tag in front lets a data key name a side key of any partition, wherever that lies.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_WRITE_INVALID; nothing of the step was sent then.
 */
export function checkDataKeys(keys: KeyLayout, dataKeys: Iterable<string>): void {
  for (const key of dataKeys) {
    if (!keys.isSideKey(key)) continue
    const reason = 'the key belongs to the checkpoint store'
    throw checkpointErrors.create('TM_CHECKPOINT_WRITE_INVALID', { op: 'advance', key: key.slice(0, 128), reason })
  }
}

/** What one part came to: written (not the last), or an outcome of the whole step. */
export type PartOutcome = AdvanceOutcome | { readonly kind: 'written' }

/** Runs one part and reads its reply. */
export async function runPart(link: RedisLink, command: RedisCommand): Promise<PartOutcome> {
  return readPartReply(await link.send('advance', command))
}

/**
 * The outcome a reply stands for.
 *
 * @throws {TidemarkError} TM_REDIS_WRONG_TYPE, TM_REDIS_VALUE_NOT_A_NUMBER, TM_REDIS_REPLY_MALFORMED
 */
export function readPartReply(reply: unknown): PartOutcome {
  const parts = arrayReply('advance', reply)
  const text = (index: number): string => textReply('advance', parts[index])
  const shapes = { advanced: 1, resent: 1, written: 1, process: 2, fenced: 2, conflict: 5, wrongtype: 3, notanumber: 3 }
  const word = text(0)
  const length = Object.hasOwn(shapes, word) ? shapes[word as keyof typeof shapes] : undefined
  // The client drops nothing from an array, so another length means another script or mixed-up replies.
  if (length !== parts.length) throw malformed('advance', 'a known outcome of known length', reply)
  switch (word as keyof typeof shapes) {
    case 'advanced':
      return { kind: 'advanced', resent: false }
    case 'resent':
      return { kind: 'advanced', resent: true }
    case 'written':
      return { kind: 'written' }
    case 'process':
      return { kind: 'process-changed', process: text(1) }
    case 'fenced':
      return { kind: 'fenced', found: optionalTextReply('advance', parts[1]) }
    case 'conflict': {
      const found = optionalTextReply('advance', parts[4])
      return { kind: 'conflict', key: text(1), field: text(2), expected: text(3), found }
    }
    case 'wrongtype':
      throw redisErrors.create('TM_REDIS_WRONG_TYPE', { operation: 'advance', key: text(1), found: text(2) })
    case 'notanumber':
      throw redisErrors.create('TM_REDIS_VALUE_NOT_A_NUMBER', { key: text(1), found: text(2) })
  }
}
