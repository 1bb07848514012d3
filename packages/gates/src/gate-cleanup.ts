import { afterAll, afterEach } from 'vitest'
import { openGateWorld } from './gate-world.ts'
import type { GateWorld, WorldOptions } from './gate-world.ts'
import { closeSharedStores } from './variants/gate-variants.ts'

/** Opens worlds for the tests of one file and closes them after each. */
export function gateWorlds(): (options: WorldOptions) => Promise<GateWorld> {
  const worlds: GateWorld[] = []
  afterEach(async () => {
    await Promise.all(worlds.splice(0).map((world) => world.close()))
  })
  afterAll(() => closeSharedStores())
  return async (options) => {
    const world = await openGateWorld(options)
    worlds.push(world)
    return world
  }
}
