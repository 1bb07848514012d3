import { decodeMeta, STRAY_PARTITIONS_SEARCHED } from '@tidemark/checkpoint'
import type { ReadStateRequest, StoredFields, StoredState, UnreadableKey } from '@tidemark/checkpoint'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import type { RedisCommand, RedisLink } from '../connection/redis-link.ts'
import { arrayReply, countReply, fieldsReply, optionalTextReply, textReply } from '../connection/reply-shape.ts'
import type { ServerFacts } from '../connection/server-facts.ts'
import { readIndexMember } from './key-layout.ts'
import type { KeyLayout } from './key-layout.ts'
import { readNamespaceScript, readPartitionsScript } from './scripts/read-partitions.ts'

/** How many partitions one script reads; it blocks the server for about a millisecond. */
const partitionsPerScript = 256

/** Keys per partition in the script: checkpoint, fence, witness, quarantine. */
const keysPerPartition = 4

/** What has been read so far; the parts of a read fill it one after the other. */
interface Findings {
  readonly checkpoints: Map<number, StoredFields>
  readonly fences: Map<number, string>
  readonly witnesses: Map<number, string>
  readonly quarantined: Map<number, number>
  readonly unreadable: UnreadableKey[]
  readonly expiringKeys: string[]
}

/**
 * Everything stored about a projection, without a scan and without changing anything.
 *
 * Order: facts of the server first, so that what is read afterwards was read from that process or a later one that the
 * next lease notices. Cost: two round trips, three when strays exist. Promises: RED-5, RED-16.
 */
export async function readState(
  link: RedisLink,
  keys: KeyLayout,
  database: number,
  request: ReadStateRequest,
): Promise<StoredState> {
  const facts = await link.readFacts()
  const found: Findings = {
    checkpoints: new Map(),
    fences: new Map(),
    witnesses: new Map(),
    quarantined: new Map(),
    unreadable: [],
    expiringKeys: [],
  }
  const namespace = await readNamespace(link, keys, found)
  const { topic } = request
  const metaCount = storedCount(namespace.meta)
  const known = Math.max(request.partitionCount ?? 0, metaCount)
  const indexed = indexedPartitions(keys, topic, namespace.members, found)
  const beyond = indexed.own.filter((partition) => partition >= known)
  await readPartitions(link, keys, topic, range(0, known), found)
  const strays = await findStrays(link, keys, topic, known)
  await readPartitions(link, keys, topic, [...new Set([...beyond, ...strays])], found, known)
  await reportOtherTopic(link, keys, indexed.other, found)
  return {
    meta: namespace.meta,
    checkpoints: found.checkpoints,
    fences: found.fences,
    witnesses: found.witnesses,
    quarantined: found.quarantined,
    unreadable: found.unreadable,
    incarnation: { nonce: namespace.nonce, process: facts.process },
    facts: storeFacts(facts, database, found.expiringKeys),
  }
}

/** The facts the planner judges, with the database asked for beside the one found. */
function storeFacts(facts: ServerFacts, database: number, expiringKeys: readonly string[]): StoredState['facts'] {
  const { durability, isPrimary, isLoaded, eviction } = facts
  return {
    durability,
    isPrimary,
    isLoaded,
    eviction,
    expiringKeys,
    database: { expected: String(database), found: facts.database },
  }
}

/** What belongs to no single partition. */
interface NamespaceFindings {
  readonly meta: StoredFields | undefined
  readonly nonce: string | undefined
  readonly members: readonly string[]
}

async function readNamespace(link: RedisLink, keys: KeyLayout, found: Findings): Promise<NamespaceFindings> {
  const names = [keys.meta, keys.incarnation, keys.partitions]
  const reply = await link.send('read', { script: readNamespaceScript, keys: names, args: [] })
  const [meta, nonce, members, expiring, odd] = arrayReply('read', reply, 5)
  collectOddities(names, expiring, odd, found)
  return {
    meta: meta === null ? undefined : fieldsReply('read', meta),
    nonce: optionalTextReply('read', nonce),
    members: arrayReply('read', members).map((member) => textReply('read', member)),
  }
}

/** How many partitions meta says there are. A damaged meta is refused by the planner; here it only widens no search. */
function storedCount(meta: StoredFields | undefined): number {
  if (meta === undefined) return 0
  const decoded = decodeMeta(meta)
  if (decoded.kind === 'decoded') return decoded.value.identity.partitionCount
  const text = meta['partition_count'] ?? ''
  const count = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : 0
  return count <= PARTITION_COUNT_MAX ? count : 0
}

