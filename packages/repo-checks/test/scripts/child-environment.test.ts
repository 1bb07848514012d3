import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

type Env = Readonly<Record<string, string | undefined>>
const { childEnvironment, swallowedFlagHint } = await loadScript<{
  childEnvironment(env: Env, additions?: Env): Env
  swallowedFlagHint(env: Env, script: string): string | undefined
}>('plan/child-environment')

describe('childEnvironment', () => {
  it('drops what npm exported about its own run, so that `npm test --offline` does not cut children off', () => {
    const env = {
      PATH: '/bin',
      npm_config_offline: 'true',
      npm_lifecycle_event: 'test',
      npm_package_name: 'x',
      NPM_CONFIG_DRY_RUN: 'true',
      npm_config_loglevel: 'silent',
    }
    expect(childEnvironment(env)).toEqual({ PATH: '/bin' })
  })

  it('keeps where packages come from, and adds what the caller says', () => {
    const env = { npm_config_registry: 'r', npm_config_cache: 'c', KAFKA_BROKERS: 'k' }
    expect(childEnvironment(env, { TIDEMARK_SEED: '1' })).toEqual({ ...env, TIDEMARK_SEED: '1' })
  })
})

describe('swallowedFlagHint', () => {
  it('tells how to write a flag that npm took for itself', () => {
    expect(swallowedFlagHint({ npm_config_offline: 'true' }, 'test')).toContain('npm test -- --offline')
    expect(swallowedFlagHint({ npm_config_full: 'true' }, 'gates')).toContain('npm run gates -- --full')
    expect(swallowedFlagHint({ npm_config_quick: 'true' }, 'bench')).toContain('npm run bench -- --quick')
    expect(swallowedFlagHint({ npm_config_offline: '' }, 'test')).toBeUndefined()
  })

  it('says nothing of a flag that is not the command’s own', () => {
    expect(swallowedFlagHint({ npm_config_offline: 'true', npm_config_help: 'true' }, 'gates')).toBeUndefined()
  })
})
