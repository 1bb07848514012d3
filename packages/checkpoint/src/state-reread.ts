import { decodeOffset } from '@tidemark/core'
import type { Fence } from '@tidemark/log'
import { decodeWitness, judgeFence } from '@tidemark/log'
import { decodeCheckpoint } from './checkpoint-format.ts'
import type { StoredFields } from './checkpoint-format.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import type { StoredState } from './stored-state.ts'

/**
 * Why the state read after the claim may not be planned from; empty when it may.
 *
 * Between the two readings only positions and witnesses may have moved, and only forwards: an older writer may have
 * finished its last step before the claim took its fences. Promises: CKP-13.
 */
export function rereadRefusals(
  before: StoredState,
  after: StoredState,
  fences: ReadonlyMap<number, Fence>,
): readonly Refusal[] {
  const refusals: Refusal[] = []
  if (!sameFields(before.meta, after.meta)) refusals.push(refuse('STATE_CHANGED', 'meta changed while starting'))
  if (before.incarnation.process !== after.incarnation.process) {
    refusals.push(refuse('STATE_CHANGED', 'the store was restarted or replaced while starting'))
  }
  if (before.incarnation.nonce !== undefined && before.incarnation.nonce !== after.incarnation.nonce) {
    refusals.push(refuse('STATE_CHANGED', 'the store was emptied or restored while starting'))
  }
  const partitions = new Set([...before.checkpoints.keys(), ...after.checkpoints.keys()])
  for (const partition of [...partitions].sort((a, b) => a - b)) {
    const change = checkpointChange(before.checkpoints.get(partition), after.checkpoints.get(partition))
    if (change !== undefined) refusals.push(refuse('STATE_CHANGED', `checkpoint ${partition} ${change}`, {}, partition))
    if (witnessRegressed(before.witnesses.get(partition), after.witnesses.get(partition))) {
      refusals.push(refuse('STATE_CHANGED', `the tail witness of partition ${partition} went backwards`, {}, partition))
    }
  }
  const twinned = new Set([...(before.twins?.keys() ?? []), ...(after.twins?.keys() ?? [])])
  for (const partition of [...twinned].sort((a, b) => a - b)) {
    const change = twinChange(before.twins?.get(partition), after.twins?.get(partition))
    if (change === undefined) continue
    const message = `the position in the data of partition ${partition} ${change}`
    refusals.push(refuse('STATE_CHANGED', message, {}, partition))
  }
  for (const [partition, fence] of fences) {
    const verdict = judgeFence(fence, after.fences.get(partition))
    if (verdict.kind !== 'held') {
      refusals.push(
        refuse('FENCED', `the fence of partition ${partition} is ${verdict.kind} right after the claim`, {}, partition),
      )
    }
  }
  return refusals
}

function checkpointChange(before: StoredFields | undefined, after: StoredFields | undefined): string | undefined {
  if (sameFields(before, after)) return undefined
  if (before === undefined) return 'appeared while starting'
  if (after === undefined) return 'disappeared while starting'
  const [old, current] = [decodeCheckpoint(before), decodeCheckpoint(after)]
  if (old.kind !== 'decoded' || current.kind !== 'decoded') return 'changed while starting'
  if (!sameFields({ ...before, next_offset: '' }, { ...after, next_offset: '' }))
    return 'changed its identity while starting'
  return current.value.nextOffset < old.value.nextOffset ? 'went backwards while starting' : undefined
}

function twinChange(before: string | undefined, after: string | undefined): string | undefined {
  if (before === after) return undefined
  if (before === undefined) return 'appeared while starting'
  if (after === undefined) return 'disappeared while starting'
  const [old, current] = [decodeOffset(before), decodeOffset(after)]
  if (old === undefined || current === undefined) return 'changed while starting'
  return current < old ? 'went backwards while starting' : undefined
}

function witnessRegressed(before: string | undefined, after: string | undefined): boolean {
  if (before === undefined || before === after) return false
  const [old, current] = [decodeWitness(before), after === undefined ? undefined : decodeWitness(after)]
  // An undecodable one is refused by the planner with its own reason.
  if (old === undefined) return false
  return current === undefined || current.offset < old.offset
}

/** Whether two stored hashes hold the same fields with the same texts. */
export function sameFields(a: StoredFields | undefined, b: StoredFields | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}
