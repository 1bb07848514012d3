import type { ProjectionWrite } from '@tidemark/checkpoint'
import { encodeOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { SlotRange } from '../connection/cluster-topology.ts'
import { keySlot } from '../connection/key-slot.ts'
import type { RedisCommand, RedisLink } from '../connection/redis-link.ts'
import type { StepRequest } from './advance-step.ts'
import type { KeyLayout } from './key-layout.ts'
import { raiseValueScript } from './scripts/raise-value.ts'

/** The field beside the checkpoint that says how far a replay is; marks that are due have numbers. */
export const REPLAYED_FIELD = 'replayed'

type Shards = NonNullable<RedisLink['shards']>

/**
 * How the data in each shard of a cluster says how far it is.
 *
 * A shard keeps what it was sent in one order, on disk and on its replicas, so whatever it loses is the end of it. A mark that is
 * written after the data of a step, on the same connection, is lost with that data or before it. Which mark is due in which shard
 * is written beside the checkpoint, in the script that moves it. Promises: RED-42.
 */
export interface ShardMarks {
  readonly allShards: readonly number[]
  /** The shards that serve the keys. */
  shardsOf(dataKeys: Iterable<string>): readonly number[]
  /** Raises the marks of shards to the end of the step; a greater one stays. */
  raiseCommands(shards: readonly number[]): readonly RedisCommand[]
  /** Makes the raised marks due. After a replay they are all that is due: whatever was behind has been written again. */
  due(shards: readonly number[], isAfterReplay: boolean): readonly ProjectionWrite[]
  /** Says that a replay is at a position. */
  replayedTo(position: Offset): readonly ProjectionWrite[]
}

/** The marks of a step; absent where there is only one server, which loses data and checkpoint together. */
export function createShardMarks(link: RedisLink, keys: KeyLayout, request: StepRequest): ShardMarks | undefined {
  const { shards } = link
  const { shardKeys } = keys
  if (shards === undefined || shardKeys === undefined) return undefined
  const { identity, partition } = request
  const dueKey = shardKeys.due(identity.topic, partition)
  const position = encodeOffset(request.to)
  const tags = tagNumbers(shards, (number) => shardKeys.mark(identity.topic, partition, number))
  const field = (name: string, value: string): ProjectionWrite => ({ op: 'hset', key: dueKey, field: name, value })
  return {
    allShards: shards.map((_, shard) => shard),
    shardsOf(dataKeys) {
      const found = new Set<number>()
      for (const key of dataKeys) found.add(shardOf(shards, key))
      return [...found]
    },
    raiseCommands: (raised) =>
      raised.map((shard) => ({
        script: raiseValueScript,
        keys: [shardKeys.mark(identity.topic, partition, tags[shard]!)],
        args: [position],
      })),
    due(raised, isAfterReplay) {
      const fields = raised.map((shard) => field(String(tags[shard]!), position))
      return isAfterReplay ? [{ op: 'del', key: dueKey }, ...fields] : fields
    },
    replayedTo: (at) => [field(REPLAYED_FIELD, encodeOffset(at))],
  }
}

/** The marks of some partitions in every shard as it is, one command a shard. */
export function forgetCommands(
  link: RedisLink,
  keys: KeyLayout,
  topic: string,
  partitions: readonly number[],
): readonly RedisCommand[] {
  const { shards = [] } = link
  const { shardKeys } = keys
  if (shardKeys === undefined || partitions.length === 0) return []
  return tagNumbers(shards, (number) => shardKeys.mark(topic, 0, number)).map((number) => {
    const names = partitions.map((partition) => shardKeys.mark(topic, partition, number))
    return { name: 'DEL', args: names, key: names[0]! }
  })
}

function shardOf(shards: Shards, key: string): number {
  const slot = keySlot(key)
  return shards.findIndex((ranges) => ranges.some(({ from, to }) => slot >= from && slot <= to))
}

const known = new WeakMap<readonly (readonly SlotRange[])[], readonly number[]>()

/** For each shard the first number whose mark it serves. The hash tag decides, so that it is one for all partitions. */
function tagNumbers(shards: Shards, markOf: (number: number) => string): readonly number[] {
  const before = known.get(shards)
  if (before !== undefined) return before
  const found: number[] = []
  let missing = shards.filter((ranges) => ranges.length > 0).length
  for (let number = 0; missing > 0; number += 1) {
    const shard = shardOf(shards, markOf(number))
    if (found[shard] !== undefined) continue
    found[shard] = number
    missing -= 1
  }
  known.set(shards, found)
  return found
}
