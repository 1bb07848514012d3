import { decodeOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { identityDifferences, judgeFence } from '@tidemark/log'
import type { Fence, LogIdentity } from '@tidemark/log'
import { counted } from '../../counted.ts'
import { decodeCheckpoint, decodeMeta } from '../../checkpoint-format.ts'
import { storeRefusals } from '../../store-review.ts'
import type { StoreDeclarations } from '../../store-review.ts'
import type { StoredState } from '../../stored-state.ts'
import { dirtyReason } from '../dirty-reason.ts'
import type { DirtyReason } from '../dirty-reason.ts'

/** What a running projection knows the store must hold. */
export interface HeldState {
  readonly identity: LogIdentity
  readonly declarations: StoreDeclarations
  readonly nonce: string
  readonly fences: ReadonlyMap<number, Fence>
  /** By partition: the lowest and highest position the checkpoint can have had while it was being read. */
  readonly positions: ReadonlyMap<number, PositionRange>
  /** The same of data that lives apart; judged only where the store reports twins. */
  readonly dataPositions: ReadonlyMap<number, PositionRange>
}

/** Where a position can have stood at some moment of a reading. */
export interface PositionRange {
  readonly lowest: Offset
  readonly highest: Offset
}

/**
 * Why re-read stored state is not what the projection wrote, or `undefined` when it is.
 *
 * It finds an emptied, restored or replaced store that nobody writes to, and a second writer. Promises: CKP-38.
 */
export function judgeRecheck(held: HeldState, stored: StoredState): DirtyReason | undefined {
  const unreadable = stored.unreadable[0]
  if (unreadable !== undefined)
    return dirtyReason('STORE_CHANGED', `${unreadable.key} cannot be read: ${unreadable.problem}`)
  // What a start refuses to trust must not be served from either: the policy can be changed under a running projection.
  const untrusted = storeRefusals(stored.facts, held.declarations)[0]
  if (untrusted !== undefined) return dirtyReason('STORE_CHANGED', untrusted.message, { refusal: untrusted.code })
  for (const [partition, fence] of held.fences) {
    const verdict = judgeFence(fence, stored.fences.get(partition))
    // A fence that is simply gone was lost with other data; only one that somebody else holds is a second writer.
    if (verdict.kind === 'taken') {
      return dirtyReason('FENCED', `partition ${partition} was claimed by epoch ${verdict.by.epoch}`, {}, partition)
    }
    if (verdict.kind !== 'held')
      return dirtyReason('STORE_CHANGED', `the fence of partition ${partition} is ${verdict.kind}`, {}, partition)
  }
  if (stored.incarnation.nonce !== held.nonce) {
    const found = stored.incarnation.nonce ?? 'none'
    return dirtyReason('STORE_CHANGED', `the store's incarnation changed`, { held: held.nonce, found })
  }
  return metaChange(held, stored) ?? checkpointChange(held, stored) ?? twinChange(held, stored)
}

function metaChange(held: HeldState, stored: StoredState): DirtyReason | undefined {
  if (stored.meta === undefined) return dirtyReason('STORE_CHANGED', 'meta is gone')
  const meta = decodeMeta(stored.meta)
  if (meta.kind === 'faulty')
    return dirtyReason('STORE_CHANGED', `meta is damaged in ${counted(meta.faults.length, 'field')}`)
  const difference = identityDifferences(held.identity, meta.value.identity)[0]
  if (difference === undefined) return undefined
  return dirtyReason('STORE_CHANGED', `meta: ${difference.field} is ${difference.found}, was ${difference.expected}`)
}

function checkpointChange(held: HeldState, stored: StoredState): DirtyReason | undefined {
  for (const [partition, range] of held.positions) {
    const fields = stored.checkpoints.get(partition)
    if (fields === undefined)
      return dirtyReason('STORE_CHANGED', `the checkpoint of partition ${partition} is gone`, {}, partition)
    const decoded = decodeCheckpoint(fields)
    if (decoded.kind === 'faulty' || decoded.value.partition !== partition) {
      return dirtyReason('STORE_CHANGED', `the checkpoint of partition ${partition} is damaged`, {}, partition)
    }
    const difference = identityDifferences(held.identity, decoded.value.identity)[0]
    if (difference !== undefined) {
      const message = `checkpoint ${partition}: ${difference.field} is ${difference.found}, was ${difference.expected}`
      return dirtyReason('STORE_CHANGED', message, {}, partition)
    }
    const change = outside(range, 'checkpoint', partition, decoded.value.nextOffset)
    if (change !== undefined) return change
  }
  return undefined
}

/** Data that lives apart and fell back behind what was written: its server lost what the checkpoint still claims. */
function twinChange(held: HeldState, stored: StoredState): DirtyReason | undefined {
  if (stored.twins === undefined) return undefined
  for (const [partition, range] of held.dataPositions) {
    const text = stored.twins.get(partition)
    const position = text === undefined ? undefined : decodeOffset(text)
    if (position === undefined) {
      const message = `the position in the data of partition ${partition} is ${text === undefined ? 'gone' : 'damaged'}`
      return dirtyReason('STORE_CHANGED', message, {}, partition)
    }
    const change = outside(range, 'position in the data of partition', partition, position)
    if (change !== undefined) return change
  }
  return undefined
}

function outside(range: PositionRange, what: string, partition: number, found: Offset): DirtyReason | undefined {
  const { lowest, highest } = range
  if (found >= lowest && found <= highest) return undefined
  const values = { stored: String(found), lowest: String(lowest), highest: String(highest) }
  return dirtyReason(
    'STORE_CHANGED',
    `${what} ${partition} is ${found}, this projection left it at ${lowest}`,
    values,
    partition,
  )
}
