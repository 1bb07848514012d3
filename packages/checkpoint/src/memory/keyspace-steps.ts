import { encodeOffset, invariant } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { decodeFence, encodeFence, encodeWitness, judgeFence } from '@tidemark/log'
import type { Fence, LogIdentity } from '@tidemark/log'
import { encodeCheckpoint, encodeMeta } from '../checkpoint-format.ts'
import type { StoredFields } from '../checkpoint-format.ts'
import { checkpointKey, metaKey } from '../namespace.ts'
import type { Namespace } from '../namespace.ts'
import type {
  AdvanceOutcome,
  AdvanceRequest,
  BootstrapOutcome,
  BootstrapRequest,
  Claim,
  ClaimRequest,
} from '../projection-store.ts'
import type { ProjectionWrite } from '../projection-write.ts'
import { encodeQuarantineEntry } from '../quarantine-entry.ts'
import { readHash } from './memory-data.ts'
import type { MemoryData } from './memory-data.ts'
import { sideKeys } from './side-keys.ts'

/**
 * What a step comes to, and the writes that make it so: applied together or not at all.
 *
 * Deciding is apart from writing so that a store can put the writes on disk in between.
 */
export interface KeyspaceStep<Outcome> {
  readonly outcome: Outcome
  readonly writes: readonly ProjectionWrite[]
}

/** Takes every partition's fence; the epoch rises where the old one can be read, the nonce decides either way. */
export function claimStep(
  data: MemoryData,
  namespace: Namespace,
  request: ClaimRequest,
  nonce: () => string,
): KeyspaceStep<Claim> {
  const keys = sideKeys(namespace, request.topic)
  const writes: ProjectionWrite[] = []
  const fences = new Map<number, Fence>()
  for (let partition = 0; partition < request.partitionCount; partition += 1) {
    const key = keys.fence(partition)
    const held = decodeFence(textAt(data, key) ?? '')
    const fence: Fence = { epoch: (held?.epoch ?? 0n) + 1n, nonce: request.nonces?.get(partition) ?? freshNonce(nonce) }
    fences.set(partition, fence)
    writes.push({ op: 'set', key, value: encodeFence(fence) })
  }
  return { outcome: { fences }, writes }
}

/** Creates meta, checkpoints at 0 and the incarnation nonce, only under the fences and only where nothing stands. */
export function bootstrapStep(
  data: MemoryData,
  namespace: Namespace,
  request: BootstrapRequest,
  nonce: () => string,
): KeyspaceStep<BootstrapOutcome> {
  const { identity } = request
  const keys = sideKeys(namespace, identity.topic)
  for (const partition of request.partitions) {
    const fence = request.fences.get(partition)
    invariant(fence !== undefined, 'bootstrap-fence', `bootstrap of partition ${partition} came without its fence`)
    const found = textAt(data, keys.fence(partition))
    if (judgeFence(fence, found).kind !== 'held') return nothing({ kind: 'fenced', partition, found })
  }
  const meta = metaKey(namespace)
  if (request.createMeta) {
    if (data.values.has(meta)) return nothing(conflict(meta, 'the identity record exists already'))
  } else {
    const difference = firstDifference(data, meta, encodeMeta(identity))
    if (difference !== undefined) {
      return nothing(conflict(meta, `${difference.field} is ${difference.found ?? 'missing'}`))
    }
  }
  const writes: ProjectionWrite[] = request.createMeta ? hashWrites(meta, encodeMeta(identity)) : []
  for (const partition of request.partitions) {
    const key = checkpointKey(namespace, identity.topic, partition)
    if (data.values.has(key)) return nothing(conflict(key, 'a checkpoint exists already'))
    writes.push(...hashWrites(key, encodeCheckpoint({ identity, partition, nextOffset: 0n as Offset })))
    writes.push({ op: 'sadd', key: keys.partitions, member: String(partition) })
    // A witness that outlived its checkpoint speaks of a position that is gone; replay from 0 writes a new one.
    writes.push({ op: 'del', key: keys.witness(partition) })
  }
  if (textAt(data, keys.incarnation) === undefined) {
    writes.push({ op: 'set', key: keys.incarnation, value: freshNonce(nonce) })
  }
  return { outcome: { kind: 'created' }, writes }
}