/** What the index of ever-created checkpoints knows: our partitions, and whether another topic wrote here. */
function indexedPartitions(
  keys: KeyLayout,
  topic: string,
  members: readonly string[],
  found: Findings,
): { readonly own: readonly number[]; readonly other: { topic: string; partition: number } | undefined } {
  const own: number[] = []
  let other: { topic: string; partition: number } | undefined
  for (const member of members) {
    const entry = readIndexMember(member)
    if (entry === undefined) {
      found.unreadable.push({ key: keys.partitions, problem: `the member "${member.slice(0, 64)}" is not ours` })
    } else if (entry.topic === topic) {
      own.push(entry.partition)
    } else {
      other ??= entry
    }
  }
  return { own, other }
}

/** A checkpoint of another topic in this namespace: one is enough to refuse. */
async function reportOtherTopic(
  link: RedisLink,
  keys: KeyLayout,
  other: { readonly topic: string; readonly partition: number } | undefined,
  found: Findings,
): Promise<void> {
  if (other === undefined) return
  const key = keys.checkpoint(other.topic, other.partition)
  const exists = countReply('read', await link.send('read', { name: 'EXISTS', args: [key], key }), 1)
  if (exists === 1) found.unreadable.push({ key, problem: 'the namespace holds a checkpoint of another topic' })
}

/** Partitions beyond the known ones that have a checkpoint key. One EXISTS over all is zero nearly always. */
async function findStrays(link: RedisLink, keys: KeyLayout, topic: string, from: number): Promise<readonly number[]> {
  const searched = range(from, from + STRAY_PARTITIONS_SEARCHED)
  const names = searched.map((partition) => keys.checkpoint(topic, partition))
  if (!keys.isSlotted) {
    const command = { name: 'EXISTS', args: names, key: names[0]! }
    const count = countReply('read', await link.send('read', command), names.length)
    if (count === 0) return []
  }
  const each = names.map((key) => ({ name: 'EXISTS', args: [key], key }))
  const replies = await link.sendAll('read', each)
  return searched.filter((_, index) => countReply('read', replies[index], 1) === 1)
}

/** Reads partitions in scripts of {@link partitionsPerScript}, all in one round trip. */
async function readPartitions(
  link: RedisLink,
  keys: KeyLayout,
  topic: string,
  partitions: readonly number[],
  found: Findings,
  strayFrom: number = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  const commands: RedisCommand[] = []
  const perScript = keys.isSlotted ? 1 : partitionsPerScript
  for (let from = 0; from < partitions.length; from += perScript) {
    const names = partitions
      .slice(from, from + perScript)
      .flatMap((p) => [
        keys.checkpoint(topic, p),
        keys.fence(topic, p),
        keys.witness(topic, p),
        keys.quarantine(topic, p),
      ])
    commands.push({ script: readPartitionsScript, keys: names, args: [] })
  }
  const replies = await link.sendAll('read', commands)
  replies.forEach((reply, chunk) => {
    const [rows, expiring, odd] = arrayReply('read', reply, 3)
    const chunkPartitions = partitions.slice(chunk * perScript, (chunk + 1) * perScript)
    const names = (commands[chunk] as { readonly keys: readonly string[] }).keys
    collectOddities(names, expiring, odd, found)
    arrayReply('read', rows, chunkPartitions.length).forEach((row, index) => {
      collectRow(chunkPartitions[index]!, row, found, strayFrom)
    })
  })
}

/** One partition's row of the script. Strays are only worth reporting where a checkpoint stands. */
function collectRow(partition: number, row: unknown, found: Findings, strayFrom: number): void {
  const [fields, fence, witness, quarantined] = arrayReply('read', row, keysPerPartition)
  const checkpoint = fields === null ? undefined : fieldsReply('read', fields)
  // An index entry may outlive its checkpoint; without one there is no stray.
  if (partition >= strayFrom && checkpoint === undefined) return
  if (checkpoint !== undefined) found.checkpoints.set(partition, checkpoint)
  const [fenceText, witnessText] = [optionalTextReply('read', fence), optionalTextReply('read', witness)]
  if (fenceText !== undefined) found.fences.set(partition, fenceText)
  if (witnessText !== undefined) found.witnesses.set(partition, witnessText)
  const count = countReply('read', quarantined)
  if (count > 0) found.quarantined.set(partition, count)
}

/** Keys that expire, and keys that hold something else; the script names them by number. */
function collectOddities(names: readonly string[], expiring: unknown, odd: unknown, found: Findings): void {
  const nameAt = (position: unknown): string => names[countReply('read', position, names.length) - 1]!
  for (const position of arrayReply('read', expiring)) found.expiringKeys.push(nameAt(position))
  const pairs = arrayReply('read', odd)
  for (let index = 0; index < pairs.length; index += 2) {
    found.unreadable.push({ key: nameAt(pairs[index]), problem: textReply('read', pairs[index + 1]) })
  }
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}
