import type { ErrorReport } from '@tidemark/cli'
import { describe, expect, it } from 'vitest'
import { readStorePlace } from '../src/places/place.ts'
import type { PlaceOptions } from '../src/places/place-sources.ts'
import { parseRedisHosts } from '../src/places/redis-hosts.ts'
import { createSecrets } from '../src/places/secrets.ts'
import { tidemark, tidemarkJson } from './recorded-host.ts'

type Environment = Readonly<Record<string, string>>

function read(options: PlaceOptions, env: Environment = {}) {
  const secrets = createSecrets()
  return { place: readStorePlace(options, { env, cwd: '/', secrets }), secrets }
}

/** The reason for which something is refused as a usage that makes no sense. */
function reasonOf(options: PlaceOptions, env: Environment = {}): string {
  try {
    read(options, env)
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^TM_CLI_(?:USAGE|SECRET_ON_COMMAND_LINE)$/) })
    return (error as Error).message
  }
  throw new Error('it was taken')
}

describe('an address of several hosts', () => {
  it('[CLI-13] is read with its login, its hosts and what stands behind them', () => {
    expect(parseRedisHosts('rediss://us%20er:p%2Fw,x@a.b:1,[::1]:2,C_d-1/n%C3%A4me/3', '--x', 26379)).toEqual({
      nodes: [
        { host: 'a.b', port: 1 },
        { host: '::1', port: 2 },
        { host: 'C_d-1', port: 26379 },
      ],
      tls: true,
      username: 'us er',
      password: 'p/w,x',
      path: ['näme', '3'],
    })
    expect(parseRedisHosts('redis://a/', '--x', 6379)).toMatchObject({ nodes: [{ host: 'a', port: 6379 }], path: [] })
    expect(parseRedisHosts('REDIS://:pw@a', '--x', 6379)).toMatchObject({ username: undefined, password: 'pw' })
  })

  it.each([
    ['', 'not a redis:// or rediss:// URL'],
    ['a:1,b:2', 'not a redis:// or rediss:// URL'],
    ['http://a:1', 'not a redis:// or rediss:// URL'],
    ['redis-cluster://a:1', 'not a redis:// or rediss:// URL'],
    ['redis:a:1', 'not a redis:// or rediss:// URL'],
    ['redis://', 'host 1 of 1 is not host:port'],
    ['redis://,', 'host 1 of 2'],
    ['redis://a:1,', 'host 2 of 2'],
    ['redis://a:1,,b:2', 'host 2 of 3'],
    ['redis://a:1,redis://b:2', 'host 2 of 2'],
    ['redis://a:0', 'host 1 of 1'],
    ['redis://a:65536', 'host 1 of 1'],
    ['redis://a:1e3', 'host 1 of 1'],
    ['redis://a:01', 'host 1 of 1'],
    ['redis://[::1', 'host 1 of 1'],
    ['redis://[1:2]:3', 'host 1 of 1'],
    ['redis://a:1:2', 'host 1 of 1'],
    ['redis://a;b:1', 'host 1 of 1'],
    ['redis://a\u0000:1', 'host 1 of 1'],
    ['redis://a:1,A:1', 'host 2 of 2 is named twice'],
    ['redis://a,a:6379', 'host 2 of 2 is named twice'],
    ['redis://a:1, b:2', 'a blank'],
    ['redis://a:1?x=1', 'query parameters'],
    ['redis://a:1#x', 'a fragment'],
    ['redis://u:hunter2@a:1,u:hunter2@b:2', 'more than one "@"'],
    ['redis://u:%zzhunter2@a:1', 'percent-encoded'],
    ['redis://a:1/%zz', 'percent-encoded'],
    [`redis://${Array.from({ length: 33 }, (_, n) => `h${n}`).join(',')}`, '33 hosts, 32 at most'],
  ])('[CLI-6] [CLI-8] %j is refused without being repeated', (text, word) => {
    const parse = (): unknown => parseRedisHosts(text, '--redis-cluster', 6379)
    expect(parse).toThrow(expect.objectContaining({ code: 'TM_CLI_USAGE' }))
    expect(parse).toThrow(word)
    expect(parse).toThrow(/^--redis-cluster: (?!.*(?:hunter2|redis:\/\/u))/)
  })
})

