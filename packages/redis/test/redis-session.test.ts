import type { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { createRedisSession } from '../src/connection/redis-session.ts'
import type { SafeRedisSource } from '../src/connection/safe-redis.ts'

const info = ['run_id:r', 'master_replid:m', 'role:master', 'loading:0', 'maxmemory_policy:noeviction'].join('\r\n')

/** A source whose connections open late; every client it made is in `clients`. */
function lateSource(opensAfterMs: number, commandDeadlineMs: number): SafeRedisSource & { readonly closed: string[] } {
  const closed: string[] = []
  const newClient = (): Redis =>
    ({
      on: () => undefined,
      connect: () => new Promise<void>((resolve) => void setTimeout(resolve, opensAfterMs)),
      disconnect: () => void closed.push('disconnected'),
      call: async () => ['appendfsync', 'no'],
      pipeline: () => ({
        call: () => undefined,
        exec: async () => [
          [null, info],
          [null, 'id=1 db=0 user=default'],
        ],
      }),
    }) as unknown as Redis
  return {
    address: 'late:1',
    database: 0,
    commandDeadlineMs,
    connectTimeoutMs: 5_000,
    newClient,
    redact: (text) => text,
    closed,
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

describe('a session', () => {
  it('[RED-2] work whose caller was told of a time-out is not begun once the connection opens at last', async () => {
    const session = createRedisSession(lateSource(120, 30))
    let begun = 0
    const work = async (): Promise<string> => {
      begun += 1
      return 'done'
    }
    await expect(session.run('advance', work)).rejects.toMatchObject({ code: 'TM_REDIS_TIMEOUT' })
    await pause(250)
    expect(begun).toBe(0)
    // The late connection is sound, and serves whoever asks next.
    expect(await session.run('read', work)).toBe('done')
    await session.close()
  })

  it('[RED-2] a connection that opens after the close is dropped, and what waited for it is not begun', async () => {
    const source = lateSource(60, 2_000)
    const session = createRedisSession(source)
    let begun = 0
    const running = session.run('claim', async () => {
      begun += 1
    })
    await Promise.all([session.close(), expect(running).rejects.toMatchObject({ code: 'TM_REDIS_CLOSED' })])
    expect(source.closed).toEqual(['disconnected'])
    expect(begun).toBe(0)
    await expect(session.run('read', async () => 'again')).rejects.toMatchObject({ code: 'TM_REDIS_CLOSED' })
  })
})
