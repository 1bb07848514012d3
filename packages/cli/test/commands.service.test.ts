import { randomUUID } from 'node:crypto'
import { createProjection } from '@tidemark/checkpoint'
import type { ErrorReport, ExplainReport, InspectReport, RebuildReport, VerifyReport } from '@tidemark/cli'
import { createKafkaLog } from '@tidemark/kafka'
import { createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import { sharedKafkaBrokers, sharedRedisUrl, startRedis } from '@tidemark/testkit/service'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from './child-command.ts'
import { project } from './dispatch-project.ts'
import { createDispatchTopic, produceDispatches, recreateTopic } from './kafka-topic.ts'
import { projectFile, tidemark, tidemarkJson } from './recorded-host.ts'

const partitions = 3
const topic = `cli-${randomUUID()}`
const namespace = `cli_${randomUUID().replaceAll('-', '')}`
let brokers: readonly string[]
let url: string
let admin: Redis
let store: readonly string[]
let places: readonly string[]
let names: readonly string[]

beforeAll(async () => {
  brokers = await sharedKafkaBrokers()
  url = await sharedRedisUrl()
  admin = new Redis(url)
  store = ['--redis', url]
  places = [...store, '--kafka', brokers.join(',')]
  names = ['-n', namespace, '-t', topic]
  await createDispatchTopic(brokers, topic, partitions, 60)
  await projectAll(namespace)
})

afterAll(async () => {
  const keys = await admin?.keys(`*${namespace}*`)
  if (keys !== undefined && keys.length > 0) await admin.del(keys)
  admin?.disconnect()
})

/** Data keys carry the namespace, so that tests beside this one see none of them. */
const dataPrefix = `${namespace}.data:`

async function projectAll(into: string): Promise<void> {
  const projection = createProjection({
    topic,
    log: createKafkaLog({ brokers }),
    store: createRedisProjectionStore({ redis: createSafeRedis(url), namespace: into, dataPrefix, form: 'atomic' }),
    project,
    readyTarget: 'hw',
    undecodable: 'quarantine',
    leaseMs: 1_000,
    limits: { batchRecordsMax: 100, stallMsMax: 20_000 },
  })
  try {
    const started = await projection.start()
    if (started.kind === 'refused') throw new Error(JSON.stringify(started.refusals))
    const caught = await projection.caughtUp({ deadlineMs: 30_000 })
    if (caught.kind !== 'ready') throw new Error(JSON.stringify(caught))
  } finally {
    await projection.stop()
  }
}

async function storedBytes(): Promise<string> {
  const keys = (await admin.keys(`*${namespace}*`)).sort()
  const dumps = await Promise.all(
    keys.map(async (key) => `${key} ${(await admin.dumpBuffer(key))!.toString('base64')}`),
  )
  return dumps.join('\n')
}

describe('the command as a process', () => {
  it('[CLI-1] [CLI-2] [CLI-7] explain: a verdict on standard output, exit code 0, nothing changed', async () => {
    const before = await storedBytes()
    const { exitCode, stdout, stderr } = await runCommand([
      'explain',
      ...places,
      ...names,
      '--ready-target',
      'hw',
      '--json',
    ])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const report = JSON.parse(stdout) as ExplainReport
    expect(report).toMatchObject({ version: 1, verdict: 'would-start', toRead: '0', store: { primary: true } })
    expect(report.partitions.items.map(({ next, origin }) => [next, origin])).toEqual(
      Array.from({ length: partitions }, () => ['20', 'checkpoint']),
    )
    expect(await storedBytes()).toBe(before)
  })

  it('[CLI-3] [CLI-6] inspect: sound, and an unknown namespace by its own exit code', async () => {
    const sound = await runCommand(['inspect', ...store, '-n', namespace])
    expect(sound).toMatchObject({ exitCode: 0, stderr: '' })
    expect(sound.stdout).toMatch(new RegExp(`^sound {2}${namespace} of ${topic}\n`))
    expect((await runCommand(['inspect', ...store, '-n', `${namespace}x`])).exitCode).toBe(7)
  })

  it('[CLI-4] [CLI-6] verify: equal, and ended by SIGINT', async () => {
    const verify = ['verify', ...places, ...names, '--data-prefix', dataPrefix, '--project', projectFile]
    const equal = await runCommand([...verify, '--json'])
    expect(equal.exitCode).toBe(0)
    expect(JSON.parse(equal.stdout)).toMatchObject({ verdict: 'equal', recordsRead: 60, keysCompared: 5 })
    let told = false
    const ended = await runCommand([...verify, '--export', 'slow'], {
      onStderr(text, child) {
        if (told || !text.includes('first record')) return
        told = true
        child.kill('SIGINT')
      },
    })
    expect(ended.exitCode).toBe(130)
    expect(ended.stderr).toContain('interrupted  the verification was cancelled')
  })

  it('[CLI-8] [CLI-10] a wrong password is said without being repeated', async () => {
    const server = await startRedis({ password: 'right-one' })
    try {
      const bare = new URL(server.url)
      bare.password = ''
      bare.username = ''
      const wrong = await runCommand(['inspect', '-n', namespace, '--redis', bare.href, '--json'], {
        env: { REDIS_PASSWORD: 'hunter2-wrong' },
      })
      expect(wrong.exitCode).toBe(5)
      expect(JSON.parse(wrong.stdout)).toMatchObject({ error: { code: 'TM_REDIS_AUTH_FAILED' } })
      expect(wrong.stdout + wrong.stderr).not.toContain('hunter2')
      const right = await tidemark(['inspect', '-n', namespace, '--redis', bare.href], {
        env: { REDIS_PASSWORD: 'right-one' },
      })
      expect(right.exitCode).toBe(7)
    } finally {
      await server.close()
    }
  })
})

describe('services that give no usable answer', () => {
  const target = ['--ready-target', 'hw', '--deadline-ms', '2000']

  it('[CLI-10] Kafka not there: exit code 5 within its deadline', async () => {
    const args = ['explain', ...store, '--kafka', '127.0.0.1:1', ...names, ...target]
    const report = await tidemarkJson<ExplainReport>(args)
    expect(report).toMatchObject({ verdict: 'unavailable', exitCode: 5 })
    expect(report.refusals.items.map(({ code }) => code)).toEqual(['IDENTITY_UNPROVEN'])
  })

  it('[CLI-8] [CLI-10] Kafka that knows no such login: exit code 5, the password kept', async () => {
    const env = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'hunter2' }
    const args = ['explain', ...places, ...names, ...target]
    const { exitCode, stdout, stderr } = await tidemark(args, { env })
    expect(exitCode).toBe(5)
    expect(stdout + stderr).not.toContain('hunter2')
  })

  it('[CLI-10] a topic that is not there is refused, since waiting does not help', async () => {
    const report = await tidemarkJson<ExplainReport>([
      ...['explain', ...places, '-n', namespace, '-t', 'nowhere', ...target],
    ])
    expect(report).toMatchObject({ verdict: 'refused', exitCode: 3 })
  })
})