describe('the place of a store on Redis', () => {
  it('[CLI-13] is of the kind that one option names, or the variables of one kind', () => {
    const nodes = [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ]
    expect(read({ redisCluster: 'redis://u@a:1,b:2/0' }, { REDIS_PASSWORD: 'pw' }).place).toMatchObject({
      kind: 'redis-cluster',
      said: '--redis-cluster',
      hosts: { nodes, username: 'u', password: 'pw' },
    })
    const env = { REDIS_SENTINEL_URL: 'redis://:hunter2@a,b:2/main/4', REDIS_SENTINEL_PASSWORD: 'open sesame' }
    const { place, secrets } = read({}, { ...env, REDIS_SENTINEL_USERNAME: 'w' })
    expect(place).toMatchObject({
      ...{ kind: 'redis-sentinel', said: 'REDIS_SENTINEL_URL', name: 'main', database: 4 },
      ...{ sentinelUsername: 'w', sentinelPassword: 'open sesame', hosts: { password: 'hunter2' } },
    })
    expect(secrets.redact('hunter2, open sesame, open%20sesame')).toBe('***, ***, ***')
    const split = { redisData: 'redis://a/1', redisCheckpoints: 'redis://a/2' }
    expect(read(split, { REDIS_DATA_PASSWORD: 'one', REDIS_PASSWORD: 'other' }).place).toEqual({
      kind: 'redis-split',
      data: { said: '--redis-data', url: 'redis://a/1', password: 'one' },
      checkpoints: { said: '--redis-checkpoints', url: 'redis://a/2', password: undefined },
    })
    expect(read({}, { REDIS_DATA_URL: 'redis://a', REDIS_CHECKPOINTS_URL: 'redis://b' }).place.kind).toBe('redis-split')
    // What is named decides, whatever else is set.
    expect(read({ redis: 'redis://a' }, { ...env, POSTGRES_URL: 'x' }).place.kind).toBe('redis')
    expect(read({ embedded: 'x' }, env).place.kind).toBe('embedded')
  })

  it.each<[PlaceOptions, Environment, string]>([
    [{ redis: 'redis://a', redisCluster: 'redis://b' }, {}, '--redis and --redis-cluster name several stores'],
    [{ redisSentinel: 'redis://a/n', pglite: 'x' }, {}, '--redis-sentinel and --pglite name several stores'],
    [{ redis: 'redis://a', redisData: 'redis://b' }, {}, '--redis and --redis-data name several stores'],
    [{ redisData: 'redis://a' }, {}, 'name the two servers of one store; say both'],
    [{ redisCheckpoints: 'redis://a' }, { REDIS_DATA_URL: 'redis://b' }, 'say both'],
    [{}, { REDIS_DATA_URL: 'redis://b' }, 'set both'],
    [{}, { REDIS_DATA_URL: 'redis://b', REDIS_CHECKPOINTS_URL: '' }, 'set both'],
    [{ redisData: 'redis://a', redisCheckpoints: 'redis://a' }, {}, 'name one server'],
    [{}, { REDIS_URL: 'redis://a', REDIS_CLUSTER_URL: 'redis://a' }, 'REDIS_URL and REDIS_CLUSTER_URL are both set'],
    [{}, { REDIS_SENTINEL_URL: 'redis://a/n', POSTGRES_URL: 'x' }, 'REDIS_SENTINEL_URL and POSTGRES_URL are both set'],
    [{}, { REDIS_CHECKPOINTS_URL: 'redis://a', REDIS_URL: 'x' }, 'REDIS_URL and REDIS_CHECKPOINTS_URL are both set'],
    [{}, { REDIS_CLUSTER_URL: '' }, 'no store is named'],
    [{ redis: 'redis://a:1,b:2' }, {}, 'several are --redis-cluster or --redis-sentinel'],
    [{ redisData: 'redis://a,b', redisCheckpoints: 'redis://c' }, {}, '--redis-data names one server'],
    [{ redisCluster: 'redis://a/3' }, {}, 'a Cluster has database 0 only'],
    [{ redisCluster: 'redis://a/0/x' }, {}, 'a Cluster has database 0 only'],
    [{ redisCluster: 'redis://a', schema: 's' }, {}, '--schema and --data-schema belong to'],
    [{ redisSentinel: 'redis://a' }, {}, '--redis-sentinel: behind the sentinels stands the name'],
    [{ redisSentinel: 'redis://a/' }, {}, 'the name of the primary'],
    [{ redisSentinel: 'redis://a//0' }, {}, 'the name of the primary'],
    [{ redisSentinel: 'redis://a/n/x' }, {}, 'the name of the primary'],
    [{ redisSentinel: 'redis://a/n/0/y' }, {}, 'the name of the primary'],
    [{ redisSentinel: 'redis://a/n' }, { REDIS_SENTINEL_USERNAME: 'u' }, 'without REDIS_SENTINEL_PASSWORD'],
    [{ redisCluster: 'redis://u:hunter2@a:1,b:2' }, {}, '--redis-cluster holds a password'],
    [{ redisSentinel: 'redis://:hunter2/x@a:1,b:2/n' }, {}, '--redis-sentinel holds a password'],
    [{ redisSentinel: 'redis-x://u:hunter2@a:1,b:2/n' }, {}, '--redis-sentinel holds a password'],
    [{ redisData: 'redis://a', redisCheckpoints: 'redis://u:hunter2@b' }, {}, '--redis-checkpoints holds a password'],
  ])('[CLI-6] [CLI-8] [CLI-13] %j with %j is refused', (options, env, word) => {
    const reason = reasonOf(options, env)
    expect(reason).toContain(word)
    expect(reason).not.toContain('hunter2')
  })

  it('[CLI-6] a place that is given twice is refused, and so is an empty one', async () => {
    for (const flag of ['--redis', '--redis-cluster', '--redis-sentinel', '--redis-data', '--postgres', '--embedded']) {
      const twice = await tidemark(['inspect', flag, 'redis://a', flag, 'redis://b', '-n', 'x'])
      expect(twice).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('It is given twice') })
      const empty = await tidemark(['inspect', flag, '', '-n', 'x'])
      expect(empty).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('It is empty') })
    }
  })

  it('[CLI-8] no error of a place that is not there repeats a password, in any form it was given', async () => {
    const secret = 'h%unter2/,@'
    const encoded = encodeURIComponent(secret)
    const environments: readonly Environment[] = [
      { REDIS_CLUSTER_URL: `redis://u:${encoded}@127.0.0.1:1,127.0.0.1:2` },
      { REDIS_CLUSTER_URL: 'redis://127.0.0.1:1', REDIS_PASSWORD: secret },
      { REDIS_CLUSTER_URL: `redis://u:${secret}@127.0.0.1:1,127.0.0.1:2` },
      { REDIS_SENTINEL_URL: `redis://u:${encoded}@127.0.0.1:1/main` },
      { REDIS_SENTINEL_URL: 'redis://127.0.0.1:1/main', REDIS_SENTINEL_PASSWORD: secret },
      { REDIS_DATA_URL: `redis://u:${encoded}@127.0.0.1:1`, REDIS_CHECKPOINTS_URL: 'redis://127.0.0.1:2' },
      {
        REDIS_DATA_URL: 'redis://127.0.0.1:1',
        REDIS_CHECKPOINTS_URL: 'redis://127.0.0.1:2',
        REDIS_CHECKPOINTS_PASSWORD: secret,
      },
    ]
    for (const env of environments) {
      for (const more of [[], ['--json']]) {
        const argv = ['inspect', '-n', 'sessions', '--deadline-ms', '100', ...more]
        const { exitCode, stdout, stderr } = await tidemark(argv, { env })
        expect([2, 5]).toContain(exitCode)
        expect([secret, encoded].filter((form) => (stdout + stderr).includes(form))).toEqual([])
      }
    }
  })

  it('[CLI-10] each place that is not there is said within its deadline', async () => {
    for (const [place, code] of [
      [['--redis-cluster', 'redis://127.0.0.1:1,127.0.0.1:2'], 'TM_REDIS_CONNECT_FAILED'],
      [['--redis-sentinel', 'redis://127.0.0.1:1,127.0.0.1:2/main'], 'TM_REDIS_PRIMARY_UNKNOWN'],
      [
        ['--redis-data', 'redis://127.0.0.1:1', '--redis-checkpoints', 'redis://127.0.0.1:2'],
        'TM_REDIS_CONNECT_FAILED',
      ],
    ] as const) {
      const startedMs = performance.now()
      const report = await tidemarkJson<ErrorReport>(['inspect', ...place, '-n', 'sessions', '--deadline-ms', '500'])
      expect(report).toMatchObject({ verdict: 'unavailable', exitCode: 5, error: { code } })
      expect(performance.now() - startedMs).toBeLessThan(5_000)
    }
  })
})
