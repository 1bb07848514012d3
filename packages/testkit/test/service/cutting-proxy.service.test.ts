import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import { createCuttingProxy, sharedRedisUrl } from '@tidemark/testkit/service'

const ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

const quiet = { retryStrategy: () => null, maxRetriesPerRequest: 0, lazyConnect: true } as const

describe('createCuttingProxy before a real Redis', () => {
  it('lets the server execute a command whose reply the client never gets', async () => {
    const url = new URL(await sharedRedisUrl())
    const proxy = await createCuttingProxy({ target: { host: url.hostname, port: Number(url.port) }, framing: 'resp' })
    ends.push(() => proxy.close())
    const key = `testkit:proxy:${process.pid}:${Date.now()}`
    const cut = proxy.program({ on: 'command', command: 2, name: 'INCR', action: { kind: 'cut-before-reply' } })

    const client = new Redis({ host: proxy.host, port: proxy.port, ...quiet })
    client.on('error', () => {})
    ends.push(() => client.disconnect())
    await client.connect()
    expect(await client.incr(key)).toBe(1)
    await expect(client.incr(key)).rejects.toThrow(/closed|ECONNRESET|max retries/i)
    await cut.struck

    const direct = new Redis(url.href)
    ends.push(() => direct.quit())
    expect(await direct.get(key)).toBe('2')
    await direct.del(key)
  })

  it('stays half-open: the command neither succeeds nor fails until the client gives up', async () => {
    const url = new URL(await sharedRedisUrl())
    const proxy = await createCuttingProxy({ target: { host: url.hostname, port: Number(url.port) }, framing: 'resp' })
    ends.push(() => proxy.close())
    const client = new Redis({ host: proxy.host, port: proxy.port, ...quiet, commandTimeout: 300 })
    client.on('error', () => {})
    ends.push(() => client.disconnect())
    await client.connect()
    proxy.silence()
    const from = performance.now()
    await expect(client.ping()).rejects.toThrow(/timed out/i)
    expect(performance.now() - from).toBeGreaterThanOrEqual(290)
    expect(proxy.connections()[0]).toMatchObject({ open: true })
  })
})
