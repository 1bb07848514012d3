import { join } from 'node:path'
import { createProjection } from '@tidemark/checkpoint'
import type { CommutingWriter, ProjectionStore } from '@tidemark/checkpoint'
import type { ErrorReport, ExplainReport, InspectReport, RebuildReport, VerifyReport } from '@tidemark/cli'
import { createEmbeddedLog } from '@tidemark/embedded'
import {
  createRedisClusterDataReader,
  createRedisClusterProjectionStore,
  createRedisClusterStoreInspector,
  createRedisProjectionStore,
  createRedisSplitProjectionStore,
  createSafeRedis,
  createSafeRedisCluster,
  createSafeRedisSentinel,
  partitionTag,
} from '@tidemark/redis/checkpoint'
import { startRedis, startRedisCluster, startRedisFailover } from '@tidemark/testkit/service'
import type { RedisCluster, RedisFailover, RedisServer } from '@tidemark/testkit/service'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { project } from './dispatch-project.ts'
import { createEmbeddedWorld, topic } from './embedded-world.ts'
import type { EmbeddedWorld } from './embedded-world.ts'
import { projectFile, tidemark, tidemarkJson } from './recorded-host.ts'
import { older, project as projectTagged } from './tagged-project.ts'

const taggedFile = join(import.meta.dirname, 'tagged-project.ts')
const hostOf = ({ host, port }: RedisServer): string => `${host}:${port}`

let cluster: RedisCluster
let failover: RedisFailover
let data: RedisServer
let checkpoints: RedisServer
const admins = new Map<string, Redis>()
let world: EmbeddedWorld
let log: readonly string[]

/** What names each place on the command line. */
let places: Record<'cluster' | 'sentinel' | 'split', readonly string[]>

beforeAll(async () => {
  ;[cluster, failover, data, checkpoints] = await Promise.all([
    startRedisCluster(),
    startRedisFailover(),
    startRedis(),
    startRedis(),
  ])
  places = {
    cluster: ['--redis-cluster', `redis://${cluster.nodes.map(hostOf).join(',')}`],
    sentinel: ['--redis-sentinel', `redis://${hostOf(failover.sentinel)}/${failover.primaryName}`],
    split: ['--redis-data', data.url, '--redis-checkpoints', checkpoints.url],
  }
}, 120_000)

afterAll(async () => {
  for (const admin of admins.values()) admin.disconnect()
  await Promise.all([cluster?.close(), failover?.close(), data?.close(), checkpoints?.close()])
})

beforeEach(async () => {
  world = await createEmbeddedWorld()
  log = ['--embedded-log', world.logDirectory]
})

function adminOf({ url }: RedisServer): Redis {
  const known = admins.get(url)
  if (known !== undefined) return known
  const admin = new Redis(url, { retryStrategy: () => null })
  admin.on('error', () => undefined)
  admins.set(url, admin)
  return admin
}

/** The node that holds a key. */
async function ownerOf(key: string): Promise<Redis> {
  for (const node of cluster.nodes) {
    const admin = adminOf(node)
    if ((await admin.exists(key).catch(() => 0)) === 1) return admin
  }
  throw new Error(`nobody holds ${key}`)
}

/** Every byte stored on some servers. */
async function storedBytes(...servers: readonly RedisServer[]): Promise<string> {
  const all = await Promise.all(
    servers.map(async (server) => {
      const admin = adminOf(server)
      const keys = (await admin.keys('*')).sort()
      return Promise.all(keys.map(async (key) => `${key} ${(await admin.dumpBuffer(key))!.toString('base64')}`))
    }),
  )
  return all.flat().join('\n')
}

const clusterSource = () =>
  createSafeRedisCluster({ nodes: cluster.nodes.map(({ host, port }) => ({ host, port })), commandDeadlineMs: 5_000 })

