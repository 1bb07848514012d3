import { namespaceOf, newestEntries, topicNameOf } from '@tidemark/checkpoint'
import type { QuarantineListing, StoreInspector } from '@tidemark/checkpoint'
import { checkLimit } from '@tidemark/core'
import { createRedisSession } from '../connection/redis-session.ts'
import type { RedisSession } from '../connection/redis-session.ts'
import { arrayReply, countReply, textReply } from '../connection/reply-shape.ts'
import type { SafeRedisSource } from '../connection/safe-redis.ts'
import { keyLayout } from './key-layout.ts'

/** How many slots a pass looks at per round trip; the server is blocked for well below a millisecond. */
const scanCount = '1000'

/** What an inspector needs. */
export interface RedisStoreInspectorOptions {
  readonly redis: SafeRedisSource
  readonly namespace: string
}

/**
 * Looks into a namespace for an operator, over a connection of its own: SCAN and HSCAN, nothing that writes.
 *
 * Promises: RED-40. Every round trip has the source's deadline; a pass as a whole has none, so hand it a signal.
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID
 */
export function createRedisStoreInspector(options: RedisStoreInspectorOptions): StoreInspector {
  const keys = keyLayout(namespaceOf(options.namespace))
  const session = createRedisSession(options.redis)
  return {
    async readQuarantine({ topic, partition, entriesMax }): Promise<QuarantineListing> {
      const key = keys.quarantine(topicNameOf(topic), checkLimit('partition', partition, { min: 0, max: 2 ** 31 }))
      const entries = newestEntries(checkLimit('entriesMax', entriesMax, { min: 0, max: 100_000 }))
      const total = await session.run('read quarantine', (link) =>
        link.send('read quarantine', { name: 'HLEN', args: [key], key }),
      )
      for await (const page of pass(session, 'read quarantine', 'HSCAN', [key])) {
        for (let at = 0; at + 1 < page.length; at += 2) entries.add(page[at]!, page[at + 1]!)
      }
      // A pass may show a field twice; twins stand beside each other once they are in order.
      const newest = entries.newest().filter(({ offset }, at, all) => all[at - 1]?.offset !== offset)
      return { total: countReply('read quarantine', total), newest }
    },

    async *scanKeys(signal) {
      for await (const page of pass(session, 'scan keys', 'SCAN', [], ['MATCH', `${options.namespace}:*`])) {
        if (page.length > 0) yield page
        if (signal?.aborted === true) return
      }
    },

    close: () => session.close(),
  }
}

/** Every page of a cursor. */
async function* pass(
  session: RedisSession,
  operation: string,
  name: 'SCAN' | 'HSCAN',
  target: readonly string[],
  filter: readonly string[] = [],
): AsyncIterable<readonly string[]> {
  let cursor = '0'
  do {
    const args = [...target, cursor, ...filter, 'COUNT', scanCount]
    const command = target[0] === undefined ? { name, args } : { name, args, key: target[0] }
    const reply = await session.run(operation, (link) => link.send(operation, command))
    const [next, page] = arrayReply(operation, reply, 2)
    cursor = textReply(operation, next)
    yield arrayReply(operation, page).map((item) => textReply(operation, item))
  } while (cursor !== '0')
}
