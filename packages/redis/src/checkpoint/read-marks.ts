import { decodeCheckpoint } from '@tidemark/checkpoint'
import type {
  BootstrapOutcome,
  BootstrapRequest,
  ReadStateRequest,
  StoredState,
  UnreadableKey,
} from '@tidemark/checkpoint'
import { decodeOffset, encodeOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { RedisCommand, RedisLink } from '../connection/redis-link.ts'
import { arrayReply, fieldsReply, textReply } from '../connection/reply-shape.ts'
import { createClusterCheckpoints } from './create-checkpoints.ts'
import type { KeyLayout, ShardKeys } from './key-layout.ts'
import { readState } from './read-state.ts'
import { readValuesScript } from './scripts/read-values.ts'
import { forgetCommands, REPLAYED_FIELD } from './shard-marks.ts'

/** How many marks one script reads. */
const marksPerScript = 128

/**
 * Everything stored about a projection, and how far the data in the shards says it is. Promises: RED-42.
 *
 * Order: what is due after the checkpoints and marks after what is due, so that a step that runs meanwhile can only show marks
 * that are ahead, which is what they are. Cost: two round trips more than without.
 */
export async function readMarkedState(
  link: RedisLink,
  keys: KeyLayout,
  database: number,
  request: ReadStateRequest,
): Promise<StoredState> {
  const state = await readState(link, keys, database, request)
  const shardKeys = keys.shardKeys!
  const checkpoints = new Map<number, Offset>()
  for (const [partition, fields] of state.checkpoints) {
    const decoded = decodeCheckpoint(fields)
    if (decoded.kind === 'decoded') checkpoints.set(partition, decoded.value.nextOffset)
  }
  const unreadable: UnreadableKey[] = []
  const due = await readDue(link, shardKeys, request.topic, [...checkpoints.keys()], unreadable)
  const marks = await readMarks(link, shardKeys, request.topic, due)
  const twins = new Map<number, string>()
  const witnesses = new Map(state.witnesses)
  for (const [partition, checkpoint] of checkpoints) {
    const twin = twinOf(checkpoint, due.get(partition)!, (number) =>
      marks.get(shardKeys.mark(request.topic, partition, number)),
    )
    if (twin !== undefined) twins.set(partition, twin)
    // The witness is that of the checkpoint; beside data that is behind, it is of no record that was applied.
    if (twin !== encodeOffset(checkpoint)) witnesses.delete(partition)
  }
  return { ...state, twins, witnesses, unreadable: [...state.unreadable, ...unreadable] }
}

/** Where the data is: at the checkpoint, unless a shard holds less than was due there; nowhere, if its mark is gone. */
function twinOf(
  checkpoint: Offset,
  due: ReadonlyMap<string, string>,
  markOf: (number: number) => string | undefined,
): string | undefined {
  let lowest = checkpoint
  for (const [name, text] of due) {
    const expected = decodeOffset(text)
    if (expected === undefined) return `due ${name} is "${text.slice(0, 32)}"`
    if (name === REPLAYED_FIELD) {
      if (expected < lowest) lowest = expected
      continue
    }
    const stored = markOf(Number(name))
    if (stored === undefined) return undefined
    const mark = decodeOffset(stored)
    if (mark === undefined) return `mark ${name} is "${stored.slice(0, 32)}"`
    if (mark < expected && mark < lowest) lowest = mark
  }
  return encodeOffset(lowest)
}

/** What is due, by partition. */
async function readDue(
  link: RedisLink,
  shardKeys: ShardKeys,
  topic: string,
  partitions: readonly number[],
  unreadable: UnreadableKey[],
): Promise<ReadonlyMap<number, ReadonlyMap<string, string>>> {
  const names = partitions.map((partition) => shardKeys.due(topic, partition))
  const replies = await link.sendAll(
    'read',
    names.map((key) => ({ script: readValuesScript, keys: [key], args: [] })),
  )
  return new Map(
    partitions.map((partition, index) => {
      const [[kind, content]] = pairsOf(replies[index], 1) as [readonly [string, unknown]]
      if (kind === 'hash') return [partition, new Map(Object.entries(fieldsReply('read', content)))]
      const problem = `a ${kind} stands where a hash is due`
      if (kind !== 'none') unreadable.push({ key: names[index]!, problem })
      return [partition, new Map()]
    }),
  )
}

/** The marks that are due, by key; one that is not there is absent, one of another kind is no position. */
async function readMarks(
  link: RedisLink,
  shardKeys: ShardKeys,
  topic: string,
  due: ReadonlyMap<number, ReadonlyMap<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const byNumber = new Map<string, string[]>()
  for (const [partition, fields] of due) {
    for (const number of fields.keys()) {
      if (number === REPLAYED_FIELD || !/^[0-9]{1,9}$/.test(number)) continue
      const names = byNumber.get(number) ?? []
      names.push(shardKeys.mark(topic, partition, Number(number)))
      byNumber.set(number, names)
    }
  }
  const commands: (RedisCommand & { readonly keys: readonly string[] })[] = []
  for (const names of byNumber.values()) {
    for (let from = 0; from < names.length; from += marksPerScript) {
      commands.push({ script: readValuesScript, keys: names.slice(from, from + marksPerScript), args: [] })
    }
  }
  const replies = await link.sendAll('read', commands)
  const marks = new Map<string, string>()
  commands.forEach(({ keys }, index) => {
    pairsOf(replies[index], keys.length).forEach(([kind, content], at) => {
      if (kind !== 'none') marks.set(keys[at]!, kind === 'string' ? textReply('read', content) : `a ${kind}`)
    })
  })
  return marks
}

function pairsOf(reply: unknown, count: number): readonly (readonly [string, unknown])[] {
  return arrayReply('read', reply, count).map((pair) => {
    const [kind, content] = arrayReply('read', pair, 2)
    return [textReply('read', kind), content]
  })
}

/**
 * Creates checkpoints, and forgets the marks of positions that stood there before: data that is written anew must not be taken
 * for what an earlier life wrote.
 */
export async function createMarkedCheckpoints(
  link: RedisLink,
  keys: KeyLayout,
  request: BootstrapRequest,
): Promise<BootstrapOutcome> {
  const outcome = await createClusterCheckpoints(link, keys, request)
  if (outcome.kind !== 'created') return outcome
  const { topic } = request.identity
  const due = request.partitions.map((partition) => keys.shardKeys!.due(topic, partition))
  await link.sendAll(
    'bootstrap',
    due.map((key) => ({ name: 'DEL', args: [key], key })),
  )
  await link.sendAll('bootstrap', forgetCommands(link, keys, topic, request.partitions))
  return outcome
}
