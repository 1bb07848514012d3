import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

const { buildRounds } = await loadScript<{
  buildRounds(manifests: { name: string; dependencies: string[] }[]): string[][]
}>('plan/build-order')
const { demoBackend, withoutSecret } = await loadScript<{
  demoBackend(services: Record<string, object>): { env: Record<string, string>; says: string[] }
  withoutSecret(address: string): string
}>('plan/demo-backend')
const { javaMajorOf, nodeIsSupported } = await loadScript<{
  javaMajorOf(text: string): number | undefined
  nodeIsSupported(version: string): boolean
}>('plan/tool-versions')

describe('buildRounds', () => {
  it('puts every package after what it depends on', () => {
    const rounds = buildRounds([
      { name: 'c', dependencies: ['a', 'b', 'elsewhere'] },
      { name: 'b', dependencies: ['a'] },
      { name: 'a', dependencies: [] },
      { name: 'd', dependencies: ['a'] },
    ])
    expect(rounds).toEqual([['a'], ['b', 'd'], ['c']])
  })

  it('names the packages of a circle', () => {
    const circle = [
      { name: 'a', dependencies: ['b'] },
      { name: 'b', dependencies: ['a'] },
    ]
    expect(() => buildRounds(circle)).toThrow(/circle: a, b/)
  })
})

describe('demoBackend', () => {
  const kafka = { backend: 'local', address: '127.0.0.1:1' }
  it('takes real services when both are there, and prints no secret', () => {
    const redis = { backend: 'address', address: 'redis://user:secret@h:2' }
    const { env, says } = demoBackend({ kafka, redis })
    expect(env).toEqual({ KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://user:secret@h:2' })
    expect(says.join()).not.toContain('secret')
    expect(withoutSecret('redis://h:2')).toBe('redis://h:2')
  })

  it('falls back to the embedded one as a whole, and says why', () => {
    const { env, says } = demoBackend({ kafka, redis: { error: 'no redis-server' } })
    expect(env).toEqual({ TIDEMARK_BACKEND: 'embedded' })
    expect(says).toEqual([expect.stringContaining('embedded'), 'redis: no redis-server'])
  })
})

describe('tool versions', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['java version "1.8.0_392"', 8],
    ['nonsense', undefined],
  ])('%s => %s', (text, major) => {
    expect(javaMajorOf(text)).toBe(major)
  })

  it('knows which Node is new enough', () => {
    const versions = ['v20.19.4', 'v20.20.2', 'v24.0.0', 'v20.19.3', 'v18.20.0']
    expect(versions.map((version) => nodeIsSupported(version))).toEqual([true, true, true, false, false])
  })
})
