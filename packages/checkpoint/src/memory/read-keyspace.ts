import type { StoredFields } from '../checkpoint-format.ts'
import { checkpointKey, metaKey } from '../namespace.ts'
import type { Namespace } from '../namespace.ts'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import { STRAY_PARTITIONS_SEARCHED } from '../projection-store.ts'
import type { ReadStateRequest } from '../projection-store.ts'
import type { StoredState, StoreFacts, UnreadableKey } from '../stored-state.ts'
import { readHash } from './memory-data.ts'
import type { MemoryData } from './memory-data.ts'
import { sideKeys } from './side-keys.ts'

/** Everything a keyspace holds about one projection, undecoded. Cost: linear in partitions, independent of data keys. */
export function readKeyspace(
  data: MemoryData,
  namespace: Namespace,
  request: ReadStateRequest,
  facts: StoreFacts,
  process: string,
): StoredState {
  const { topic } = request
  const keys = sideKeys(namespace, topic)
  const unreadable: UnreadableKey[] = []
  const meta = fieldsAt(data, metaKey(namespace), unreadable)
  const checkpoints = new Map<number, StoredFields>()
  const fences = new Map<number, string>()
  const witnesses = new Map<number, string>()
  const quarantined = new Map<number, number>()
  for (const partition of partitionsSearched(data, keys.partitions, meta, request.partitionCount, unreadable)) {
    putIfFound(checkpoints, partition, fieldsAt(data, checkpointKey(namespace, topic, partition), unreadable))
    putIfFound(fences, partition, textAt(data, keys.fence(partition), unreadable))
    putIfFound(witnesses, partition, textAt(data, keys.witness(partition), unreadable))
    const entries = readHash(data, keys.quarantine(partition))
    if (entries === undefined) continue
    if ('wrongKind' in entries) unreadable.push(wrongKind(keys.quarantine(partition), entries.wrongKind, 'hash'))
    else quarantined.set(partition, entries.size)
  }
  const incarnation = { nonce: textAt(data, keys.incarnation, unreadable), process }
  return { meta, checkpoints, fences, witnesses, quarantined, unreadable, incarnation, facts }
}

/** Everything up to the larger of both counts and 1,024 beyond it, and whatever the index names above that. */
function partitionsSearched(
  data: MemoryData,
  indexKey: string,
  meta: StoredFields | undefined,
  partitionCount: number | undefined,
  unreadable: UnreadableKey[],
): ReadonlySet<number> {
  const storedText = meta?.['partition_count'] ?? ''
  const storedCount = /^[0-9]{1,6}$/.test(storedText) ? Math.min(Number(storedText), PARTITION_COUNT_MAX) : 0
  const end = Math.max(storedCount, partitionCount ?? 0) + STRAY_PARTITIONS_SEARCHED
  const searched = new Set<number>()
  for (let partition = 0; partition < end; partition += 1) searched.add(partition)
  const index = data.values.get(indexKey)
  if (index === undefined) return searched
  if (index.kind !== 'set') {
    unreadable.push(wrongKind(indexKey, index.kind, 'set'))
    return searched
  }
  for (const member of index.members) {
    if (/^(?:0|[1-9][0-9]{0,9})$/.test(member)) searched.add(Number(member))
    else unreadable.push({ key: indexKey, problem: `the member "${member.slice(0, 32)}" is not a partition` })
  }
  return searched
}

function fieldsAt(data: MemoryData, key: string, unreadable: UnreadableKey[]): StoredFields | undefined {
  const fields = readHash(data, key)
  if (fields === undefined) return undefined
  if (!('wrongKind' in fields)) return Object.fromEntries(fields)
  unreadable.push(wrongKind(key, fields.wrongKind, 'hash'))
  return undefined
}

function textAt(data: MemoryData, key: string, unreadable: UnreadableKey[]): string | undefined {
  const value = data.values.get(key)
  if (value === undefined) return undefined
  if (value.kind === 'string') return value.value
  unreadable.push(wrongKind(key, value.kind, 'string'))
  return undefined
}

function wrongKind(key: string, found: string, due: string): UnreadableKey {
  return { key, problem: `it holds a ${found} where a ${due} is due` }
}

function putIfFound<T>(map: Map<number, T>, partition: number, value: T | undefined): void {
  if (value !== undefined) map.set(partition, value)
}
