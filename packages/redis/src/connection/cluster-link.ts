import { createHash } from 'node:crypto'
import type { EvictionFact } from '@tidemark/checkpoint'
import { redisErrors } from '../errors.ts'
import { readSlotRanges, topologyText } from './cluster-topology.ts'
import type { NodeAddress, SlotRange } from './cluster-topology.ts'
import { keySlot } from './key-slot.ts'
import { openRedisLink } from './redis-link.ts'
import type { RedisCommand, RedisLink } from './redis-link.ts'
import { malformed } from './reply-shape.ts'
import type { SafeRedisClusterSource } from './safe-redis-cluster.ts'
import type { ServerFacts } from './server-facts.ts'

/**
 * Unbroken connections to every primary of a cluster, as one link: a command goes where its key lies.
 *
 * Its process is that of all primaries together with the slots they serve, so that a failover, a restart and a moved slot
 * are all another process. It is lost as soon as one connection is; no redirect is followed. Promises: RED-24.
 * @throws {TidemarkError} TM_REDIS_CLUSTER_DISAGREES, TM_REDIS_CLUSTER_EXPECTED, or what opening a connection raised.
 */
export async function openClusterLink(source: SafeRedisClusterSource): Promise<RedisLink> {
  const { ranges, seed } = await askForTopology(source)
  const addresses = new Map(ranges.map(({ nodeId, primary }) => [nodeId, primary]))
  const opened = await Promise.allSettled(
    [...addresses].map(
      async ([nodeId, address]) => [nodeId, await openRedisLink(source.sourceOf(address), 'cluster')] as const,
    ),
  )
  seed.destroy()
  const links = new Map(opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])))
  const link = new ClusterLink(source, ranges, links)
  const failed = opened.find((each) => each.status === 'rejected')
  try {
    if (failed !== undefined) throw failed.reason
    await link.readFacts()
  } catch (thrown) {
    link.destroy()
    throw thrown
  }
  return link
}

/** The topology as the first node that answers tells it. */
async function askForTopology(
  source: SafeRedisClusterSource,
): Promise<{ readonly ranges: readonly SlotRange[]; readonly seed: RedisLink }> {
  let last: unknown
  for (const node of source.nodes) {
    let seed: RedisLink | undefined
    try {
      seed = await openRedisLink(source.sourceOf(node), 'cluster')
      return { ranges: await askSlots(seed, node), seed }
    } catch (thrown) {
      seed?.destroy()
      last = thrown
    }
  }
  throw last
}

async function askSlots(link: RedisLink, asked: NodeAddress): Promise<readonly SlotRange[]> {
  return readSlotRanges(await link.send('read topology', { name: 'CLUSTER', args: ['SLOTS'] }), asked)
}

class ClusterLink implements RedisLink {
  readonly #source: SafeRedisClusterSource
  readonly #ranges: readonly SlotRange[]
  readonly #links: ReadonlyMap<string, RedisLink>
  readonly shards: readonly (readonly SlotRange[])[]
  #facts: ServerFacts | undefined

  constructor(source: SafeRedisClusterSource, ranges: readonly SlotRange[], links: ReadonlyMap<string, RedisLink>) {
    this.#source = source
    this.#ranges = ranges
    this.#links = links
    this.shards = [...links.keys()].map((id) => ranges.filter(({ nodeId }) => nodeId === id))
  }

  get facts(): ServerFacts {
    if (this.#facts === undefined) throw malformed('connect', 'the facts of the cluster', undefined)
    return this.#facts
  }

  get isLost(): boolean {
    return [...this.#links.values()].some((link) => link.isLost)
  }

  destroy(): void {
    for (const link of this.#links.values()) link.destroy()
  }

  runIdOf(key: string): string {
    return this.#linkOf(key).facts.runId
  }

  send(operation: string, command: RedisCommand): Promise<unknown> {
    return this.#linkOf(keyOf(command)).send(operation, command)
  }

  async sendAll(operation: string, commands: readonly RedisCommand[]): Promise<readonly unknown[]> {
    const groups = new Map<RedisLink, number[]>()
    commands.forEach((command, index) => {
      const link = this.#linkOf(keyOf(command))
      const group = groups.get(link)
      if (group === undefined) groups.set(link, [index])
      else group.push(index)
    })
    const replies: unknown[] = Array.from({ length: commands.length })
    const sent = [...groups].map(async ([link, indexes]) => {
      const answers = await link.sendAll(
        operation,
        indexes.map((index) => commands[index]!),
      )
      indexes.forEach((index, position) => (replies[index] = answers[position]))
    })
    // All of them settle before anything is said, so that no write is still under way when a failure is told.
    const settled = await Promise.allSettled(sent)
    for (const each of settled) if (each.status === 'rejected') throw each.reason
    return replies
  }

  /** Asks every primary who it is and which slots are served by whom; one other answer and the link is lost. */
  async readFacts(): Promise<ServerFacts> {
    const primaries = new Map(this.#ranges.map(({ nodeId, primary }) => [nodeId, primary]))
    const held = topologyText(this.#ranges)
    const all = await Promise.all(
      [...primaries].map(async ([nodeId, address]) => {
        const link = this.#links.get(nodeId)!
        const facts = await link.readFacts()
        const found = topologyText(await askSlots(link, address))
        if (found === held) return facts
        this.destroy()
        const reason = 'its nodes do not agree on who serves which slots'
        throw redisErrors.create('TM_REDIS_CLUSTER_DISAGREES', { address: this.#source.address, reason })
      }),
    )
    const processes = JSON.stringify([held, all.map(({ process }) => process)])
    const process = createHash('sha256').update(processes).digest('hex')
    this.#facts = { ...worstOf(all), process, runId: process }
    return this.#facts
  }

  #linkOf(key: string): RedisLink {
    const slot = keySlot(key)
    const range = this.#ranges.find(({ from, to }) => slot >= from && slot <= to)!
    return this.#links.get(range.nodeId)!
  }
}

/** Which key decides where a command goes. */
function keyOf(command: RedisCommand): string {
  const key = 'script' in command ? command.keys[0] : command.key
  if (key === undefined) throw malformed('route', 'a command with a key', undefined)
  return key
}

const evictions: readonly EvictionFact['kind'][] = ['keeps-all', 'expiring-only', 'any-key', 'unknown']

/** The facts of all nodes as one: what makes one of them unfit makes the cluster unfit. */
function worstOf(all: readonly ServerFacts[]): ServerFacts {
  const [first] = all as readonly [ServerFacts]
  const eviction = all
    .map((each) => each.eviction)
    .reduce((a, b) => (evictions.indexOf(b.kind) > evictions.indexOf(a.kind) ? b : a))
  return {
    ...first,
    isPrimary: all.every(({ isPrimary }) => isPrimary),
    isLoaded: all.every(({ isLoaded }) => isLoaded),
    eviction,
    durability: all.every(({ durability }) => durability === 'fsync') ? 'fsync' : 'server',
  }
}