async function projectAll(store: ProjectionStore<CommutingWriter>, into: typeof project = project): Promise<void> {
  const projection = createProjection({
    topic,
    log: createEmbeddedLog({ directory: world.logDirectory }),
    store,
    project: into,
    readyTarget: 'hw',
    undecodable: 'quarantine',
    leaseMs: 1_000,
    limits: { batchRecordsMax: 100, stallMsMax: 20_000 },
  })
  try {
    const started = await projection.start()
    if (started.kind === 'refused') throw new Error(JSON.stringify(started.refusals))
    expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
  } finally {
    await projection.stop()
  }
}

/** The arguments that ask about one namespace of one place. */
function asking(place: readonly string[], namespace: string, file: string = projectFile) {
  const at = [...place, '-n', namespace]
  return {
    explain: ['explain', ...at, ...log, '-t', topic, '--ready-target', 'hw'],
    inspect: ['inspect', ...at],
    verify: ['verify', ...at, ...log, '-t', topic, '--project', file],
    rebuild: (into: string, ...more: readonly string[]): readonly string[] => [
      ...['rebuild', ...at, ...log, '-t', topic, '--project', file, '--into', into, '--ready-target', 'hw'],
      ...['--undecodable', 'stop', '--data', 'new-prefix', '--new-data-prefix', 'v2.', '-q', ...more],
    ],
  }
}

const stands = { verdict: 'would-start', exitCode: 0, toRead: '0', refusals: { total: 0 }, leftOpen: { total: 0 } }

