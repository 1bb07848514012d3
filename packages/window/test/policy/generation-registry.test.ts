import { describe, expect, it } from 'vitest'
import { freezePolicy } from '../../src/index.ts'
import type { StreamTimePolicy } from '../../src/index.ts'
import { createMemoryGenerationRegistry } from '../../src/memory.ts'
import { samplePolicy } from './sample-policy.ts'

const frozen = (changed: Partial<StreamTimePolicy> = {}) => freezePolicy(samplePolicy(changed))
const registryOf = () => createMemoryGenerationRegistry({ generationsMax: 3 })

describe('the registry of generations', () => {
  it('[WIN-13] is written once: the same policy again is harmless, another one is told what it changes', async () => {
    const registry = registryOf()
    expect(await registry.register(frozen())).toEqual({ kind: 'registered' })
    expect(await registry.register(frozen())).toEqual({ kind: 'already-registered' })
    expect(await registry.register(frozen({ allIdle: 'FLUSH_MAX' }))).toEqual({
      kind: 'taken',
      heldDigest: frozen().digest,
      changes: [{ path: '$.allIdle', held: 'HOLD', offered: 'FLUSH_MAX' }],
    })
    expect(await registry.find('revenue', 3)).toEqual(frozen())
    expect(registry.durability).toBe('process')
  })

  it('[WIN-13] takes generations of a stream in ascending order only, gaps included', async () => {
    const registry = registryOf()
    expect(await registry.latest('revenue')).toBeUndefined()
    expect(await registry.register(frozen({ generation: 3 }))).toEqual({ kind: 'registered' })
    expect(await registry.register(frozen({ generation: 9 }))).toEqual({ kind: 'registered' })
    expect(await registry.register(frozen({ generation: 8 }))).toEqual({ kind: 'behind', latestGeneration: 9 })
    expect(await registry.register(frozen({ generation: 3 }))).toEqual({ kind: 'already-registered' })
    expect((await registry.latest('revenue'))?.policy.generation).toBe(9)
    expect(await registry.find('revenue', 8)).toBeUndefined()
  })

  it('[WIN-13] keeps streams apart', async () => {
    const registry = registryOf()
    await registry.register(frozen({ generation: 9 }))
    expect(await registry.register(frozen({ businessStream: 'returns', generation: 1 }))).toEqual({
      kind: 'registered',
    })
    expect(await registry.find('returns', 9)).toBeUndefined()
    expect((await registry.latest('returns'))?.policy.generation).toBe(1)
  })

  it('[WIN-13] lets one of several that register at once have the generation', async () => {
    const registry = registryOf()
    const verdicts = await Promise.all(
      (['HOLD', 'FLUSH_MAX', 'HOLD'] as const).map((allIdle) => registry.register(frozen({ allIdle }))),
    )
    expect(verdicts.map(({ kind }) => kind)).toEqual(['registered', 'taken', 'already-registered'])
  })

  it('[WIN-13] holds what was registered, whatever becomes of the object', async () => {
    const registry = registryOf()
    const offered = structuredClone(frozen())
    await registry.register(offered)
    ;(offered.policy as { allIdle: string }).allIdle = 'FLUSH_MAX'
    expect(await registry.find('revenue', 3)).toEqual(frozen())
    const found = await registry.find('revenue', 3)
    expect(() => {
      ;(found!.policy as { allIdle: string }).allIdle = 'FLUSH_MAX'
    }).toThrow(TypeError)
    expect(await registry.find('revenue', 3)).toEqual(frozen())
  })

  it('[WIN-13] registers no policy whose digests are not its own', async () => {
    const registry = registryOf()
    await expect(registry.register({ ...frozen(), digest: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'TM_WINDOW_POLICY_DAMAGED',
    })
    expect(await registry.latest('revenue')).toBeUndefined()
  })

  it('[WIN-13] refuses one more than its limit and drops none', async () => {
    const registry = registryOf()
    for (const generation of [1, 2, 3]) await registry.register(frozen({ generation }))
    await expect(registry.register(frozen({ generation: 4 }))).rejects.toMatchObject({
      code: 'TM_WINDOW_REGISTRY_FULL',
      message: 'generation 4 of "revenue" was not registered: 3 generations are there',
    })
    expect(await registry.register(frozen({ generation: 1 }))).toEqual({ kind: 'already-registered' })
    expect((await registry.latest('revenue'))?.policy.generation).toBe(3)
  })

  it('[WIN-13] has a limit that is a limit', () => {
    expect(() => createMemoryGenerationRegistry({ generationsMax: 0 })).toThrow(
      expect.objectContaining({ code: 'TM_CORE_LIMIT_INVALID' }),
    )
  })
})