describe('damage on a real Redis', () => {
  it('[CLI-1] [CLI-3] a damaged field, an expiry and another type are named; no byte changes', async () => {
    const key = `${namespace}:checkpoint:${topic}:1`
    const good = await admin.hget(key, 'next_offset')
    await admin.hset(key, 'next_offset', '1e3')
    await admin.expire(`${namespace}:meta`, 10_000)
    await admin.rename(`${namespace}:fence:${topic}:2`, `${namespace}:kept`)
    await admin.rpush(`${namespace}:fence:${topic}:2`, 'x')
    try {
      const before = await storedBytes()
      const report = await tidemarkJson<InspectReport>(['inspect', ...store, '-n', namespace])
      expect(report).toMatchObject({ verdict: 'damaged', exitCode: 4, unreadable: { total: 1 } })
      expect(report.findings.items.map(({ code }) => code).sort()).toEqual([
        'KEY_EXPIRES',
        'UNPARSEABLE',
        'UNPARSEABLE',
      ])
      expect(report.partitions.items[0]).toMatchObject({ partition: 1, raw: { next_offset: '1e3' }, damaged: true })
      expect((await tidemark(['explain', ...places, ...names, '--ready-target', 'lso'])).exitCode).toBe(3)
      expect(await storedBytes()).toBe(before)
    } finally {
      await admin.hset(key, 'next_offset', good!)
      await admin.persist(`${namespace}:meta`)
      await admin.rename(`${namespace}:kept`, `${namespace}:fence:${topic}:2`)
    }
  })

  it('[CLI-4] [RED-40] served data that differs, and records set aside, newest first', async () => {
    const verify = ['verify', ...places, ...names, '--data-prefix', dataPrefix, '--project', projectFile]
    await admin.zadd(`${dataPrefix}convs:u1`, 3, 'strange')
    await admin.hset(`${namespace}:quarantine:${topic}:0`, {
      7: '{"reason":"r","valueBytes":1,"timestampMs":1}',
      12: '?',
    })
    try {
      const report = await tidemarkJson<VerifyReport>([...verify, '--kafka-client', 'pinned'])
      expect(report).toMatchObject({ verdict: 'different', exitCode: 6, differences: { total: 1 } })
      expect(report.differences.items[0]!.parts.items).toEqual([{ part: 'strange', found: '3' }])
      const { quarantine } = await tidemarkJson<InspectReport>([
        'inspect',
        ...store,
        '-n',
        namespace,
        '--quarantine',
        '1',
      ])
      expect(quarantine).toEqual({ total: 2, items: [{ partition: 0, offset: '12', damaged: '?' }] })
    } finally {
      await admin.zrem(`${dataPrefix}convs:u1`, 'strange')
      await admin.del(`${namespace}:quarantine:${topic}:0`)
    }
  })
})

