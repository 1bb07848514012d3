import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { sharedRedisUrl, startRedis } from '@tidemark/testkit/service'
import type { RedisServer, RedisServerOptions } from '@tidemark/testkit/service'

const open: RedisServer[] = []
const start = async (options?: RedisServerOptions): Promise<RedisServer> => {
  const server = await startRedis(options)
  open.push(server)
  return server
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

/** One inline command on a fresh connection; the first chunk of the answer, or why there was none. */
function ask(port: number, line: string, timeoutMs = 2_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const finish = (text: string): void => {
      socket.destroy()
      resolve(text)
    }
    socket.setTimeout(timeoutMs, () => finish('silence'))
    socket.once('error', (error) => finish(error.message))
    socket.once('connect', () => socket.write(`${line}\r\n`))
    socket.once('data', (data) => finish(data.toString().trim()))
  })
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('startRedis', () => {
  it('answers PING, takes configuration, and leaves nothing behind when closed', async () => {
    const server = await start({ config: { maxmemory: '8mb', 'maxmemory-policy': 'allkeys-lru' } })
    expect(await ask(server.port, 'PING')).toBe('+PONG')
    expect(await ask(server.port, 'CONFIG GET maxmemory-policy')).toContain('allkeys-lru')
    const pid = server.pid()
    await server.close()
    expect(isAlive(pid)).toBe(false)
    expect(existsSync(server.dataDirectory)).toBe(false)
  })

  it('keeps port and append-only data over SIGKILL and restart, and comes back empty when asked to', async () => {
    const server = await start({ config: { appendonly: 'yes', appendfsync: 'always' } })
    expect(await ask(server.port, 'SET k v')).toBe('+OK')
    const pid = server.pid()
    await server.kill()
    expect(server.state()).toBe('dead')
    expect(await ask(server.port, 'PING')).toContain('ECONNREFUSED')
    await server.restart()
    expect(server.pid()).not.toBe(pid)
    expect(await ask(server.port, 'GET k')).toContain('v')
    await server.restart({ wipeData: true })
    expect(await ask(server.port, 'GET k')).toBe('$-1')
  })

  it('is silent, not closed, while paused', async () => {
    const server = await start()
    server.pause()
    expect(await ask(server.port, 'PING', 300)).toBe('silence')
    server.resume()
    expect(await ask(server.port, 'PING')).toBe('+PONG')
  })

  it('demands the password and the ACL it was given', async () => {
    const secret = await start({ password: 'open "sesame"' })
    expect(await ask(secret.port, 'GET k')).toContain('NOAUTH')
    const limited = await start({ aclLines: ['user default off', 'user reader on >pw ~* +@read +auth'] })
    expect(await ask(limited.port, 'GET k')).toContain('NOAUTH')
    expect(await ask(limited.port, 'AUTH reader pw')).toBe('+OK')
  })

  it('says why when the configuration is wrong', async () => {
    await expect(start({ config: { 'maxmemory-policy': 'nonsense' } })).rejects.toMatchObject({
      code: 'TM_SERVICE_DIED',
      message: expect.stringContaining('nonsense'),
    })
  })

  it('dies with the process that started it, even by SIGKILL, and its directory goes too', async () => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--conditions=@tidemark/source', `${import.meta.dirname}/start-and-hang.ts`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const [text] = (await new Promise<[Buffer]>((resolve) => child.stdout.once('data', (data) => resolve([data])))) as [
      Buffer,
    ]
    const { pid, port, directory } = JSON.parse(text.toString()) as { pid: number; port: number; directory: string }
    expect(await ask(port, 'PING')).toBe('+PONG')
    child.kill('SIGKILL')
    for (let tries = 0; tries < 100 && (isAlive(pid) || existsSync(directory)); tries += 1) await sleep(50)
    expect(isAlive(pid)).toBe(false)
    expect(existsSync(directory)).toBe(false)
  })
})

describe('the shared Redis', () => {
  it('is one for all askers of a run', async () => {
    const [first, second] = await Promise.all([sharedRedisUrl(), sharedRedisUrl()])
    expect(second).toBe(first)
    expect(new URL(first).protocol).toMatch(/^rediss?:$/)
  })
})
