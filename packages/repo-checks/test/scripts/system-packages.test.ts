import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

interface Facts {
  nativeClientLoads: boolean
  compilerReady: boolean
  redisServer: boolean
  postgresServer: boolean
  javaMajor: number | undefined
  kafkaJars: boolean
  maven: boolean
  debianMajor: string | undefined
}
interface Wanted {
  nativeClient: boolean
  redis: boolean
  postgres: boolean
  kafka: boolean
}
const { installLine, missingPackages, packageDecision } = await loadScript<{
  installLine(packages: readonly string[]): string
  missingPackages(facts: Facts, wanted: Wanted): { name: string; reason: string }[]
  packageDecision(input: { missing: unknown[]; mode?: string; isRoot: boolean; hasApt: boolean }): { kind: string }
}>('plan/system-packages')

const fresh: Facts = {
  nativeClientLoads: false,
  compilerReady: false,
  redisServer: false,
  postgresServer: false,
  javaMajor: undefined,
  kafkaJars: false,
  maven: false,
  debianMajor: '12',
}
const all: Wanted = { nativeClient: true, redis: true, postgres: true, kafka: true }
const names = (facts: Partial<Facts>, wanted: Wanted = all): string[] =>
  missingPackages({ ...fresh, ...facts }, wanted).map(({ name }) => name)

describe('missingPackages', () => {
  it('asks a fresh Debian 12 for the compiler, the libraries, Redis, Postgres, Java and Maven', () => {
    expect(names({})).toEqual([
      'python3',
      'make',
      'g++',
      'libcurl4-openssl-dev',
      'libsasl2-dev',
      'libssl-dev',
      'zlib1g-dev',
      'libzstd-dev',
      'liblz4-dev',
      'redis-server',
      'postgresql',
      'openjdk-17-jre-headless',
      'maven',
    ])
  })

  it('asks for nothing that is there, and for nothing that is not wanted', () => {
    const there = { nativeClientLoads: true, redisServer: true, postgresServer: true, javaMajor: 17, kafkaJars: true }
    expect(names(there)).toEqual([])
    expect(names({}, { nativeClient: false, redis: false, postgres: false, kafka: false })).toEqual([])
    expect(
      names({ nativeClientLoads: true }, { nativeClient: true, redis: true, postgres: false, kafka: false }),
    ).toEqual(['redis-server'])
    expect(names({ ...there, postgresServer: false })).toEqual(['postgresql'])
    expect(names({ ...there, nativeClientLoads: false, compilerReady: true })).toEqual([])
  })

  it('replaces a Java that is too old, by the name the release has for a new one', () => {
    const rest = { nativeClientLoads: true, redisServer: true, postgresServer: true, kafkaJars: true }
    expect(names({ ...rest, javaMajor: 11 })).toEqual(['openjdk-17-jre-headless'])
    expect(names({ ...rest, javaMajor: 8, debianMajor: '13' })).toEqual(['default-jre-headless'])
    expect(names({ ...rest, javaMajor: 21 })).toEqual([])
  })

  it('needs Maven only to fetch the jars', () => {
    const rest = { nativeClientLoads: true, redisServer: true, postgresServer: true, javaMajor: 17 }
    expect(names({ ...rest, kafkaJars: false })).toEqual(['maven'])
    expect(names({ ...rest, kafkaJars: false, maven: true })).toEqual([])
  })
})

describe('packageDecision', () => {
  const missing = [{ name: 'make', reason: 'compile' }]
  it.each([
    [{ missing: [], isRoot: false, hasApt: false }, 'nothing'],
    [{ missing, isRoot: true, hasApt: true }, 'install'],
    [{ missing, isRoot: false, hasApt: true }, 'tell'],
    [{ missing, isRoot: true, hasApt: false }, 'tell'],
    [{ missing, mode: 'print', isRoot: true, hasApt: true }, 'tell'],
    [{ missing, mode: 'never', isRoot: true, hasApt: true }, 'go-without'],
  ])('%j => %s', (input, kind) => {
    expect(packageDecision(input).kind).toBe(kind)
  })

  it('refuses a mode it does not know', () => {
    expect(() => packageDecision({ missing, mode: 'always', isRoot: true, hasApt: true })).toThrow(
      /auto, print or never/,
    )
  })

  it('prints one line to paste, without sudo', () => {
    const line = installLine(['make', 'g++'])
    expect(line).toBe('apt-get update && apt-get install -y --no-install-recommends make g++')
  })
})
