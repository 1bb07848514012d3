import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeSettings } from '../src/service/service-logger.ts'
import { readProducerSettings } from '../src/settings/producer-settings.ts'
import { readProjectorSettings } from '../src/settings/projector-settings.ts'
import type { ProjectorSettings } from '../src/settings/projector-settings.ts'

const env = {
  KAFKA_BROKERS: '127.0.0.1:9092, 127.0.0.1:9093',
  REDIS_URL: 'redis://:hunter2@127.0.0.1:6379/3',
  SESSION_TOPIC: 'dispatch',
  SESSION_NAMESPACE: 'session_projection',
  SESSION_READY_TARGET: 'hw',
  SESSION_UNDECODABLE: 'quarantine',
  SESSION_FORM: 'atomic',
  SESSION_LEASE_MS: '1000',
}

function read(argv: readonly string[] = [], changes: Readonly<Record<string, string | undefined>> = {}) {
  return readProjectorSettings(argv, { ...env, ...changes })
}

function settingsOf(reading: ReturnType<typeof read>): ProjectorSettings {
  if (reading.kind !== 'settings') throw new Error(JSON.stringify(reading))
  return reading.settings
}

function problemsOf(reading: { readonly kind: string }): readonly string[] {
  expect(reading.kind).toBe('wrong')
  return (reading as { readonly problems?: readonly string[] }).problems ?? []
}