describe('a Redis Cluster', () => {
  it.each([
    ['atomic', 'tagged', taggedFile],
    ['two-step', 'spread', projectFile],
  ] as const)('[CLI-2] [CLI-3] [CLI-4] [CLI-13] [RED-29] keys of the %s form', async (form, namespace, file) => {
    const parts = { cluster: clusterSource(), namespace }
    if (form === 'atomic') {
      await projectAll(createRedisClusterProjectionStore({ ...parts, form: 'atomic' }), projectTagged)
    } else await projectAll(createRedisClusterProjectionStore({ ...parts, form: 'two-step' }))
    const before = await storedBytes(...cluster.nodes)
    const { explain, inspect, verify, rebuild } = asking(places.cluster, namespace, file)
    const explained = await tidemarkJson<ExplainReport>([...explain, '--deep'])
    // Meta and two checkpoints; side keys and data carry tags.
    expect(explained).toMatchObject({ ...stands, deep: { keysSeen: 3, strays: { total: 0 } } })
    expect(explained.store.name).toBe(`redis cluster at ${cluster.nodes.map(hostOf).join(',')}`)
    const inspected = await tidemarkJson<InspectReport>(inspect)
    expect(inspected).toMatchObject({ verdict: 'sound', exitCode: 0, topic, partitions: { total: 2 } })
    expect(inspected.hint).toBeUndefined()
    const verified = await tidemarkJson<VerifyReport>(verify)
    expect(verified).toMatchObject({ verdict: 'equal', exitCode: 0, recordsRead: 10 })
    expect(verified.keysCompared).toBe(form === 'atomic' ? 6 : 3)
    const look = await tidemarkJson<RebuildReport>([...rebuild(`${namespace}_2`, '--form', form)])
    expect(look).toMatchObject({ verdict: 'would-start', exitCode: 0, executed: false })
    expect(await storedBytes(...cluster.nodes)).toBe(before)

    const served = form === 'atomic' ? `${partitionTag(namespace, topic, 1)}:convs:u1` : 'convs:u1'
    await (await ownerOf(served)).zadd(served, 3, 'strange')
    const different = await tidemarkJson<VerifyReport>(verify)
    expect(different).toMatchObject({ verdict: 'different', exitCode: 6, differences: { total: 1 } })
    expect(different.differences.items[0]!.parts.items).toEqual([{ part: 'strange', found: '3' }])
    await (await ownerOf(served)).zrem(served, 'strange')
  })

  it('[CLI-5] [CLI-13] a rebuild in the atomic form, by the function of the new namespace; by that of the old it is dirty', async () => {
    const parts = { cluster: clusterSource(), namespace: 'older' }
    await projectAll(createRedisClusterProjectionStore({ ...parts, form: 'atomic' }), older)
    const { rebuild } = asking(places.cluster, 'older', taggedFile)
    const unsaid = await tidemark(rebuild('newer', '--execute', 'newer'))
    expect(unsaid).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--form is not given') })
    const wrong = rebuild('wrong', '--form', 'atomic', '--export', 'older', '--execute', 'wrong')
    const refused = await tidemarkJson<RebuildReport>(wrong)
    expect(refused).toMatchObject({ verdict: 'dirty', exitCode: 8, applied: { records: 0 } })
    expect(refused.dirty?.message).toContain('not in that of partition')
    const right = rebuild('newer', '--form', 'atomic', '--export', 'newer', '--execute', 'newer')
    const done = await tidemarkJson<RebuildReport>(right)
    expect(done).toMatchObject({ verdict: 'rebuilt', exitCode: 0, applied: { records: 10 } })
    const rebuilt = asking(places.cluster, 'newer', taggedFile)
    const verified = await tidemarkJson([...rebuilt.verify, '--export', 'newer', '--data-prefix', 'v2.'])
    expect(verified).toMatchObject({ verdict: 'equal', keysCompared: 6 })
  })

  it('[CLI-3] [CLI-6] [CLI-13] [RED-29] an unknown namespace, records set aside, a stray, a damaged field', async () => {
    await projectAll(
      createRedisClusterProjectionStore({ cluster: clusterSource(), namespace: 'hurt', form: 'two-step' }),
    )
    const { explain, inspect } = asking(places.cluster, 'hurt')
    expect((await tidemark(asking(places.cluster, 'nowhere').inspect)).exitCode).toBe(7)
    const checkpoint = `hurt:checkpoint:${topic}:1`
    const owner = await ownerOf(checkpoint)
    const entry = '{"reason":"r","valueBytes":1,"timestampMs":1}'
    const entries = Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [String(n), entry]))
    await owner.hset(`{${checkpoint}}:quarantine`, entries)
    const inspected = await tidemarkJson<InspectReport>([...inspect, '--quarantine', '2'])
    expect(inspected).toMatchObject({ verdict: 'sound', quarantined: 2_500 })
    expect(inspected.quarantine.items.map(({ offset }) => offset)).toEqual(['2499', '2498'])
    // Beyond what a start itself searches, in whatever slot it lies.
    const stray = `hurt:checkpoint:${topic}:70000`
    const fields = await owner.hgetall(checkpoint)
    await new Promise<void>((resolve, reject) => {
      const moving = new Redis.Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
      moving.hset(stray, fields).then(() => (moving.disconnect(), resolve()), reject)
    })
    expect((await tidemark(explain)).exitCode).toBe(0)
    const deep = await tidemarkJson<ExplainReport>([...explain, '--deep'])
    expect(deep).toMatchObject({ verdict: 'refused', exitCode: 3, deep: { keysSeen: 4, strays: { items: [stray] } } })
    await (await ownerOf(stray)).del(stray)
    await owner.hset(checkpoint, 'next_offset', '1e3')
    const damaged = await tidemarkJson<InspectReport>(inspect)
    expect(damaged).toMatchObject({ verdict: 'damaged', exitCode: 4 })
    expect(damaged.partitions.items[0]).toMatchObject({ partition: 1, raw: { next_offset: '1e3' } })
    expect((await tidemark(explain)).exitCode).toBe(3)
  })

  it('[CLI-2] [CLI-3] [CLI-13] a shard that lost the end of its data is told by a look as by a start', async () => {
    await projectAll(
      createRedisClusterProjectionStore({ cluster: clusterSource(), namespace: 'shard', form: 'two-step' }),
    )
    const { explain, inspect } = asking(places.cluster, 'shard')
    const marks = await Promise.all(
      cluster.nodes.map(
        async (node) => [adminOf(node), (await adminOf(node).keys('{shard:shard:*:mark:*'))[0]] as const,
      ),
    )
    const [owner, mark] = marks.find((each): each is [Redis, string] => each[1] !== undefined)!
    await owner.set(mark, '2')
    const behind = await tidemarkJson<ExplainReport>(explain)
    expect(behind).toMatchObject({ verdict: 'would-start', toRead: '3' })
    expect(behind.notes.items.map(({ code }) => code)).toContain('DATA_APART')
    await owner.del(mark)
    const lost = await tidemarkJson<ExplainReport>(explain)
    expect(lost).toMatchObject({ verdict: 'refused', exitCode: 3 })
    expect(lost.refusals.items.map(({ code }) => code)).toContain('DATA_TWIN')
    expect(await tidemarkJson(inspect)).toMatchObject({ verdict: 'damaged', exitCode: 4 })
  })

  it('[RED-29] values come in the order asked for, from all slots and from one slot with many keys', async () => {
    const reader = createRedisClusterDataReader({ cluster: clusterSource(), dataPrefix: 'p.' })
    const writer = new Redis.Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
    const keys = Array.from({ length: 300 }, (_, n) => (n % 2 === 0 ? `k${n}` : `{one}${n}`))
    try {
      await Promise.all(keys.flatMap((key, n) => (n % 7 === 0 ? [] : [writer.set(`p.${key}`, `v${n}`)])))
      const expected = keys.map((_, n) => (n % 7 === 0 ? { kind: 'absent' } : { kind: 'string', value: `v${n}` }))
      expect(await reader.readValues(keys)).toEqual(expected)
      expect(await reader.readValues([])).toEqual([])
    } finally {
      writer.disconnect()
      await reader.close()
    }
  })

  it('[RED-29] [CLI-13] a pass while a slot is being moved, or over which it moved, is no answer', async () => {
    const [from, to] = [cluster.nodes[0]!, cluster.nodes[1]!]
    const [fromId, toId] = [await cluster.idOf(from), await cluster.idOf(to)]
    const slot = cluster.firstSlot(0)
    const { explain } = asking(places.cluster, 'fresh')
    const inspector = createRedisClusterStoreInspector({ cluster: clusterSource(), namespace: 'fresh' })
    const filler = cluster.nodes.map((node) => adminOf(node))
    const writer = new Redis.Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
    for (let n = 0; n < 5_000; n += 1) void writer.set(`fresh:x:${n}`, 'x').catch(() => undefined)
    await writer.set('fresh:x:last', 'x')
    writer.disconnect()
    await filler[0]!.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', toId)
    const moving = await tidemarkJson<ErrorReport>([...explain, '--deep'])
    expect(moving).toMatchObject({ exitCode: 5, error: { code: 'TM_REDIS_CLUSTER_DISAGREES', retriable: true } })
    await filler[0]!.call('CLUSTER', 'SETSLOT', String(slot), 'STABLE')
    const walk = async (): Promise<number> => {
      let seen = 0
      for await (const page of inspector.scanKeys()) {
        if (seen === 0) {
          for (const admin of filler) await admin.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', toId)
        }
        seen += page.length
      }
      return seen
    }
    await expect(walk()).rejects.toMatchObject({ code: 'TM_REDIS_CLUSTER_DISAGREES' })
    for (const admin of filler) await admin.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', fromId)
    await cluster.ready()
    await inspector.close()
  })
})

