import { freePorts } from '../process/free-port.ts'
import { waitUntilReady } from '../process/wait-until-ready.ts'
import { askRedis } from './ask-redis.ts'
import { startRedis } from './redis-server.ts'
import type { RedisServer } from './redis-server.ts'

/** How a cluster of one's own is configured. */
export interface RedisClusterOptions {
  /** Primaries; the 16,384 slots are spread evenly over them. Default 3. */
  readonly primaries?: number
  /** Replicas of every primary. Default none. */
  readonly replicas?: number
  /** Lines of redis.conf of every node. */
  readonly config?: Readonly<Record<string, string>>
}

/** A Redis Cluster of one's own on 127.0.0.1. */
export interface RedisCluster {
  /** Primaries first, in the order of their slots, then replicas. */
  readonly nodes: readonly RedisServer[]
  readonly urls: readonly string[]
  /** The node's own id in the cluster. */
  idOf(node: RedisServer): Promise<string>
  /** The first slot not in the node's share; slots of node n are from `firstSlot(n)` to below this. */
  firstSlot(primary: number): number
  /** Resolves once every running node says that all slots are served. */
  ready(): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const slotCount = 16_384

/** Starts a Redis Cluster; ready when every node says so. */
export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { primaries = 3, replicas = 0 } = options
  const nodes: RedisServer[] = []
  const firstSlot = (primary: number): number => Math.floor((slotCount * primary) / primaries)
  const close = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.close())))
  const idOf = async (node: RedisServer): Promise<string> => (await askRedis(node, 'CLUSTER', 'MYID')).split('\r\n')[1]!
  const ready = async (): Promise<void> => {
    const running = nodes.filter((node) => node.state() === 'running')
    for (const node of running) {
      const probe = async (): Promise<string | undefined> => {
        const info = await askRedis(node, 'CLUSTER', 'INFO').catch(String)
        const known = Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1])
        return info.includes('cluster_state:ok') && known >= nodes.length ? undefined : info.slice(0, 200)
      }
      await waitUntilReady({ service: 'Redis Cluster', address: `127.0.0.1:${node.port}`, timeoutMs: 30_000, probe })
    }
  }
  try {
    const busPorts = await freePorts(primaries * (1 + replicas))
    for (const busPort of busPorts) nodes.push(await startNode(busPort, options.config))
    for (let primary = 0; primary < primaries; primary += 1) {
      const range = [String(firstSlot(primary)), String(firstSlot(primary + 1) - 1)]
      await askRedis(nodes[primary]!, 'CLUSTER', 'ADDSLOTSRANGE', ...range)
      await askRedis(nodes[primary]!, 'CLUSTER', 'SET-CONFIG-EPOCH', String(primary + 1))
    }
    for (const [index, node] of nodes.entries()) {
      if (index > 0) await askRedis(nodes[0]!, 'CLUSTER', 'MEET', node.host, String(node.port), String(busPorts[index]))
    }
    await ready()
    for (let index = primaries; index < nodes.length; index += 1) {
      const primary = await idOf(nodes[(index - primaries) % primaries]!)
      await askRedis(nodes[index]!, 'CLUSTER', 'REPLICATE', primary)
    }
  } catch (error) {
    await close()
    throw error
  }
  const urls = nodes.map((node) => node.url)
  return { nodes, urls, idOf, firstSlot, ready, close, [Symbol.asyncDispose]: close }
}

function startNode(busPort: number, config: RedisClusterOptions['config']): Promise<RedisServer> {
  return startRedis({
    config: {
      'cluster-enabled': 'yes',
      'cluster-config-file': 'nodes.conf',
      'cluster-port': String(busPort),
      'cluster-node-timeout': '1500',
      ...config,
    },
  })
}
