import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

const { nativeClientKey, nativeClientSteps } = await loadScript<{
  nativeClientKey(parts: Record<string, string>): string
  nativeClientSteps(facts: { loads: boolean; cached: boolean; prebuilt?: string }): string[]
}>('plan/native-client-key')

describe('the native client', () => {
  it('is kept under a name that changes with everything that makes a binary unusable', () => {
    const parts = { clientVersion: '1.10.1', platform: 'linux', arch: 'x64', nodeAbi: '115', libc: 'glibc' }
    const key = nativeClientKey(parts)
    const changed = Object.keys(parts).map((name) => nativeClientKey({ ...parts, [name]: 'other' }))
    expect(new Set([key, ...changed]).size).toBe(1 + changed.length)
  })

  it.each([
    [{ loads: true, cached: true }, []],
    [{ loads: false, cached: true }, ['restore', 'prebuilt', 'compile']],
    [{ loads: false, cached: false }, ['prebuilt', 'compile']],
    [{ loads: false, cached: false, prebuilt: 'never' }, ['compile']],
    [{ loads: false, cached: true, prebuilt: 'only' }, ['restore', 'prebuilt']],
  ])('%j => %j', (facts, steps) => {
    expect(nativeClientSteps(facts)).toEqual(steps)
  })

  it('refuses a setting it does not know', () => {
    expect(() => nativeClientSteps({ loads: false, cached: false, prebuilt: 'yes' })).toThrow(/auto, never or only/)
  })
})