describe('a Redis behind sentinels', () => {
  it(
    '[CLI-2] [CLI-3] [CLI-4] [CLI-5] [CLI-6] [CLI-13] every command, also after a failover',
    { timeout: 90_000 },
    async () => {
      const { host, port } = failover.sentinel
      const redis = createSafeRedisSentinel({ sentinels: [{ host, port }], name: failover.primaryName })
      await projectAll(createRedisProjectionStore({ redis, namespace: 'sessions', form: 'atomic' }))
      const { explain, inspect, verify, rebuild } = asking(places.sentinel, 'sessions')
      const before = await storedBytes(failover.primary)
      const explained = await tidemarkJson<ExplainReport>([...explain, '--deep'])
      expect(explained).toMatchObject({ ...stands, store: { primary: true }, deep: { strays: { total: 0 } } })
      expect(explained.store.name).toBe(`redis behind sentinels ${host}:${port} (${failover.primaryName})/0`)
      expect(await tidemarkJson(inspect)).toMatchObject({ verdict: 'sound', partitions: { total: 2 } })
      expect(await tidemarkJson(verify)).toMatchObject({ verdict: 'equal', keysCompared: 3 })
      expect((await tidemark(asking(places.sentinel, 'nowhere').inspect)).exitCode).toBe(7)
      expect(await storedBytes(failover.primary)).toBe(before)
      const unknown = ['--redis-sentinel', `redis://${host}:${port}/other-name`]
      const unnamed = await tidemarkJson<ErrorReport>(asking(unknown, 'sessions').inspect)
      expect(unnamed).toMatchObject({ exitCode: 5, error: { code: 'TM_REDIS_PRIMARY_UNKNOWN' } })
      const done = await tidemarkJson(rebuild('sessions_2', '--form', 'two-step', '--execute', 'sessions_2'))
      expect(done).toMatchObject({ verdict: 'rebuilt', exitCode: 0, applied: { records: 10 } })

      await failover.replicated()
      await failover.primary.kill()
      await failover.failedOver()
      const rebuilt = asking(places.sentinel, 'sessions_2')
      expect(await tidemarkJson([...rebuilt.verify, '--data-prefix', 'v2.'])).toMatchObject({ verdict: 'equal' })
      await adminOf(failover.replica).hset(`sessions:checkpoint:${topic}:0`, 'partition', '9')
      expect(await tidemarkJson(inspect)).toMatchObject({ verdict: 'damaged', exitCode: 4 })
      expect((await tidemark(explain)).exitCode).toBe(3)
    },
  )
})

