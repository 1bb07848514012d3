import { encodeOffset } from '@tidemark/core'
import { identityDifferences } from '@tidemark/log'
import type { LogIdentity } from '@tidemark/log'
import { counted } from '../counted.ts'
import { decodeCheckpoint, decodeMeta } from '../checkpoint-format.ts'
import type { StoredFields } from '../checkpoint-format.ts'
import { metaKey } from '../namespace.ts'
import type { Namespace } from '../namespace.ts'
import type { Durability, EvictionFact, StoredState, StoreFacts, UnreadableKey } from '../stored-state.ts'
import { joinNonces, joinProcesses } from './joined-incarnation.ts'

/**
 * What two servers hold as the state of one projection: positions from the one, and from the other what the data says of
 * itself. Whatever makes one of the servers unfit makes the whole unfit.
 */
export function mergeSides(
  own: StoredState,
  data: StoredState,
  dataNamespace: Namespace,
  fenceOf: (partition: number) => string | undefined,
): StoredState {
  const fences = new Map<number, string>()
  for (const partition of own.fences.keys()) {
    const fence = fenceOf(partition)
    if (fence !== undefined) fences.set(partition, fence)
  }
  return {
    meta: own.meta,
    checkpoints: own.checkpoints,
    fences,
    witnesses: data.witnesses,
    twins: twinsOf(own, data),
    quarantined: data.quarantined,
    unreadable: [...own.unreadable, ...data.unreadable, ...metaProblems(own, data, dataNamespace)],
    incarnation: {
      nonce: joinNonces(own.incarnation.nonce, data.incarnation.nonce),
      process: joinProcesses(own.incarnation.process, data.incarnation.process),
    },
    facts: mergeFacts(own.facts, data.facts),
  }
}

/** How far the data says it is. A twin that is damaged or of another log than the checkpoints says why instead. */
function twinsOf(own: StoredState, data: StoredState): ReadonlyMap<number, string> {
  const twins = new Map<number, string>()
  for (const [partition, fields] of data.checkpoints) {
    const decoded = decodeCheckpoint(fields)
    const held = checkpointIdentity(own, partition)
    if (decoded.kind === 'faulty') twins.set(partition, `damaged in ${counted(decoded.faults.length, 'field')}`)
    else if (decoded.value.partition !== partition) twins.set(partition, `of partition ${decoded.value.partition}`)
    else if (held !== undefined && identityDifferences(held, decoded.value.identity).length > 0)
      twins.set(partition, 'of another log')
    else twins.set(partition, encodeOffset(decoded.value.nextOffset))
  }
  return twins
}

function checkpointIdentity(own: StoredState, partition: number): LogIdentity | undefined {
  const fields = own.checkpoints.get(partition)
  const decoded = fields === undefined ? undefined : decodeCheckpoint(fields)
  return decoded?.kind === 'decoded' ? decoded.value.identity : decodedIdentity(own.meta)
}

/** The identity record beside the data is ours alone; where it is not as we wrote it, the positions beside it say nothing. */
function metaProblems(own: StoredState, data: StoredState, dataNamespace: Namespace): readonly UnreadableKey[] {
  const key = metaKey(dataNamespace)
  const isUnreadable = data.unreadable.some((unreadable) => unreadable.key === key)
  if (data.meta === undefined) {
    if (isUnreadable || data.checkpoints.size === 0) return []
    return [{ key, problem: 'it is gone, although the data carries positions' }]
  }
  const decoded = decodeMeta(data.meta)
  if (decoded.kind === 'faulty')
    return [{ key, problem: `it is damaged in ${counted(decoded.faults.length, 'field')}` }]
  const held = decodedIdentity(own.meta)
  const [difference] = held === undefined ? [] : identityDifferences(held, decoded.value.identity)
  if (difference === undefined) return []
  const { field, expected, found } = difference
  return [{ key, problem: `its ${field} is ${found}, beside the checkpoints it is ${expected}` }]
}

function decodedIdentity(meta: StoredFields | undefined): LogIdentity | undefined {
  const decoded = meta === undefined ? undefined : decodeMeta(meta)
  return decoded?.kind === 'decoded' ? decoded.value.identity : undefined
}

const durabilities: readonly Durability[] = ['process', 'server', 'fsync', 'replicated']
const evictions: readonly EvictionFact['kind'][] = ['keeps-all', 'expiring-only', 'any-key', 'unknown']

function mergeFacts(own: StoreFacts, data: StoreFacts): StoreFacts {
  const weaker = durabilities.indexOf(data.durability) < durabilities.indexOf(own.durability) ? data : own
  const riskier = evictions.indexOf(data.eviction.kind) > evictions.indexOf(own.eviction.kind) ? data : own
  const mistaken = own.database.expected === own.database.found ? data : own
  return {
    durability: weaker.durability,
    isPrimary: own.isPrimary && data.isPrimary,
    isLoaded: own.isLoaded && data.isLoaded,
    eviction: riskier.eviction,
    expiringKeys: [...own.expiringKeys, ...data.expiringKeys],
    database: mistaken.database,
  }
}