describe('a huge namespace', () => {
  const size = process.env['TIDEMARK_SIZE'] === 'full' ? 10_000_000 : 1_000_000

  it('[CLI-9] [RED-40] 512 partitions beside a million foreign keys: bounded output and memory', async () => {
    const server = await startRedis()
    const filler = new Redis(server.url)
    try {
      for (let from = 0; from < size; from += 100_000) {
        const script = 'for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do redis.call("SET", "foreign:" .. i, "x") end'
        await filler.eval(script, 0, String(from), String(from + 99_999))
      }
      const line = filler.pipeline()
      const meta = { format_version: '1', dispatch_topic: 't', partition_count: '512', cluster_id: 'c' }
      const identity = { ...meta, topic_id: 'edbce881-ef7f-96bd-9d9a-2d48fd68e2f5' }
      line.hset('big:meta', identity)
      for (let partition = 0; partition < 512; partition += 1) {
        const fields = { ...identity, partition: String(partition), next_offset: partition % 2 === 0 ? '5' : '-1' }
        line.hset(`big:checkpoint:t:${partition}`, fields)
      }
      for (let stray = 0; stray < 5_000; stray += 1) line.set(`big:stray:${stray}`, 'x')
      await line.exec()
      const inspect = ['inspect', '--redis', server.url, '-n', 'big']
      const text = await runCommand(inspect, { heapMb: 96 })
      expect(text.exitCode).toBe(4)
      expect(text.stdout).toContain('… 472 more partitions; --limit 512 shows all')
      expect(text.stdout.length).toBeLessThan(60_000)
      const report = await tidemarkJson<InspectReport>([...inspect, '--limit', '10'])
      expect(report.partitions).toMatchObject({ total: 512, items: expect.objectContaining({ length: 10 }) })
      expect(report.findings.total).toBe(256)
      const explain = ['explain', '--redis', server.url, '--kafka', brokers.join(','), '-n', 'big', '-t', topic]
      const deep = await runCommand([...explain, '--ready-target', 'hw', '--deep', '--json', '--limit', '5'], {
        heapMb: 96,
      })
      expect(deep.exitCode).toBe(3)
      const found = JSON.parse(deep.stdout) as ExplainReport
      expect(found.deep!.keysSeen).toBeGreaterThanOrEqual(5_513)
      expect(found.deep!.strays.items.length).toBe(5)
      expect(found.deep!.strays.total).toBeGreaterThanOrEqual(5_512)
    } finally {
      filler.disconnect()
      await server.close()
    }
  })
})

describe('rebuild on real services', () => {
  const into = `${namespace}.new`
  const rebuild = (...more: readonly string[]): readonly string[] => [
    ...['rebuild', ...places, ...names, '--into', into, '--data-prefix', dataPrefix, '--project', projectFile],
    ...['--ready-target', 'hw', '--undecodable', 'stop', ...more],
  ]

  it('[CLI-5] a recreated topic is refused, and goes on by a rebuild', async () => {
    await recreateTopic(brokers, topic, partitions)
    await produceDispatches(brokers, topic, partitions, 30)
    const refused = await tidemarkJson<ExplainReport>(['explain', ...places, ...names, '--ready-target', 'hw'])
    expect(refused.refusals.items.map(({ code }) => code)).toContain('TOPIC_ID')

    const shared = ['--data', 'shared', '--keeps-old-data', '--form', 'two-step']
    const before = await storedBytes()
    const look = await runCommand([...rebuild(...shared), '--json'])
    expect(look.exitCode).toBe(0)
    expect(JSON.parse(look.stdout) as RebuildReport).toMatchObject({ verdict: 'would-start', plan: { toRead: '30' } })
    expect(await storedBytes()).toBe(before)
    const mistyped = await tidemarkJson<ErrorReport>(rebuild(...shared, '--execute', namespace))
    expect(mistyped).toMatchObject({ exitCode: 2, error: { code: 'TM_CLI_CONFIRMATION_MISMATCH' } })
    expect(await storedBytes()).toBe(before)

    const done = await runCommand(rebuild(...shared, '--execute', into))
    expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('applied  30 records') })
    const rebuilt = await tidemarkJson<InspectReport>(['inspect', ...store, '-n', into])
    expect(rebuilt.partitions.items.map(({ next }) => next)).toEqual(['10', '10', '10'])
    const old = await tidemarkJson<InspectReport>(['inspect', ...store, '-n', namespace])
    expect(old.partitions.items.map(({ next, fence }) => [next, fence])).toEqual(
      Array.from({ length: partitions }, () => ['20', expect.objectContaining({ epoch: '2' })]),
    )
  })
})