describe('sentinels that demand a login', () => {
  it('[CLI-8] [CLI-13] get their own, the servers theirs, and none is repeated', async () => {
    const server = await startRedis({ password: 'keeper/@,1' })
    const watch = { 'sentinel monitor watched': `${server.host} ${server.port} 1` }
    const sentinel = await startRedis({ isSentinel: true, password: 'guard%2', config: watch })
    try {
      const argv = ['inspect', '-n', 'x', '--redis-sentinel', `redis://${hostOf(sentinel)}/watched`, '--json']
      const right = { REDIS_PASSWORD: 'keeper/@,1', REDIS_SENTINEL_PASSWORD: 'guard%2' }
      expect((await tidemark(argv, { env: right })).exitCode).toBe(7)
      const url = `redis://:${encodeURIComponent('keeper/@,1')}@${hostOf(sentinel)}/watched`
      const inUrl = { REDIS_SENTINEL_URL: url, REDIS_SENTINEL_PASSWORD: 'guard%2' }
      expect((await tidemark(['inspect', '-n', 'x'], { env: inUrl })).exitCode).toBe(7)
      for (const [env, code] of [
        [{ ...right, REDIS_SENTINEL_PASSWORD: 'wrong-one' }, 'TM_REDIS_PRIMARY_UNKNOWN'],
        [{ REDIS_PASSWORD: 'keeper/@,1' }, 'TM_REDIS_PRIMARY_UNKNOWN'],
        [{ ...right, REDIS_PASSWORD: 'wrong-one' }, 'TM_REDIS_AUTH_FAILED'],
        [{ REDIS_SENTINEL_PASSWORD: 'guard%2' }, 'TM_REDIS_AUTH_FAILED'],
      ] as const) {
        const { exitCode, stdout, stderr } = await tidemark(argv, { env })
        expect(exitCode).toBe(5)
        expect(JSON.parse(stdout)).toMatchObject({ error: { code } })
        for (const secret of ['keeper', 'guard', 'wrong-one']) expect(stdout + stderr).not.toContain(secret)
      }
    } finally {
      await sentinel.close()
      await server.close()
    }
  })
})

