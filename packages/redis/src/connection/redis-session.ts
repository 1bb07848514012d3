import { redisErrors } from '../errors.ts'
import { openRedisLink } from './redis-link.ts'
import type { RedisLink } from './redis-link.ts'
import type { SafeRedisSource } from './safe-redis.ts'

/**
 * One connection at a time: opened on demand, dropped when lost, never repaired.
 *
 * Every call settles within the deadline of the source, whatever the network does. Promises: RED-2.
 */
export interface RedisSession {
  /** Does work on the current connection, within `deadlineMs` if less is left. All of it runs on that one link, or rejects. */
  run<T>(operation: string, work: (link: RedisLink) => Promise<T>, deadlineMs?: number): Promise<T>
  /** Drops the connection; later calls reject with TM_REDIS_CLOSED. May be called again. */
  close(): Promise<void>
}

/** A session on connections of a source. */
export function createRedisSession(source: SafeRedisSource): RedisSession {
  return openedSession(source, () => openRedisLink(source, 'standalone'))
}

/** A session on whatever is opened by a function. */
export function openedSession(
  source: Pick<SafeRedisSource, 'address' | 'commandDeadlineMs'>,
  open: () => Promise<RedisLink>,
): RedisSession {
  return new Session(source, open)
}

class Session implements RedisSession {
  readonly #source: Pick<SafeRedisSource, 'address' | 'commandDeadlineMs'>
  readonly #open: () => Promise<RedisLink>
  #link: RedisLink | undefined
  #opening: Promise<RedisLink> | undefined
  #closed = false

  constructor(source: Pick<SafeRedisSource, 'address' | 'commandDeadlineMs'>, open: () => Promise<RedisLink>) {
    this.#source = source
    this.#open = open
  }

  run<T>(
    operation: string,
    work: (link: RedisLink) => Promise<T>,
    deadlineMs: number = this.#source.commandDeadlineMs,
  ): Promise<T> {
    const { address } = this.#source
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(redisErrors.create('TM_REDIS_CLOSED', { operation }))
      let used: RedisLink | undefined
      let isExpired = false
      const timer = setTimeout(() => {
        isExpired = true
        reject(redisErrors.create('TM_REDIS_TIMEOUT', { address, operation, deadlineMs }))
        // Late answers must not be taken for answers to later calls, and what is still queued must not be sent.
        ;(used ?? this.#link)?.destroy()
      }, deadlineMs)
      const settle = (finish: () => void): void => {
        clearTimeout(timer)
        finish()
      }
      this.#current()
        .then((link) => {
          used = link
          // The caller was told that the call failed, or that the store is closed; starting its work this late would
          // write behind its back.
          if (isExpired || this.#closed) throw redisErrors.create('TM_REDIS_CLOSED', { operation })
          return work(link)
        })
        .then(
          (value) => settle(() => resolve(value)),
          (error: unknown) => settle(() => reject(error as Error)),
        )
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const opening = this.#opening
    this.#link?.destroy()
    this.#link = undefined
    // A connection that is just being opened must not outlive the store.
    await opening?.then(
      (link) => link.destroy(),
      () => undefined,
    )
  }

  /** The open link, or the one being opened: callers at the same time share it. */
  #current(): Promise<RedisLink> {
    if (this.#link !== undefined && !this.#link.isLost) return Promise.resolve(this.#link)
    this.#link = undefined
    this.#opening ??= this.#open()
      .then((link) => {
        if (!this.#closed) this.#link = link
        return link
      })
      .finally(() => void (this.#opening = undefined))
    return this.#opening
  }
}
