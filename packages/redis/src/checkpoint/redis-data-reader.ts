import type { ProjectedDataReader, ProjectedValue } from '@tidemark/checkpoint'
import { redisErrors } from '../errors.ts'
import { createRedisSession } from '../connection/redis-session.ts'
import { arrayReply, fieldsReply, malformed, textReply } from '../connection/reply-shape.ts'
import type { SafeRedisSource } from '../connection/safe-redis.ts'
import { readValuesScript } from './scripts/read-values.ts'

/** How many keys one script reads. */
const keysPerScript = 128

/** What a reader needs. */
export interface RedisDataReaderOptions {
  readonly redis: SafeRedisSource
  /** The data prefix of the store that wrote. */
  readonly dataPrefix?: string
}

/** Reads projected data over a connection of its own. */
export interface RedisDataReader extends ProjectedDataReader {
  close(): Promise<void>
}

/** A reader of data keys. Cost: one round trip per call. Promises: RED-18. */
export function createRedisDataReader(options: RedisDataReaderOptions): RedisDataReader {
  const { redis, dataPrefix = '' } = options
  const session = createRedisSession(redis)
  return {
    async readValues(keys) {
      const names = keys.map((key) => dataPrefix + key)
      const chunks = Array.from({ length: Math.ceil(names.length / keysPerScript) }, (_, index) =>
        names.slice(index * keysPerScript, (index + 1) * keysPerScript),
      )
      const commands = chunks.map((chunk) => ({ script: readValuesScript, keys: chunk, args: [] }))
      return session.run('read values', async (link) => {
        const found = link.facts.database
        if (found !== String(redis.database)) {
          const details = { address: redis.address, expected: String(redis.database), found }
          throw redisErrors.create('TM_REDIS_DATABASE_WRONG', details)
        }
        const replies = await link.sendAll('read values', commands)
        return replies.flatMap((reply, chunk) =>
          arrayReply('read values', reply, chunks[chunk]!.length).map((pair, index) =>
            readValue(chunks[chunk]![index]!, pair),
          ),
        )
      })
    },
    close: () => session.close(),
  }
}

/**
 * The value a reply pair stands for.
 *
 * @throws {TidemarkError} TM_REDIS_WRONG_TYPE for a type the vocabulary cannot write, TM_REDIS_REPLY_MALFORMED
 */
export function readValue(key: string, pair: unknown): ProjectedValue {
  const [kind, content] = arrayReply('read values', pair, 2)
  switch (textReply('read values', kind)) {
    case 'none':
      return { kind: 'absent' }
    case 'string':
      return { kind: 'string', value: textReply('read values', content) }
    case 'hash':
      return { kind: 'hash', fields: new Map(Object.entries(fieldsReply('read values', content))) }
    case 'set': {
      const members = arrayReply('read values', content).map((member) => textReply('read values', member))
      const set = new Set(members)
      if (set.size !== members.length) throw malformed('read values', 'every member once', content)
      return { kind: 'set', members: set }
    }
    case 'zset': {
      const scores = new Map<string, number>()
      for (const [member, score] of Object.entries(fieldsReply('read values', content))) {
        scores.set(member, readScore(score))
      }
      return { kind: 'sorted-set', scores }
    }
    default:
      throw redisErrors.create('TM_REDIS_WRONG_TYPE', { operation: 'read values', key, found: String(kind) })
  }
}

function readScore(text: string): number {
  const score = text === 'inf' ? Infinity : text === '-inf' ? -Infinity : Number(text)
  if (text === '' || Number.isNaN(score)) throw malformed('read values', 'a score', text)
  return score
}