describe('a split store', () => {
  const projected = (namespace: string) =>
    projectAll(
      createRedisSplitProjectionStore({
        data: createSafeRedis(data.url),
        checkpoints: createSafeRedis(checkpoints.url),
        namespace,
      }),
    )

  it('[CLI-2] [CLI-3] [CLI-4] [CLI-5] [CLI-6] [CLI-13] every command', async () => {
    await projected('sessions')
    const { explain, inspect, verify, rebuild } = asking(places.split, 'sessions')
    const before = await storedBytes(data, checkpoints)
    const explained = await tidemarkJson<ExplainReport>([...explain, '--deep'])
    expect(explained).toMatchObject({ ...stands, deep: { strays: { total: 0 } } })
    expect(explained.store.name).toBe(
      `redis, split: data at ${hostOf(data)}/0, checkpoints at ${hostOf(checkpoints)}/0`,
    )
    const inspected = await tidemarkJson<InspectReport>(inspect)
    expect(inspected.verdict).toBe('sound')
    expect(inspected.partitions.items.map(({ next, twin }) => [next, twin])).toEqual([
      ['5', '5'],
      ['5', '5'],
    ])
    expect(await tidemarkJson(verify)).toMatchObject({ verdict: 'equal', keysCompared: 3 })
    expect((await tidemark(asking(places.split, 'nowhere').inspect)).exitCode).toBe(7)
    expect((await tidemark(rebuild('s2', '--form', 'two-step'))).stderr).toContain('--form two-step does not exist')
    expect(await storedBytes(data, checkpoints)).toBe(before)
    const done = await tidemarkJson(rebuild('sessions_2', '--execute', 'sessions_2'))
    expect(done).toMatchObject({ verdict: 'rebuilt', exitCode: 0, applied: { records: 10 } })
    expect(await adminOf(checkpoints).keys('*convs*')).toEqual([])
    const rebuilt = asking(places.split, 'sessions_2')
    expect(await tidemarkJson([...rebuilt.verify, '--data-prefix', 'v2.'])).toMatchObject({ verdict: 'equal' })

    await adminOf(data).hset(`sessions:twin:quarantine:${topic}:0`, { 3: '?' })
    expect((await tidemarkJson<InspectReport>(inspect)).quarantine.items).toEqual([
      { partition: 0, offset: '3', damaged: '?' },
    ])
    await adminOf(data).del(`sessions:twin:checkpoint:${topic}:0`)
    const lost = await tidemarkJson<ExplainReport>(explain)
    expect(lost).toMatchObject({ verdict: 'refused', exitCode: 3 })
    expect(lost.refusals.items.map(({ code }) => code)).toContain('DATA_TWIN')
    expect(await tidemarkJson(inspect)).toMatchObject({ verdict: 'damaged', exitCode: 4 })
    expect((await tidemark(verify)).exitCode).toBe(9)
  })

  it('[CLI-13] its halves exchanged, one half alone, one server twice, and a store on one are told', async () => {
    await projected('halves')
    const swapped = ['--redis-data', checkpoints.url, '--redis-checkpoints', data.url]
    const dataAlone = ['--redis', data.url]
    const twice = ['--redis-data', `redis://${hostOf(data)}`, '--redis-checkpoints', `redis://${hostOf(data)}/0`]
    for (const [place, word] of [
      [swapped, 'the two exchanged'],
      [dataAlone, 'name it by --redis-data and --redis-checkpoints'],
      [twice, 'name one server'],
    ] as const) {
      const { explain, inspect, verify, rebuild } = asking(place, 'halves')
      const form = place === dataAlone ? ['--form', 'atomic'] : []
      for (const argv of [explain, inspect, verify, rebuild('h2', ...form, '--execute', 'h2')]) {
        const report = await tidemarkJson<ErrorReport>(argv)
        expect(report).toMatchObject({ verdict: 'usage', exitCode: 2 })
        expect(report.error.message).toContain(word)
      }
    }
    // Nothing there says so for certain, so it is a hint and no verdict.
    const alone = asking(['--redis', checkpoints.url], 'halves')
    const hint = expect.stringContaining('--redis-data and --redis-checkpoints') as string
    expect(await tidemarkJson(alone.inspect)).toMatchObject({ verdict: 'sound', hint })
    expect(await tidemarkJson(alone.explain)).toMatchObject({ verdict: 'would-start', hint })
    expect((await tidemark(alone.inspect)).stdout).toContain('as beside the checkpoints of a split store')
    expect((await tidemark(alone.verify)).exitCode).toBe(6)

    const plain = createRedisProjectionStore({
      redis: createSafeRedis(checkpoints.url),
      namespace: 'whole',
      form: 'atomic',
    })
    await projectAll(plain)
    const whole = await tidemarkJson<ErrorReport>(asking(places.split, 'whole').explain)
    expect(whole).toMatchObject({ exitCode: 2, error: { code: 'TM_CLI_PLACE_OF_OTHER_KIND' } })
    expect(whole.error.message).toContain('is the whole of a store on one server: name it by --redis')
  })
})

