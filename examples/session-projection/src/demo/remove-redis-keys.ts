import { createSafeRedis } from '@tidemark/redis/checkpoint'

/** Removes every key under the prefixes; they are the demo's own, with a random part. */
export async function removeRedisKeys(url: string, prefixes: readonly string[]): Promise<void> {
  const redis = createSafeRedis(url).newClient()
  await redis.connect()
  try {
    for (const prefix of prefixes) {
      let cursor = '0'
      do {
        const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000)
        if (keys.length > 0) await redis.unlink(...keys)
        cursor = next
      } while (cursor !== '0')
    }
  } finally {
    redis.disconnect()
  }
}
