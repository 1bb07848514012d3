import { redisErrors } from '../errors.ts'
import type { NodeAddress } from './cluster-topology.ts'
import { describeAddress } from './redis-address.ts'
import { createSafeRedis } from './safe-redis.ts'
import type { SafeRedisOptions, SafeRedisSource } from './safe-redis.ts'

/** What a caller may say about its cluster; what is said of connections holds for every node. */
export interface SafeRedisClusterOptions extends Omit<SafeRedisOptions, 'host' | 'port' | 'path' | 'db'> {
  /** Nodes to ask for the others; any that answers will do. */
  readonly nodes: readonly NodeAddress[]
  /** Where a node is reached that announces itself under an address of its own network. */
  readonly addressOf?: (announced: NodeAddress) => NodeAddress
}

/** Opens dedicated connections to the nodes of one cluster. */
export interface SafeRedisClusterSource {
  /** The nodes named, for messages. */
  readonly address: string
  readonly commandDeadlineMs: number
  readonly nodes: readonly NodeAddress[]
  /** Safe connections to the node that announces itself so. */
  sourceOf(announced: NodeAddress): SafeRedisSource
}

/**
 * Safe connections to a Redis Cluster: one to every primary, each as {@link createSafeRedis} makes them. No redirect is
 * ever followed behind the caller. Promises: RED-1, RED-24.
 * @throws {TidemarkError} TM_REDIS_UNSAFE_OPTION, TM_REDIS_ADDRESS_INVALID
 */
export function createSafeRedisCluster(options: SafeRedisClusterOptions): SafeRedisClusterSource {
  const { nodes, addressOf = (announced) => announced, ...shared } = options
  if (nodes.length === 0) throw redisErrors.create('TM_REDIS_ADDRESS_INVALID', { reason: 'no node is named' })
  // Judged now, not at the first call.
  const [first] = nodes.map(({ host, port }) => createSafeRedis({ ...shared, host, port }))
  return {
    address: nodes.map((node) => describeAddress(node)).join(','),
    commandDeadlineMs: first!.commandDeadlineMs,
    nodes,
    sourceOf(announced) {
      const { host, port } = addressOf(announced)
      return createSafeRedis({ ...shared, host, port })
    },
  }
}
