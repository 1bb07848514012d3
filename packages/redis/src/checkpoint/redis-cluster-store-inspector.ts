import { namespaceOf, newestEntries, topicNameOf } from '@tidemark/checkpoint'
import type { QuarantineListing, StoreInspector } from '@tidemark/checkpoint'
import { checkLimit } from '@tidemark/core'
import { redisErrors } from '../errors.ts'
import { openClusterLink } from '../connection/cluster-link.ts'
import { keySlot, SLOT_COUNT } from '../connection/key-slot.ts'
import type { RedisLink } from '../connection/redis-link.ts'
import { openedSession } from '../connection/redis-session.ts'
import type { RedisSession } from '../connection/redis-session.ts'
import { arrayReply, countReply, textReply } from '../connection/reply-shape.ts'
import type { SafeRedisClusterSource } from '../connection/safe-redis-cluster.ts'
import { clusterKeyLayout } from './key-layout.ts'

/** How many slots of a table a pass looks at per round trip; a node is blocked for well below a millisecond. */
const scanCount = '1000'

/** What an inspector needs. */
export interface RedisClusterStoreInspectorOptions {
  readonly cluster: SafeRedisClusterSource
  readonly namespace: string
}

/**
 * Looks into a namespace on a Redis Cluster for an operator: SCAN on every primary and HSCAN, nothing that writes.
 *
 * `scanKeys` gives the keys that begin with the namespace: meta and every checkpoint. A side key carries the name of its
 * checkpoint as hash tag, as the data of the atomic form does, and is not among them. Promises: RED-29.
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID; from a pass also TM_REDIS_CLUSTER_DISAGREES, where a node was
 *   restarted or a slot is moved meanwhile, since keys would be missed.
 */
export function createRedisClusterStoreInspector(options: RedisClusterStoreInspectorOptions): StoreInspector {
  const { cluster } = options
  const namespace = namespaceOf(options.namespace)
  const keys = clusterKeyLayout(namespace)
  const session = openedSession(cluster, () => openClusterLink(cluster))
  return {
    async readQuarantine({ topic, partition, entriesMax }): Promise<QuarantineListing> {
      const key = keys.quarantine(topicNameOf(topic), checkLimit('partition', partition, { min: 0, max: 2 ** 31 }))
      const entries = newestEntries(checkLimit('entriesMax', entriesMax, { min: 0, max: 100_000 }))
      const operation = 'read quarantine'
      const total = await session.run(operation, (link) => link.send(operation, { name: 'HLEN', args: [key], key }))
      let cursor = '0'
      do {
        const command = { name: 'HSCAN', args: [key, cursor, 'COUNT', scanCount], key }
        const [next, page] = pageOf(operation, await session.run(operation, (link) => link.send(operation, command)))
        for (let at = 0; at + 1 < page.length; at += 2) entries.add(page[at]!, page[at + 1]!)
        cursor = next
      } while (cursor !== '0')
      // A pass may show a field twice; twins stand beside each other once they are in order.
      const newest = entries.newest().filter(({ offset }, at, all) => all[at - 1]?.offset !== offset)
      return { total: countReply(operation, total), newest }
    },

    async *scanKeys(signal) {
      const before = await session.run('scan keys', (link) => standstill(link, cluster))
      for (const key of before.nodes) {
        let cursor = '0'
        do {
          const command = { name: 'SCAN', args: [cursor, 'MATCH', `${namespace}:*`, 'COUNT', scanCount], key }
          // A cursor means something only to the process that gave it.
          const reply = await onSame(session, cluster, before.process, (link) => link.send('scan keys', command))
          const [next, page] = pageOf('scan keys', reply)
          if (page.length > 0) yield page
          if (signal?.aborted === true) return
          cursor = next
        } while (cursor !== '0')
      }
      // What moved behind the pass would have been missed by it.
      await onSame(session, cluster, before.process, (link) => standstill(link, cluster))
    },

    close: () => session.close(),
  }
}

/** Which primaries there are, each by a key that it serves, while no slot is on its way from one to another. */
async function standstill(
  link: RedisLink,
  { address }: SafeRedisClusterSource,
): Promise<{ readonly process: string; readonly nodes: readonly string[] }> {
  const { process } = await link.readFacts()
  const nodes = new Map<string, string>()
  for (const key of keyOfEverySlot()) nodes.set(link.runIdOf(key), key)
  const commands = [...nodes.values()].map((key) => ({ name: 'CLUSTER', args: ['NODES'], key }))
  for (const reply of await link.sendAll('scan keys', commands)) {
    // A node shows a slot that leaves or enters it in brackets, on its own line.
    const own = textReply('CLUSTER NODES', reply)
      .split('\n')
      .find((line) => line.includes('myself'))
    if (own?.includes(' [') === true) throw disagrees(address, 'a slot is being moved')
  }
  return { process, nodes: [...nodes.values()] }
}

/** Work on the cluster as it was; on another process it would be about something else. */
function onSame<T>(
  session: RedisSession,
  { address }: SafeRedisClusterSource,
  process: string,
  work: (link: RedisLink) => Promise<T>,
): Promise<T> {
  return session.run('scan keys', async (link) => {
    const requireSame = (): void => {
      if (link.facts.process === process) return
      throw disagrees(address, 'a node was restarted or a slot moved while the keys were walked')
    }
    requireSame()
    const value = await work(link)
    // The work may have read the facts anew.
    requireSame()
    return value
  })
}

/** One short key for every slot. */
function* keyOfEverySlot(): Iterable<string> {
  const seen = new Set<number>()
  for (let n = 0; seen.size < SLOT_COUNT; n += 1) {
    const key = n.toString(36)
    const slot = keySlot(key)
    if (seen.has(slot)) continue
    seen.add(slot)
    yield key
  }
}

function pageOf(operation: string, reply: unknown): readonly [string, readonly string[]] {
  const [next, page] = arrayReply(operation, reply, 2)
  return [textReply(operation, next), arrayReply(operation, page).map((item) => textReply(operation, item))]
}

function disagrees(address: string, reason: string): Error {
  return redisErrors.create('TM_REDIS_CLUSTER_DISAGREES', { address, reason })
}
