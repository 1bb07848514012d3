import { checkLimit } from '@tidemark/core'
import { windowErrors } from '../errors.ts'
import { deepFreeze } from '../policy/deep-freeze.ts'
import type { FrozenPolicy } from '../policy/frozen-policy.ts'
import { judgeRegistration } from '../policy/generation-registry.ts'
import type { GenerationRegistry } from '../policy/generation-registry.ts'

/** What a registry in memory is made with. */
export interface MemoryGenerationRegistryOptions {
  /** At most so many generations over all streams; one more is refused, none is ever dropped. */
  readonly generationsMax: number
}

/**
 * A registry that lives as long as the process: for tests, and the model of what others do.
 *
 * Promises: WIN-13.
 *
 * @throws {TidemarkError} TM_CORE_LIMIT_INVALID; `register` rejects with TM_WINDOW_REGISTRY_FULL, TM_WINDOW_POLICY_DAMAGED.
 */
export function createMemoryGenerationRegistry(options: MemoryGenerationRegistryOptions): GenerationRegistry {
  const { generationsMax } = options
  checkLimit('generationsMax', generationsMax, { min: 1, max: 1_000_000 })
  const streams = new Map<string, Map<number, FrozenPolicy>>()
  let count = 0
  const latestOf = (businessStream: string): FrozenPolicy | undefined => {
    const generations = streams.get(businessStream) ?? new Map<number, FrozenPolicy>()
    return generations.size === 0 ? undefined : generations.get(Math.max(...generations.keys()))
  }
  const find = (businessStream: string, generation: number): FrozenPolicy | undefined =>
    streams.get(businessStream)?.get(generation)
  return {
    durability: 'process',
    // Without an await inside, the function is the atomic step.
    register: async (offered) => {
      const { businessStream, generation } = offered.policy
      const verdict = judgeRegistration(find(businessStream, generation), latestOf(businessStream), offered)
      if (verdict.kind !== 'registered') return verdict
      if (count >= generationsMax) {
        throw windowErrors.create('TM_WINDOW_REGISTRY_FULL', { businessStream, generation, generationsMax })
      }
      const generations = streams.get(businessStream) ?? new Map<number, FrozenPolicy>()
      // A copy: what is held is written once, whatever becomes of the object that was passed.
      generations.set(generation, deepFreeze(JSON.parse(JSON.stringify(offered)) as FrozenPolicy))
      streams.set(businessStream, generations)
      count += 1
      return verdict
    },
    find: async (businessStream, generation) => find(businessStream, generation),
    latest: async (businessStream) => latestOf(businessStream),
  }
}
