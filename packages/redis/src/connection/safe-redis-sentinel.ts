import { messageOf } from '@tidemark/core'
import { redisErrors } from '../errors.ts'
import type { NodeAddress } from './cluster-topology.ts'
import { describeAddress } from './redis-address.ts'
import { connectWithin } from './redis-link.ts'
import { arrayReply, malformed, textReply } from './reply-shape.ts'
import { createSafeRedis } from './safe-redis.ts'
import type { SafeRedisOptions, SafeRedisSource } from './safe-redis.ts'

/** What a caller may say about servers that sentinels watch over. */
export interface SafeRedisSentinelOptions extends Omit<SafeRedisOptions, 'host' | 'port' | 'path'> {
  readonly sentinels: readonly NodeAddress[]
  /** The name under which the sentinels know the primary. */
  readonly name: string
  /** Of the sentinels themselves, where they demand a login; what is said above is of the servers. */
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
  /** Where a server is reached that announces itself under an address of its own network. */
  readonly addressOf?: (announced: NodeAddress) => NodeAddress
}

/**
 * Safe connections to whatever server the sentinels name as the primary, asked anew for every connection.
 *
 * A failover is never followed behind the store: the broken connection ends the call, and the next one finds another
 * process, which everything is read from again before anything is written. Promises: RED-26.
 * @throws {TidemarkError} TM_REDIS_UNSAFE_OPTION, TM_REDIS_ADDRESS_INVALID
 */
export function createSafeRedisSentinel(options: SafeRedisSentinelOptions): SafeRedisSource {
  const {
    sentinels,
    name,
    sentinelUsername,
    sentinelPassword,
    addressOf = (announced) => announced,
    ...shared
  } = options
  if (sentinels.length === 0) throw redisErrors.create('TM_REDIS_ADDRESS_INVALID', { reason: 'no sentinel is named' })
  // Judged now, not at the first call; the address is replaced by what a sentinel says.
  const judged = createSafeRedis({ ...shared })
  const login = {
    ...(sentinelUsername === undefined ? {} : { username: sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { password: sentinelPassword }),
  }
  const address = `${sentinels.map((each) => describeAddress(each)).join(',')} (${name})`
  const ask = (sentinel: NodeAddress): Promise<NodeAddress> => {
    const { connectTimeoutMs: connectTimeout, commandDeadlineMs } = judged
    const { host, port } = sentinel
    const { tls } = shared
    const encrypted = tls === undefined ? {} : { tls }
    return askSentinel(createSafeRedis({ host, port, ...login, ...encrypted, connectTimeout, commandDeadlineMs }), name)
  }
  return {
    ...judged,
    address,
    async locate() {
      let reason = ''
      for (const sentinel of sentinels) {
        try {
          const { host, port } = addressOf(await ask(sentinel))
          return createSafeRedis({ ...shared, host, port })
        } catch (thrown) {
          reason = messageOf(thrown).slice(0, 200)
        }
      }
      throw redisErrors.create('TM_REDIS_PRIMARY_UNKNOWN', { address, name, reason })
    },
  }
}

async function askSentinel(source: SafeRedisSource, name: string): Promise<NodeAddress> {
  const client = source.newClient()
  client.on('error', () => undefined)
  try {
    await connectWithin(client, source.connectTimeoutMs)
    const reply: unknown = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
    if (reply === null) throw new Error('the name is not known to it')
    const [host, port] = arrayReply('SENTINEL', reply, 2).map((part) => textReply('SENTINEL', part)) as [string, string]
    if (!/^[1-9][0-9]{0,4}$/.test(port)) throw malformed('SENTINEL', 'a port', reply)
    return { host, port: Number(port) }
  } catch (thrown) {
    throw new Error(source.redact(messageOf(thrown)))
  } finally {
    client.disconnect()
  }
}
