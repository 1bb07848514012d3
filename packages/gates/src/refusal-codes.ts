import { isDeepStrictEqual } from 'node:util'
import type { Refusal } from '@tidemark/checkpoint'
import type { GateWorld, ProjectionOverrides } from './gate-world.ts'

/** The codes of a refused start, under the same conditions as {@link refusedStart}. */
export async function refusalCodes(world: GateWorld, overrides?: ProjectionOverrides): Promise<readonly string[]> {
  return (await refusedStart(world, overrides)).map((reason) => reason.code)
}

/**
 * The reasons against a start.
 *
 * Throws when the start was not refused, or when any stored byte is another one afterwards.
 */
export async function refusedStart(world: GateWorld, overrides?: ProjectionOverrides): Promise<readonly Refusal[]> {
  const before = await world.store.storedBytes()
  const projection = world.projection(overrides)
  try {
    const outcome = await projection.start()
    if (outcome.kind !== 'refused') throw new Error('the start was not refused')
    if (!isDeepStrictEqual(await world.store.storedBytes(), before))
      throw new Error('a refused start changed something')
    return outcome.refusals
  } finally {
    await projection.stop()
  }
}
