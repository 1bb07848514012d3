import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceErrors } from '../errors.ts'
import { findBinary } from '../process/find-binary.ts'
import { freePorts } from '../process/free-port.ts'
import { startOwnedProcess } from '../process/owned-process.ts'
import type { ProcessState } from '../process/owned-process.ts'
import { OwnedServer } from '../process/owned-server.ts'
import { makePrivateDirectory, removePrivateDirectory } from '../process/private-directory.ts'
import { probeRedis } from './redis-readiness.ts'
import { waitUntilReady } from '../process/wait-until-ready.ts'

/** How a Redis of one's own is configured. */
export interface RedisServerOptions {
  /**
   * Lines of redis.conf by directive, for example `{ maxmemory: '4mb', 'maxmemory-policy': 'noeviction' }`; values are
   * written as they are, an empty one as `""`. They win over the defaults (no snapshots, no append-only file).
   */
  readonly config?: Readonly<Record<string, string>>
  /** `requirepass`. */
  readonly password?: string
  /** Lines of an ACL file, for example `user reader on >secret ~* +@read`. */
  readonly aclLines?: readonly string[]
  /** Runs it as a sentinel: it watches primaries and keeps no data. */
  readonly isSentinel?: boolean
  readonly readyTimeoutMs?: number
}

/** What a restart may change; by default nothing. */
export interface RedisRestartOptions {
  /** Lines that win over the earlier ones, from this start on. */
  readonly config?: Readonly<Record<string, string>>
  /** Remove the data directory's contents first: a server that comes back empty. */
  readonly wipeData?: boolean
}

/** A Redis server of one's own on 127.0.0.1. Tests that change configuration or kill it must use one of these, never the shared one. */
export interface RedisServer {
  readonly host: string
  readonly port: number
  /** Without a password, also when the server demands one. */
  readonly url: string
  readonly dataDirectory: string
  /** Changes with every restart. */
  pid(): number
  state(): ProcessState
  logTail(): string
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** SIGKILL: what was not yet on disk is lost. */
  kill(): Promise<void>
  /** SIGTERM: an orderly end, the files stay. */
  stop(): Promise<void>
  /** Starts it again (ending it first if it runs) on the same port and directory; resolves when it answers PING. */
  restart(options?: RedisRestartOptions): Promise<void>
  /** Ends it and removes its directory. May be called again. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What to install when there is no `redis-server`. */
export const redisRemedy = 'install redis-server (Debian: apt-get install redis-server) or set REDIS_URL'

/**
 * redis.conf of one server.
 *
 * Promises: listens on 127.0.0.1 only; writes only into its own directory.
 */
export function redisConfig(port: number, directory: string, options: RedisServerOptions): string {
  const lines: Record<string, string> = {
    bind: '127.0.0.1',
    port: String(port),
    dir: directory,
    daemonize: 'no',
    save: '',
    appendonly: 'no',
    'protected-mode': 'no',
    loglevel: 'notice',
    ...(options.aclLines === undefined ? {} : { aclfile: join(directory, 'users.acl') }),
    ...(options.password === undefined ? {} : { requirepass: JSON.stringify(options.password) }),
    ...options.config,
  }
  return Object.entries(lines)
    .map(([directive, value]) => `${directive} ${value === '' ? '""' : value}\n`)
    .join('')
}

/**
 * Starts a local `redis-server` with a private directory and a free port.
 *
 * Throws: TM_SERVICE_UNAVAILABLE without the binary, TM_SERVICE_DIED on a bad configuration, TM_SERVICE_NOT_READY.
 */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const binary = findBinary('redis-server')
  if (binary === undefined) {
    const details = { service: 'Redis', tried: ['no redis-server on PATH'], remedy: redisRemedy }
    throw serviceErrors.create('TM_SERVICE_UNAVAILABLE', details)
  }
  const [port] = (await freePorts(1)) as [number]
  const directory = makePrivateDirectory('redis')
  try {
    const server = new LocalRedis(binary, port, directory, options)
    await server.restart()
    return server
  } catch (error) {
    removePrivateDirectory(directory)
    throw error
  }
}

class LocalRedis extends OwnedServer implements RedisServer {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly url: string
  readonly dataDirectory: string
  readonly #binary: string
  #options: RedisServerOptions

  constructor(binary: string, port: number, directory: string, options: RedisServerOptions) {
    super('Redis')
    this.#binary = binary
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.dataDirectory = directory
    this.#options = options
  }

  async restart(changes: RedisRestartOptions = {}): Promise<void> {
    await this.stop()
    this.#options = { ...this.#options, config: { ...this.#options.config, ...changes.config } }
    if (changes.wipeData === true) {
      for (const name of ['dump.rdb', 'appendonlydir', 'nodes.conf'])
        rmSync(join(this.dataDirectory, name), { recursive: true, force: true })
    }
    const configFile = join(this.dataDirectory, 'redis.conf')
    writeFileSync(configFile, redisConfig(this.port, this.dataDirectory, this.#options))
    if (this.#options.aclLines !== undefined) {
      writeFileSync(join(this.dataDirectory, 'users.acl'), this.#options.aclLines.map((line) => `${line}\n`).join(''))
    }
    const owned = await startOwnedProcess({
      name: `redis-server 127.0.0.1:${this.port}`,
      command: this.#binary,
      args: this.#options.isSentinel === true ? [configFile, '--sentinel'] : [configFile],
      directory: this.dataDirectory,
    })
    this.process = owned
    try {
      await waitUntilReady({
        service: 'Redis',
        address: `127.0.0.1:${this.port}`,
        timeoutMs: this.#options.readyTimeoutMs ?? 20_000,
        probe: (timeoutMs) => probeRedis(this.host, this.port, timeoutMs),
        owned,
      })
    } catch (error) {
      await owned.kill()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.stop()
    removePrivateDirectory(this.dataDirectory)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