describe('the projector settings', () => {
  it('come from the environment, with defaults for what decides no correctness', () => {
    expect(settingsOf(read())).toEqual({
      log: { kind: 'kafka', brokers: ['127.0.0.1:9092', '127.0.0.1:9093'], security: {}, client: 'official' },
      store: { kind: 'redis', url: 'redis://:hunter2@127.0.0.1:6379/3', form: 'atomic' },
      topic: 'dispatch',
      namespace: 'session_projection',
      dataPrefix: '',
      createTables: false,
      readyTarget: 'hw',
      undecodable: 'quarantine',
      leaseMs: 1_000,
      batchRecordsMax: 500,
      stallMsMax: 30_000,
      ioDeadlineMs: 10_000,
      startDeadlineMs: 60_000,
      dirtyGraceMs: 30_000,
      host: '127.0.0.1',
      port: 8080,
      logLevel: 'info',
    })
  })

  it('let a flag win over its variable', () => {
    const settings = settingsOf(read(['--topic', 'other', '--form=two-step', '--port', '0']))
    expect(settings).toMatchObject({ topic: 'other', port: 0, store: { form: 'two-step' } })
  })

  it('say everything that is missing at once', () => {
    expect(problemsOf(readProjectorSettings([], {}))).toEqual([
      '--brokers (or KAFKA_BROKERS) is not given',
      '--redis-url (or REDIS_URL) is not given',
      '--form (or SESSION_FORM) is not given; choose atomic or two-step',
      '--topic (or SESSION_TOPIC) is not given',
      '--namespace (or SESSION_NAMESPACE) is not given',
      '--ready-target (or SESSION_READY_TARGET) is not given; choose hw or lso',
      '--undecodable (or SESSION_UNDECODABLE) is not given; choose stop or quarantine',
      '--lease-ms (or SESSION_LEASE_MS) is not given',
    ])
  })

  it.each([
    [['--lease-ms', '1s'], '--lease-ms (or SESSION_LEASE_MS) is "1s", not a whole number from 10 to 600000'],
    [['--lease-ms', '9'], '--lease-ms (or SESSION_LEASE_MS) is "9", not a whole number from 10 to 600000'],
    [['--port', '65536'], '--port (or SESSION_PORT) is "65536", not a whole number from 0 to 65535'],
    [['--port', '-0'], "Option '--port' argument is ambiguous."],
    [['--port', '0x50'], '--port (or SESSION_PORT) is "0x50", not a whole number from 0 to 65535'],
    [['--form', 'both'], '--form (or SESSION_FORM) is "both", not atomic or two-step'],
    [['--undecodable', 'skip'], '--undecodable (or SESSION_UNDECODABLE) is "skip", not stop or quarantine'],
    [['--ready-target', 'earliest'], '--ready-target (or SESSION_READY_TARGET) is "earliest", not hw or lso'],
    [['--backend', 'mock'], '--backend (or TIDEMARK_BACKEND) is "mock", not real or embedded'],
    [['--store', 'mysql'], '--store (or SESSION_STORE) is "mysql", not redis or postgres or pglite'],
    [['--store', 'embedded'], '--store (or SESSION_STORE) is "embedded", not redis or postgres or pglite'],
    [
      ['--backend', 'embedded', '--data-dir', 'data', '--store', 'redis'],
      '--store (or SESSION_STORE) is "redis", not pglite or embedded',
    ],
    [['--store', 'postgres'], '--postgres-url (or POSTGRES_URL) is not given'],
    [['--store', 'pglite'], '--data-dir (or SESSION_DATA_DIR) is not given'],
    [['--kafka-client', 'kafkajs'], '--kafka-client (or SESSION_KAFKA_CLIENT) is "kafkajs", not official or pinned'],
    [['--create-tables', 'yes'], '--create-tables (or SESSION_CREATE_TABLES) is "yes", not on or off'],
    [['--topic', ''], '--topic is empty'],
    [['--offset', '7'], "Unknown option '--offset'"],
    [['dispatch'], "Unexpected argument 'dispatch'. This command does not take positional arguments"],
    [['--namespace', 'convs'], '--namespace "convs" overlaps the session keys "convs:…"'],
    [['--namespace', 'convs:x'], '--namespace "convs:x" overlaps the session keys "convs:…"'],
    [
      ['--data-prefix', 'session_projection:'],
      '--namespace "session_projection" overlaps the session keys "session_projection:convs:…"',
    ],
    [
      ['--sasl-username', 'ada'],
      'KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is given without --sasl-mechanism (or KAFKA_SASL_MECHANISM)',
    ],
    [['--sasl-mechanism', 'PLAIN', '--sasl-username', 'ada'], 'KAFKA_SASL_PASSWORD is not given'],
  ])('call %j wrong, and say what is due', (argv, problem) => {
    expect(problemsOf(read(argv))).toEqual([problem])
  })

  it('take a password from the environment only', () => {
    expect(problemsOf(read(['--sasl-password', 'hunter2']))).toEqual(["Unknown option '--sasl-password'"])
    const sasl = { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'ada', KAFKA_SASL_PASSWORD: 'hunter2' }
    expect(settingsOf(read([], { ...sasl, KAFKA_TLS: 'on' })).log).toEqual({
      kind: 'kafka',
      brokers: ['127.0.0.1:9092', '127.0.0.1:9093'],
      security: { tls: true, sasl: { mechanism: 'SCRAM-SHA-512', username: 'ada', password: 'hunter2' } },
      client: 'official',
    })
  })

  it('treat an empty variable as unset', () => {
    expect(settingsOf(read([], { SESSION_PORT: '' })).port).toBe(8080)
    expect(problemsOf(read([], { SESSION_TOPIC: '' }))).toEqual(['--topic (or SESSION_TOPIC) is not given'])
  })

  it('need only a folder for the embedded backend', () => {
    const reading = read(['--backend', 'embedded', '--data-dir', 'data'], {
      KAFKA_BROKERS: '',
      REDIS_URL: '',
      SESSION_FORM: '',
    })
    const place = { kind: 'embedded', dataDir: 'data' }
    const pglite = { kind: 'pglite', directory: join('data', 'pglite'), schema: 'tidemark' }
    // Its database is its own to create; the tables of a server are made by whoever may.
    expect(settingsOf(reading)).toMatchObject({ log: place, store: pglite, createTables: true })
    expect(settingsOf(read(['--backend', 'embedded', '--data-dir', 'data', '--store', 'embedded']))).toMatchObject({
      log: place,
      store: place,
      createTables: false,
    })
    expect(problemsOf(read(['--backend', 'embedded']))).toEqual(['--data-dir (or SESSION_DATA_DIR) is not given'])
  })

  it('put any store that is offered beside Kafka, read by either client', () => {
    const url = 'postgres://ada:hunter2@127.0.0.1:5432/sessions'
    const postgres = read(['--store', 'postgres', '--kafka-client', 'pinned', '--schema', 'app'], { POSTGRES_URL: url })
    expect(settingsOf(postgres)).toMatchObject({
      log: { kind: 'kafka', client: 'pinned' },
      store: { kind: 'postgres', url, schema: 'app' },
      createTables: false,
    })
    expect(settingsOf(read(['--store', 'postgres', '--create-tables', 'on'], { POSTGRES_URL: url }))).toMatchObject({
      store: { schema: 'tidemark' },
      createTables: true,
    })
    expect(settingsOf(read(['--store', 'pglite', '--data-dir', 'data']))).toMatchObject({
      log: { kind: 'kafka', client: 'official' },
      store: { kind: 'pglite', directory: join('data', 'pglite') },
      createTables: true,
    })
  })

  it('explain themselves', () => {
    const reading = read(['--help'])
    expect(reading.kind).toBe('help')
    expect(reading.kind === 'help' && reading.text).toContain('--ready-target           SESSION_READY_TARGET')
    expect(reading.kind === 'help' && reading.text).toContain('--store                  SESSION_STORE')
    expect(reading.kind === 'help' && reading.text).toContain('official, or pinned to the topic id; default official')
  })

  it('are described without any secret', () => {
    const sasl = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'ada', KAFKA_SASL_PASSWORD: 'correct-horse' }
    for (const REDIS_URL of [env.REDIS_URL, 'redis//:hunter2@nowhere', ':hunter2']) {
      const described = JSON.stringify(describeSettings(settingsOf(read([], { ...sasl, REDIS_URL }))))
      expect(described).not.toContain('hunter2')
      expect(described).not.toContain('correct-horse')
      expect(described).toContain('127.0.0.1:9092')
    }
    for (const POSTGRES_URL of ['postgres://ada:hunter2@127.0.0.1:5432/sessions', 'ada:hunter2@nowhere']) {
      const described = JSON.stringify(describeSettings(settingsOf(read(['--store', 'postgres'], { POSTGRES_URL }))))
      expect(described).not.toContain('hunter2')
      expect(described).toContain('"schema":"tidemark"')
    }
  })
})

describe('the producer settings', () => {
  it('need a log and a topic, and nothing of Redis', () => {
    const reading = readProducerSettings(['--dispatches', '10'], {
      KAFKA_BROKERS: 'kafka:9092',
      SESSION_TOPIC: 'dispatch',
    })
    expect(reading).toMatchObject({
      kind: 'settings',
      settings: { dispatches: 10, perTransaction: 50, topic: 'dispatch' },
    })
    expect(problemsOf(readProducerSettings(['--dispatches', '0'], {}))).toEqual([
      '--brokers (or KAFKA_BROKERS) is not given',
      '--topic (or SESSION_TOPIC) is not given',
      '--dispatches (or SESSION_DISPATCHES) is "0", not a whole number from 1 to 10000000',
    ])
  })
})
