import { afterEach } from 'vitest'
import { openGateWorld, sharedServices } from './gate-world.ts'
import type { GateWorld } from './gate-world.ts'

/** Opens worlds on the shared services for the tests of one file and closes them after each. */
export function gateWorlds(): (options?: OpenOptions) => Promise<GateWorld> {
  const worlds: GateWorld[] = []
  afterEach(async () => {
    await Promise.all(worlds.splice(0).map((world) => world.close()))
  })
  return async ({ redisUrl, partitions = 1, config = {} } = {}) => {
    const shared = await sharedServices()
    const services = redisUrl === undefined ? shared : { ...shared, redisUrl }
    const world = await openGateWorld(services, partitions, config)
    worlds.push(world)
    return world
  }
}

/** What a test wants of its world. */
export interface OpenOptions {
  /** A Redis of the test's own. */
  readonly redisUrl?: string
  readonly partitions?: number
  /** The topic's settings. */
  readonly config?: Readonly<Record<string, string>>
}
