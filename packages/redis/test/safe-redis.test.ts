import { describe, expect, it } from 'vitest'
import { createSafeRedis, redisErrors } from '@tidemark/redis/checkpoint'
import type { SafeRedisOptions } from '@tidemark/redis/checkpoint'
import { unsafeOptions } from '../src/connection/unsafe-options.ts'

const unsafe = (options: object): { message: string; details: Record<string, unknown> } => {
  try {
    createSafeRedis(options as SafeRedisOptions)
  } catch (error) {
    expect(error).toMatchObject({ code: 'TM_REDIS_UNSAFE_OPTION' })
    return error as { message: string; details: Record<string, unknown> }
  }
  throw new Error(`${JSON.stringify(options)} was accepted`)
}

describe('createSafeRedis', () => {
  it('[RED-1] gives the client options under which nothing is queued, repeated, redirected or reconnected', () => {
    const client = createSafeRedis('redis://127.0.0.1:6390/3', { commandDeadlineMs: 700 }).newClient()
    const { retryStrategy, ...options } = client.options
    expect(options).toMatchObject({
      db: 3,
      port: 6390,
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      reconnectOnError: null,
      enableAutoPipelining: false,
      readOnly: false,
      keyPrefix: '',
      commandTimeout: 700,
      connectTimeout: 700,
    })
    expect(retryStrategy?.(1)).toBeNull()
    expect(client.status).toBe('wait')
  })

  it.each(Object.keys(unsafeOptions))('[RED-1] refuses the override %s by name, with what to do instead', (option) => {
    const { message, details } = unsafe({ [option]: () => 1 })
    expect(details['option']).toBe(option)
    expect(message).toContain(option)
    expect(String(details['remedy'])).not.toBe('')
  })

  it('[RED-1] refuses the dangerous values themselves', () => {
    for (const options of [
      { enableOfflineQueue: true },
      { autoResendUnfulfilledCommands: true },
      { maxRetriesPerRequest: 20 },
      { maxRetriesPerRequest: null },
      { keyPrefix: 'app:' },
      { enableAutoPipelining: true },
      { readOnly: true },
      { role: 'slave' },
      { sentinels: [{ host: 'a' }] },
    ]) {
      unsafe(options)
    }
  })

  it('[RED-1] accepts an option that repeats what the factory does anyway', () => {
    const harmless = {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      keyPrefix: '',
      lazyConnect: true,
      role: 'master',
    }
    expect(createSafeRedis(harmless as SafeRedisOptions).address).toBe('127.0.0.1:6379')
  })

  it('[RED-1] refuses an option it does not know, such as a misspelt one', () => {
    expect(unsafe({ databse: 4 }).message).toContain('databse')
    expect(unsafe({ constructor: 4 }).message).toContain('constructor')
  })

  it.each([1.5, -1, Number.NaN, '1' as unknown as number, 1_000_000])('[RED-1] refuses the database %s', (db) => {
    expect(unsafe({ db }).details['option']).toBe('db')
  })

  it.each([
    ['redis://h:1/abc', 'database'],
    ['redis://h:1/01', 'database'],
    ['redis://h:1/-1', 'database'],
    ['redis://h:1?enableOfflineQueue=true', 'query'],
    ['http://h:1', 'redis://'],
    ['h:1', 'redis://'],
    ['', 'redis://'],
    ['redis://%zz@h', 'user'],
  ])('[RED-1] refuses the URL %s', (url, reason) => {
    expect(() => createSafeRedis(url)).toThrow(expect.objectContaining({ code: 'TM_REDIS_ADDRESS_INVALID' }))
    expect(() => createSafeRedis(url)).toThrow(reason)
  })

  it('[RED-1] reads user, password, TLS, IPv6 and socket paths of an address', () => {
    const { options } = createSafeRedis('rediss://us%40er:pa%2Fss@[::1]:7000/2').newClient()
    expect(options).toMatchObject({ host: '::1', port: 7000, db: 2, username: 'us@er', password: 'pa/ss' })
    expect(options.tls).toEqual({})
    expect(createSafeRedis('/tmp/redis.sock').newClient().options.path).toBe('/tmp/redis.sock')
    expect(createSafeRedis('rediss://u:p@[::1]:7000').address).toBe('[::1]:7000')
  })

  it('[RED-3] keeps credentials out of the address and out of texts', () => {
    const source = createSafeRedis('redis://user:hunter2@h:1')
    expect(source.address).toBe('h:1')
    expect(source.redact('ERR unknown command AUTH, with args beginning with: hunter2')).toBe(
      'ERR unknown command AUTH',
    )
    expect(source.redact('bad hunter2!')).toBe('bad ***!')
    expect(() => createSafeRedis('redis://user:hunter2@h:1/x')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    )
  })

  it('[RED-2] refuses deadlines that are none', () => {
    for (const commandDeadlineMs of [0, -1, 1.5, Infinity]) {
      expect(() => createSafeRedis({ commandDeadlineMs })).toThrow(
        expect.objectContaining({ code: 'TM_CORE_LIMIT_INVALID' }),
      )
    }
  })
})

describe('the error catalogue', () => {
  it('[RED-17] says of every code what can be done', () => {
    for (const code of redisErrors.codes) expect(redisErrors.remedy(code)).toMatch(/\w.*\.$/)
  })
})