/** One partition's advance: data, quarantine, witness, and the checkpoint last. */
export function advanceStep<Writer>(
  data: MemoryData,
  namespace: Namespace,
  request: AdvanceRequest<Writer>,
  dataWrites: readonly ProjectionWrite[],
  process: string,
): KeyspaceStep<AdvanceOutcome> {
  const { identity, partition, fence, from, to } = request
  invariant(to >= from, 'advance-forwards', `partition ${partition} was to go from ${from} back to ${to}`)
  if (request.process !== process) return nothing({ kind: 'process-changed', process })
  const keys = sideKeys(namespace, identity.topic)
  const found = textAt(data, keys.fence(partition))
  if (judgeFence(fence, found).kind !== 'held') return nothing({ kind: 'fenced', found })
  const key = checkpointKey(namespace, identity.topic, partition)
  const position = judgePosition(data, namespace, identity, partition, key, from, to)
  if (position.kind === 'conflict') return nothing(position)
  if (position.kind === 'resent') return nothing({ kind: 'advanced', resent: true })
  const writes: ProjectionWrite[] = [...dataWrites]
  for (const entry of request.quarantine) {
    const field = encodeOffset(entry.offset)
    writes.push({ op: 'hset', key: keys.quarantine(partition), field, value: encodeQuarantineEntry(entry) })
  }
  if (request.witness !== undefined) {
    writes.push({ op: 'set', key: keys.witness(partition), value: encodeWitness(request.witness) })
  }
  writes.push({ op: 'hset', key, field: 'next_offset', value: encodeOffset(to) })
  return { outcome: { kind: 'advanced', resent: false }, writes }
}

type Conflict = Extract<AdvanceOutcome, { readonly kind: 'conflict' }>

function judgePosition(
  data: MemoryData,
  namespace: Namespace,
  identity: LogIdentity,
  partition: number,
  key: string,
  from: Offset,
  to: Offset,
): Conflict | { readonly kind: 'at-from' } | { readonly kind: 'resent' } {
  const meta = firstDifference(data, metaKey(namespace), encodeMeta(identity))
  if (meta !== undefined) return { kind: 'conflict', key: metaKey(namespace), ...meta }
  const atFrom = firstDifference(data, key, encodeCheckpoint({ identity, partition, nextOffset: from }))
  if (atFrom === undefined) return { kind: 'at-from' }
  // Only this writer can have moved it there: its fence is still held, and a step is all or nothing.
  const atTo = firstDifference(data, key, encodeCheckpoint({ identity, partition, nextOffset: to }))
  return atTo === undefined ? { kind: 'resent' } : { kind: 'conflict', key, ...atFrom }
}

interface FieldDifference {
  readonly field: string
  readonly expected: string
  readonly found: string | undefined
}

function firstDifference(data: MemoryData, key: string, expected: StoredFields): FieldDifference | undefined {
  const stored = readHash(data, key)
  const fields = stored === undefined || 'wrongKind' in stored ? new Map<string, string>() : stored
  for (const [field, text] of Object.entries(expected)) {
    if (fields.get(field) !== text) return { field, expected: text, found: fields.get(field) }
  }
  for (const [field, text] of fields) {
    if (!Object.hasOwn(expected, field)) return { field, expected: 'no such field', found: text }
  }
  return undefined
}

function hashWrites(key: string, fields: StoredFields): ProjectionWrite[] {
  return Object.entries(fields).map(([field, value]) => ({ op: 'hset', key, field, value }))
}

function textAt(data: MemoryData, key: string): string | undefined {
  const value = data.values.get(key)
  if (value === undefined) return undefined
  // Never a text any codec accepts, so that a key of another kind is neither absent nor held.
  return value.kind === 'string' ? value.value : `(a ${value.kind})`
}

function freshNonce(nonce: () => string): string {
  const text = nonce()
  invariant(/^[0-9a-f]{32}$/.test(text), 'nonce-shape', 'a nonce must be 32 lower-case hexadecimal digits')
  return text
}

function conflict(key: string, explanation: string): Extract<BootstrapOutcome, { readonly kind: 'conflict' }> {
  return { kind: 'conflict', key, explanation }
}

function nothing<Outcome>(outcome: Outcome): KeyspaceStep<Outcome> {
  return { outcome, writes: [] }
}
