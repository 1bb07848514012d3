import { describe, expect, it } from 'vitest'
import { createPostgresProjectionStore } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import { durabilityOf, evictionOf, runOfProcess } from '../src/database/server-facts.ts'
import { failureOf } from '../src/database/postgres-failure.ts'
import { describePgAddress, parsePostgresUrl } from '../src/pg/pg-address.ts'

describe('what comes from outside', () => {
  const database = connectPostgres('postgres://u@127.0.0.1:1/d')
  const options = { database, namespace: 'ns', isEmpty: async () => true }

  it.each(['', 'a"b', 'Upper', 'x; DROP TABLE y', 'pg_catalog', 'information_schema', 'a'.repeat(64), '1a', 'a.b'])(
    '[PGS-1] refuses the schema name %j',
    (schema) => {
      const refused = expect.objectContaining({ code: 'TM_POSTGRES_OPTION_INVALID' })
      expect(() => createPostgresProjectionStore({ ...options, schema })).toThrow(refused)
      expect(() => createPostgresProjectionStore({ ...options, dataSchema: schema })).toThrow(refused)
    },
  )

  it('[PGS-1] refuses namespaces, prefixes and options that cannot be meant', () => {
    const refused = expect.objectContaining({ code: 'TM_CHECKPOINT_OPTION_INVALID' })
    expect(() => createPostgresProjectionStore({ ...options, dataPrefix: 'ns:x' })).toThrow(refused)
    expect(() => createPostgresProjectionStore({ ...options, dataPrefix: 'x'.repeat(101) })).toThrow(refused)
    expect(() => createPostgresProjectionStore({ ...options, isEmpty: true as never })).toThrow(refused)
    expect(() => createPostgresProjectionStore({ ...options, namespace: '{a}' })).toThrow(
      expect.objectContaining({ code: 'TM_CHECKPOINT_NAMESPACE_INVALID' }),
    )
    expect(() => connectPostgres('postgres://u@h/d', { deadlineMs: 1 })).toThrow(
      expect.objectContaining({ code: 'TM_CORE_LIMIT_INVALID' }),
    )
  })
})

describe('addresses', () => {
  it('are read whole: host, port, credentials, database, TLS', () => {
    expect(parsePostgresUrl('postgres://a%40b:p%2Fq@[::1]:6000/data?sslmode=verify-full')).toEqual({
      host: '::1',
      port: 6000,
      user: 'a@b',
      password: 'p/q',
      database: 'data',
      tls: true,
    })
    expect(describePgAddress({ host: '::1', port: 6000, database: 'data' })).toBe('[::1]:6000/data')
    expect(parsePostgresUrl('postgresql://h/d')).toMatchObject({ port: 5432, user: undefined, tls: false })
  })

  it.each([
    'mysql://h/d',
    'h/d',
    'postgres://h',
    'postgres://h/',
    'postgres://u:secret@h/d?options=-c%20x',
    'postgres://u:secret@h/d?sslmode=require',
    'postgres://u:secret@h/d#x',
    'postgres://u:secret%@h/d',
    'postgres://u:secret@h/a/b',
  ])('[PGS-3] refuses %j without repeating it', (url) => {
    let thrown: unknown
    try {
      parsePostgresUrl(url)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code: 'TM_POSTGRES_ADDRESS_INVALID' })
    expect(JSON.stringify(thrown)).not.toContain('secret')
  })
})

describe('what a server says', () => {
  it.each([
    ['on', 'on', '', 'fsync'],
    ['on', 'local', 'x', 'fsync'],
    ['on', 'remote_write', 'x', 'fsync'],
    ['on', 'on', 'x', 'replicated'],
    ['on', 'remote_apply', 'FIRST 1 (x)', 'replicated'],
    ['on', 'off', 'x', 'server'],
    ['off', 'on', 'x', 'server'],
  ] as const)(
    '[PGS-16] fsync %s, synchronous_commit %s, standbys %j: %s',
    (fsync, synchronousCommit, standbyNames, durability) => {
      expect(durabilityOf({ fsync, synchronousCommit, standbyNames })).toBe(durability)
    },
  )

  it('[PGS-10] names a run by its start and timeline, and another opening of an embedded database as another', () => {
    expect(runOfProcess('77:1.5:00000001', undefined)).toBe('1.5:00000001')
    expect(runOfProcess('77:1.5:00000001:abc', 'abc')).toBe('1.5:00000001')
    expect(runOfProcess('77:1.5:00000001:abc', 'xyz')).toBeUndefined()
    expect(runOfProcess('another life', undefined)).toBeUndefined()
    expect(evictionOf([])).toEqual({ policy: 'none', kind: 'keeps-all' })
  })

  it.each([
    ['08006', 'TM_POSTGRES_CONNECTION_LOST', true],
    ['57P01', 'TM_POSTGRES_CONNECTION_LOST', true],
    ['ECONNRESET', 'TM_POSTGRES_CONNECTION_LOST', true],
    ['EPIPE', 'TM_POSTGRES_CONNECTION_LOST', true],
    [undefined, 'TM_POSTGRES_CONNECTION_LOST', true],
    ['57P03', 'TM_POSTGRES_STARTING', true],
    ['57014', 'TM_POSTGRES_TIMEOUT', true],
    ['40001', 'TM_POSTGRES_SERIALIZATION_FAILED', true],
    ['40P01', 'TM_POSTGRES_DEADLOCK', true],
    ['55P03', 'TM_POSTGRES_LOCK_TIMEOUT', true],
    ['53300', 'TM_POSTGRES_CONNECTIONS_EXHAUSTED', true],
    ['53100', 'TM_POSTGRES_RESOURCES_EXHAUSTED', false],
    ['54000', 'TM_POSTGRES_RESOURCES_EXHAUSTED', false],
    ['XX001', 'TM_POSTGRES_DATA_CORRUPTED', false],
    ['28P01', 'TM_POSTGRES_AUTH_FAILED', false],
    ['25006', 'TM_POSTGRES_READ_ONLY', false],
    ['42P01', 'TM_POSTGRES_TABLES_MISSING', false],
    ['42703', 'TM_POSTGRES_TABLES_WRONG', false],
    ['23505', 'TM_POSTGRES_STATEMENT_FAILED', false],
  ])('[PGS-17] the code %s is %s', (code, expected, retriable) => {
    const thrown = Object.assign(
      new Error('what it said\nover two lines'),
      code === undefined ? {} : { code, parameters: ['secret'] },
    )
    const error = failureOf({ address: 'h:1/d', deadlineMs: 9 }, 'advance', thrown)
    expect(error).toMatchObject({ code: expected, retriable })
    expect(error.message).not.toContain('\n')
    expect(JSON.stringify(error)).not.toContain('secret')
    // A table that a host's statement does not find is the host's own.
    if (expected.startsWith('TM_POSTGRES_TABLES_')) {
      expect(failureOf({ address: 'a', deadlineMs: 9 }, 'advance', thrown, 'host').code).toBe(
        'TM_POSTGRES_STATEMENT_FAILED',
      )
    }
  })
})
