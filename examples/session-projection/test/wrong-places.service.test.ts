import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import { freePorts, startKafka, startPostgres, startRedis } from '@tidemark/testkit/service'
import type { KafkaCluster, PostgresServer, RedisServer } from '@tidemark/testkit/service'
import { createSafeRedis } from '@tidemark/redis/checkpoint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { createTopic } from '../src/backend/topic-admin.ts'
import { exitCodes } from '../src/service/exit-codes.ts'
import type { KafkaPlace } from '../src/settings/place-settings.ts'
import { dispatchMessage } from './bad-records.ts'
import { compilePrograms } from './compiled-programs.ts'
import type { CompiledPrograms } from './compiled-programs.ts'
import { runProgram } from './run-program.ts'
import type { ProgramRun } from './run-program.ts'

const secret = 'correct-horse-battery'
let programs: CompiledPrograms
let kafka: KafkaCluster
let redis: RedisServer
let postgres: PostgresServer
let silent: { readonly server: Server; readonly sockets: Set<Socket> }
let closedPort: number

beforeAll(async () => {
  const users = [
    { name: 'owner', password: secret, super: true },
    { name: 'guest', password: secret, super: false },
  ]
  const aclLines = [
    'user default on nopass ~* &* +@all',
    `user strict on >${secret} ~* &* +@all`,
    `user reader on >${secret} ~* &* +@read +@connection +@scripting +info`,
  ]
  ;[programs, kafka, redis, postgres, [closedPort]] = await Promise.all([
    compilePrograms(),
    startKafka({ users }),
    startRedis({ config: { 'maxmemory-policy': 'noeviction' }, aclLines }),
    startPostgres({ password: secret }),
    freePorts(1) as Promise<[number]>,
  ])
  silent = await startSilentServer()
  await preparePostgres()
  const place: KafkaPlace = { kind: 'kafka', brokers: kafka.bootstrapBrokers, security: {}, client: 'official' }
  await createTopic(place, 'dispatch', 2)
  const writer = await openDispatchWriter({ place, topic: 'dispatch', deadlineMs: 60_000 })
  await writer.write([dispatchMessage()], 'commit')
  await writer.close()
})

afterAll(async () => {
  silent.sockets.forEach((socket) => socket.destroy())
  silent.server.close()
  await Promise.all([kafka.close(), redis.close(), postgres.close()])
  programs.remove()
})

/** Two databases: one with empty tables and a role that may only read them, one without any table. */
async function preparePostgres(): Promise<void> {
  const database = connectPostgres(postgresUrl(`postgres:${secret}`), { deadlineMs: 60_000 })
  await ensurePostgresTables({ database })
  const connection = await database.acquire()
  for (const text of [
    `CREATE ROLE reader LOGIN PASSWORD '${secret}'`,
    'GRANT USAGE ON SCHEMA tidemark TO reader',
    'GRANT SELECT ON ALL TABLES IN SCHEMA tidemark TO reader',
    'CREATE DATABASE bare',
  ]) {
    await connection.query({ text, values: [] })
  }
  connection.release()
  await database.close()
}

/** Every row of the projection, and every schema that a start could have made in the database without tables. */
async function postgresTraces(): Promise<readonly unknown[]> {
  const tables = ['meta', 'checkpoint', 'fence', 'incarnation', 'quarantine', 'data', 'twin']
  const rows = tables.map((name) => `SELECT '${name}' AS found FROM tidemark.tidemark_${name}`).join(' UNION ALL ')
  const schemas = `SELECT nspname::text AS found FROM pg_namespace WHERE nspname = 'tidemark'`
  const found = await Promise.all([askPostgres('postgres', rows), askPostgres('bare', schemas)])
  return found.flat()
}

async function askPostgres(name: string, text: string): Promise<readonly unknown[]> {
  const database = connectPostgres(postgresUrl(`postgres:${secret}`, name), { deadlineMs: 60_000 })
  const connection = await database.acquire()
  const { rows } = await connection.query({ text, values: [] })
  connection.release()
  await database.close()
  return rows
}