describe('an address of another kind', () => {
  it('[CLI-13] is told with the option that is right, by every command, and nothing is written', async () => {
    const node = hostOf(cluster.nodes[1]!)
    const sentinel = hostOf(failover.sentinel)
    const server = hostOf(data)
    const before = await storedBytes(...cluster.nodes, data, checkpoints)
    const wrong = [
      [['--redis', `redis://${node}`], 'a node of a Redis Cluster: name it by --redis-cluster'],
      [['--redis', `redis://${sentinel}`], 'a Redis sentinel: name it by --redis-sentinel'],
      [['--redis-cluster', `redis://${server}`], 'a single Redis server: name it by --redis'],
      [['--redis-cluster', `redis://${node},${server}`], `${server} is a single Redis server`],
      [['--redis-cluster', `redis://${sentinel}`], 'a Redis sentinel: name it by --redis-sentinel'],
      [['--redis-sentinel', `redis://${server}/name`], 'a single Redis server: name it by --redis'],
      [['--redis-sentinel', `redis://${node}/name`], 'a node of a Redis Cluster: name it by --redis-cluster'],
      [['--redis-sentinel', `redis://${sentinel},${server}/name`], `${server} is a single Redis server`],
      [['--redis-data', `redis://${node}`, '--redis-checkpoints', checkpoints.url], 'two single servers only'],
      [['--redis-data', data.url, '--redis-checkpoints', `redis://${sentinel}`], '--redis-checkpoints is for a single'],
    ] as const
    for (const [place, word] of wrong) {
      const { explain, inspect, verify, rebuild } = asking(place, 'wrong')
      const form = place[0] === '--redis-data' ? [] : ['--form', 'atomic']
      for (const argv of [explain, inspect, verify, rebuild('w2', ...form, '--execute', 'w2')]) {
        const report = await tidemarkJson<ErrorReport>(argv)
        expect(report).toMatchObject({
          verdict: 'usage',
          exitCode: 2,
          error: { code: 'TM_CLI_PLACE_OF_OTHER_KIND', retriable: false },
        })
        expect(report.error.message).toContain(word)
      }
    }
    expect(await storedBytes(...cluster.nodes, data, checkpoints)).toBe(before)
  })

  it('[CLI-8] [CLI-13] the variable is named where the address came from one, and its password is kept', async () => {
    const url = `redis://:hunter2%2F@${hostOf(cluster.nodes[0]!)}/0`
    for (const more of [[], ['--json']]) {
      const { exitCode, stdout, stderr } = await tidemark(['inspect', '-n', 'x', ...more], { env: { REDIS_URL: url } })
      expect(exitCode).toBe(2)
      expect(stdout + stderr).toContain('REDIS_URL is for a single Redis server')
      expect(stdout + stderr).not.toContain('hunter2')
    }
  })
})
