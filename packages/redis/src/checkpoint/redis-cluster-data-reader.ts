import { openClusterLink } from '../connection/cluster-link.ts'
import { keySlot } from '../connection/key-slot.ts'
import { openedSession } from '../connection/redis-session.ts'
import { arrayReply } from '../connection/reply-shape.ts'
import { retryingSession } from '../connection/retrying-session.ts'
import type { SafeRedisClusterSource } from '../connection/safe-redis-cluster.ts'
import { readValue } from './redis-data-reader.ts'
import type { RedisDataReader } from './redis-data-reader.ts'
import { readValuesScript } from './scripts/read-values.ts'

/** How many keys one script reads; all of them lie in one slot. */
const keysPerScript = 128

/** What a reader needs. */
export interface RedisClusterDataReaderOptions {
  readonly cluster: SafeRedisClusterSource
  /** The data prefix of the store that wrote. */
  readonly dataPrefix?: string
}

/**
 * A reader of data keys in a Redis Cluster, wherever they lie. Cost: one round trip to every primary concerned, a script a
 * slot. Reading is repeated while the cluster is being repaired or moved, within the deadline. Promises: RED-18, RED-29.
 */
export function createRedisClusterDataReader(options: RedisClusterDataReaderOptions): RedisDataReader {
  const { cluster, dataPrefix = '' } = options
  const opened = openedSession(cluster, () => openClusterLink(cluster))
  const session = retryingSession(opened, cluster.commandDeadlineMs, new Set(['read values']))
  return {
    async readValues(keys) {
      const names = keys.map((key) => dataPrefix + key)
      const chunks = chunksBySlot(names)
      const commands = chunks.map((chunk) => ({
        script: readValuesScript,
        keys: chunk.map((index) => names[index]!),
        args: [],
      }))
      const replies = await session.run('read values', (link) => link.sendAll('read values', commands))
      const pairs: unknown[] = Array.from({ length: names.length })
      replies.forEach((reply, at) => {
        const chunk = chunks[at]!
        const answers = arrayReply('read values', reply, chunk.length)
        chunk.forEach((index, position) => (pairs[index] = answers[position]))
      })
      return pairs.map((pair, index) => readValue(names[index]!, pair))
    },
    close: () => session.close(),
  }
}

/** Positions of names that may share a script. */
function chunksBySlot(names: readonly string[]): readonly (readonly number[])[] {
  const bySlot = new Map<number, number[]>()
  names.forEach((name, index) => {
    const slot = keySlot(name)
    const group = bySlot.get(slot)
    if (group === undefined) bySlot.set(slot, [index])
    else group.push(index)
  })
  return [...bySlot.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / keysPerScript) }, (_, chunk) =>
      group.slice(chunk * keysPerScript, (chunk + 1) * keysPerScript),
    ),
  )
}