function postgresUrl(login: string, name: string = 'postgres', port: number = postgres.port): string {
  return `postgres://${login}@127.0.0.1:${port}/${name}`
}

/** Accepts every connection and never says a word. */
async function startSilentServer() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, sockets }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

interface Place {
  readonly brokers?: string
  readonly redisUrl?: string
  /** The store is this Postgres then. */
  readonly postgresUrl?: string
  readonly client?: KafkaPlace['client']
  readonly topic?: string
  readonly env?: Readonly<Record<string, string>>
  /** The longest one question may take; short only where nothing is ever going to answer. */
  readonly ioDeadlineMs?: number
}

async function startAt(place: Place): Promise<ProgramRun> {
  const { brokers, redisUrl, postgresUrl, client = 'official', topic = 'dispatch', ioDeadlineMs = 30_000 } = place
  const env = { ...place.env, ...(postgresUrl === undefined ? {} : { POSTGRES_URL: postgresUrl }) }
  const args = {
    brokers: brokers ?? kafka.bootstrapBrokers[0]!,
    'kafka-client': client,
    store: postgresUrl === undefined ? 'redis' : 'postgres',
    'redis-url': redisUrl ?? redis.url,
    topic,
    namespace: 'session_projection',
    'ready-target': 'hw',
    undecodable: 'quarantine',
    form: 'atomic',
    'lease-ms': '1000',
    'io-deadline-ms': String(ioDeadlineMs),
    'start-deadline-ms': '45000',
    port: '0',
  }
  const flags = Object.entries(args).flatMap(([name, value]) => [`--${name}`, value])
  return runProgram(programs.projector, flags, { env, deadlineMs: 90_000 })
}

async function redisKeys(): Promise<readonly string[]> {
  const client = createSafeRedis(redis.url).newClient()
  await client.connect()
  try {
    return await client.keys('*')
  } finally {
    client.disconnect()
  }
}

function sasl(username: string, password: string): Place {
  const env = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password }
  return { brokers: kafka.saslBrokers[0]!, env }
}

function redisAt(login: string, path = ''): Place {
  return { redisUrl: `redis://${login}@127.0.0.1:${redis.port}${path}` }
}

const { refused, unavailable, wrongSettings } = exitCodes

describe('a projector at the wrong place', () => {
  it.each<readonly [string, () => Place, number, RegExp]>([
    [
      'nobody listens at the Kafka address',
      () => ({ brokers: `127.0.0.1:${closedPort}` }),
      refused,
      /IDENTITY_UNPROVEN: .*ECONNREFUSED/,
    ],
    [
      'the Kafka address never answers',
      () => ({ brokers: `127.0.0.1:${portOf(silent.server)}`, ioDeadlineMs: 4_000 }),
      refused,
      /IDENTITY_UNPROVEN: .*did not answer/,
    ],
    [
      'the Kafka address is a Redis',
      () => ({ brokers: `127.0.0.1:${redis.port}`, ioDeadlineMs: 10_000 }),
      refused,
      /IDENTITY_UNPROVEN: /,
    ],
    [
      'the Kafka host does not exist',
      () => ({ brokers: 'nowhere.invalid:9092' }),
      refused,
      /IDENTITY_UNPROVEN: .*nowhere\.invalid/,
    ],
    ['the topic does not exist', () => ({ topic: 'dispatches' }), refused, /IDENTITY_UNPROVEN: .*unknown-topic/],
    ['the Kafka password is wrong', () => sasl('owner', 'not-it'), refused, /IDENTITY_UNPROVEN: .*authorization/],
    [
      'the Kafka user may not see the topic',
      () => sasl('guest', secret),
      refused,
      /IDENTITY_UNPROVEN: .*authorization/,
    ],
    [
      'the Kafka listener wants a login',
      () => ({ brokers: kafka.saslBrokers[0]!, ioDeadlineMs: 10_000 }),
      refused,
      /IDENTITY_UNPROVEN: /,
    ],
    [
      'nobody listens at the Kafka address, pinned client',
      () => ({ brokers: `127.0.0.1:${closedPort}`, client: 'pinned' }),
      refused,
      /IDENTITY_UNPROVEN: .*ECONNREFUSED/,
    ],
    [
      'the Kafka address never answers, pinned client',
      () => ({ brokers: `127.0.0.1:${portOf(silent.server)}`, ioDeadlineMs: 4_000, client: 'pinned' }),
      refused,
      /IDENTITY_UNPROVEN: .*did not answer/,
    ],
    [
      'the Kafka password is wrong, pinned client',
      () => ({ ...sasl('owner', 'not-it'), client: 'pinned' }),
      refused,
      /IDENTITY_UNPROVEN: .*authorization/,
    ],
    [
      'nobody listens at the Postgres address',
      () => ({ postgresUrl: postgresUrl(`postgres:${secret}`, 'postgres', closedPort) }),
      unavailable,
      /reading the stored state: .*cannot connect to Postgres at 127\.0\.0\.1/,
    ],
    [
      'the Postgres address never answers',
      () => ({ postgresUrl: postgresUrl('postgres', 'postgres', portOf(silent.server)), ioDeadlineMs: 4_000 }),
      unavailable,
      /reading the stored state: .*127\.0\.0\.1/,
    ],
    [
      'the Postgres address is a Redis',
      () => ({ postgresUrl: postgresUrl('postgres', 'postgres', redis.port), ioDeadlineMs: 10_000 }),
      unavailable,
      /reading the stored state: .*127\.0\.0\.1/,
    ],
    [
      'the Postgres password is wrong',
      () => ({ postgresUrl: postgresUrl('postgres:not-it') }),
      unavailable,
      /reading the stored state: .*28P01/,
    ],
    [
      'the Postgres role may not write',
      () => ({ postgresUrl: postgresUrl(`reader:${secret}`) }),
      unavailable,
      /claiming the fences: .*42501/,
    ],
    [
      'the Postgres database does not exist',
      () => ({ postgresUrl: postgresUrl(`postgres:${secret}`, 'nowhere') }),
      unavailable,
      /reading the stored state: .*nowhere/,
    ],
    [
      'the tables are missing',
      () => ({ postgresUrl: postgresUrl(`postgres:${secret}`, 'bare') }),
      unavailable,
      /reading the stored state: .*42P01/,
    ],
    [
      'the Postgres address is no URL',
      () => ({ postgresUrl: `127.0.0.1:${postgres.port}` }),
      wrongSettings,
      /cannot be opened: .*postgres:\/\//,
    ],
    [
      'nobody listens at the Redis address',
      () => ({ redisUrl: `redis://127.0.0.1:${closedPort}` }),
      unavailable,
      /reading the stored state: .*127\.0\.0\.1/,
    ],
    [
      'the Redis address never answers',
      () => ({ redisUrl: `redis://127.0.0.1:${portOf(silent.server)}`, ioDeadlineMs: 4_000 }),
      unavailable,
      /reading the stored state: .*127\.0\.0\.1/,
    ],
    [
      'the Redis address is a Kafka',
      () => ({ redisUrl: `redis://${kafka.bootstrapBrokers[0]!}`, ioDeadlineMs: 10_000 }),
      unavailable,
      /reading the stored state: /,
    ],
    [
      'the Redis password is wrong',
      () => redisAt('strict:not-it'),
      unavailable,
      /reading the stored state: .*WRONGPASS|reading the stored state: .*credentials/,
    ],
    [
      'the Redis user may not write',
      () => redisAt(`reader:${secret}`),
      unavailable,
      /claiming the fences: .*(?:NOPERM|can't run this command)/,
    ],
    [
      'the Redis database does not exist',
      () => redisAt(`strict:${secret}`, '/99'),
      refused,
      /STORE_DATABASE: .* 0, not 99/,
    ],
    [
      'the Redis address is no URL',
      () => ({ redisUrl: `127.0.0.1:${redis.port}` }),
      wrongSettings,
      /cannot be opened: .*redis:\/\//,
    ],
    [
      'the Kafka address is no address',
      () => ({ brokers: 'localhost' }),
      wrongSettings,
      /cannot be opened: .*host:port/,
    ],
  ])('says so within its deadline and writes nothing: %s', async (_what, place, code, says) => {
    const run = await startAt(place())
    expect(run.stderr).toMatch(says)
    expect(run.code).toBe(code)
    // One error, told once: a refusal has one reason, anything else one line.
    expect(run.stderr.match(/^(?:start refused for 1 reason|start failed: |cannot be opened: )/gm)).toHaveLength(1)
    expect(run.tookMs).toBeLessThan(75_000)
    expect(`${run.stdout}${run.stderr}`).not.toMatch(/correct-horse-battery|not-it|\n\s+at /)
    expect(await redisKeys()).toEqual([])
    expect(await postgresTraces()).toEqual([])
  })

  it('says every wrong setting before anything is connected', async () => {
    const run = await runProgram(programs.projector, ['--lease-ms', 'soon', '--brokers', 'a:1'], { deadlineMs: 60_000 })
    expect(run.code).toBe(exitCodes.wrongSettings)
    expect(run.stderr.trim().split('\n')).toEqual([
      'wrong settings: --redis-url (or REDIS_URL) is not given',
      'wrong settings: --form (or SESSION_FORM) is not given; choose atomic or two-step',
      'wrong settings: --topic (or SESSION_TOPIC) is not given',
      'wrong settings: --namespace (or SESSION_NAMESPACE) is not given',
      'wrong settings: --ready-target (or SESSION_READY_TARGET) is not given; choose hw or lso',
      'wrong settings: --undecodable (or SESSION_UNDECODABLE) is not given; choose stop or quarantine',
      'wrong settings: --lease-ms (or SESSION_LEASE_MS) is "soon", not a whole number from 10 to 600000',
    ])
  })
})

describe('a producer at the wrong place', () => {
  it.each<readonly [string, () => Place, RegExp]>([
    [
      'nobody listens at the address',
      () => ({ brokers: `127.0.0.1:${closedPort}` }),
      /connecting the producer failed: /,
    ],
    [
      'the address never answers',
      () => ({ brokers: `127.0.0.1:${portOf(silent.server)}` }),
      /connecting the producer failed: /,
    ],
    [
      'the topic does not exist',
      () => ({ topic: 'dispatches' }),
      /connecting the producer failed: topic dispatches is not there/,
    ],
    ['the password is wrong', () => sasl('owner', 'not-it'), /connecting the producer failed: /],
    [
      'the user may not write',
      () => sasl('guest', secret),
      /connecting the producer failed: .*not for this user|authorization/i,
    ],
  ])('says so within its deadline: %s', async (_what, place, says) => {
    const { brokers = kafka.bootstrapBrokers[0]!, topic = 'dispatch', env = {} } = place()
    const args = ['--brokers', brokers, '--topic', topic, '--dispatches', '50', '--io-deadline-ms', '6000']
    const run = await runProgram(programs.producer, args, { env, deadlineMs: 90_000 })
    expect(run.stderr).toMatch(says)
    expect(run.code).toBe(exitCodes.unavailable)
    expect(run.stderr.trim().split('\n')).toHaveLength(1)
    // Its deadline is 6 s; the rest is a slow machine's start.
    expect(run.tookMs).toBeLessThan(25_000)
    expect(`${run.stdout}${run.stderr}`).not.toMatch(/correct-horse-battery|not-it/)
  })
})
