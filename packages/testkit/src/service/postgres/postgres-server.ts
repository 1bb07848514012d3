import { spawn } from 'node:child_process'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceErrors } from '../errors.ts'
import { freePorts } from '../process/free-port.ts'
import { startOwnedProcess } from '../process/owned-process.ts'
import type { ProcessState } from '../process/owned-process.ts'
import { OwnedServer } from '../process/owned-server.ts'
import { makePrivateDirectory, removePrivateDirectory } from '../process/private-directory.ts'
import { waitUntilReady } from '../process/wait-until-ready.ts'
import { childProcesses, signalAll, waitUntilGone } from './child-processes.ts'
import { findPostgres, postgresRemedy, serverUser } from './postgres-binaries.ts'
import type { PostgresBinaries } from './postgres-binaries.ts'
import { probePostgres } from './postgres-readiness.ts'

/** How a Postgres of one's own is configured. */
export interface PostgresServerOptions {
  /** Settings by name, for example `{ synchronous_commit: 'off' }`; they win over the defaults. */
  readonly config?: Readonly<Record<string, string>>
  /** Asks every client for this password of the user `postgres`; without it everybody is let in. */
  readonly password?: string
  readonly readyTimeoutMs?: number
}

/** What a restart may change; by default nothing. */
export interface PostgresRestartOptions {
  /** Settings that win over the earlier ones, from this start on. */
  readonly config?: Readonly<Record<string, string>>
  /** Create the cluster anew first: a server that comes back empty, with another system identifier. */
  readonly wipeData?: boolean
  /** Start as a standby that has no primary: it recovers for ever and takes no writes. */
  readonly standby?: boolean
}

/** A Postgres server of one's own on 127.0.0.1. Tests that change settings or kill it must use one of these, never the shared one. */
export interface PostgresServer {
  readonly host: string
  readonly port: number
  /** As the superuser `postgres` on the database `postgres`, without a password. */
  readonly url: string
  readonly dataDirectory: string
  /** Changes with every restart. */
  pid(): number
  state(): ProcessState
  logTail(): string
  /** SIGSTOP to all of its processes: connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** SIGKILL: a crash; the next start recovers. */
  kill(): Promise<void>
  /** A fast shutdown: connections are ended, the files are whole. */
  stop(): Promise<void>
  /** Starts it again (ending it first if it runs) on the same port and directory; resolves when it takes connections. */
  restart(options?: PostgresRestartOptions): Promise<void>
  /** Ends it and removes its directory. May be called again. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The settings of one server.
 *
 * Promises: listens on 127.0.0.1 only, on no socket of the file system; small, since several run on one machine.
 */
export function postgresSettings(port: number, options: PostgresServerOptions): Readonly<Record<string, string>> {
  return {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '60',
    shared_buffers: '32MB',
    // Tests that are about a crash of the machine do not exist; a process that is killed keeps what the system has.
    fsync: 'off',
    full_page_writes: 'off',
    autovacuum_naptime: '10s',
    log_min_messages: 'warning',
    ...options.config,
  }
}

/**
 * Starts a local `postgres` with a private cluster and a free port. As root it runs as the user `postgres` or `nobody`.
 *
 * Throws: TM_SERVICE_UNAVAILABLE without the programs, TM_SERVICE_DIED on a bad setting, TM_SERVICE_NOT_READY.
 */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const binaries = findPostgres()
  const user = serverUser()
  const asRoot = process.getuid?.() === 0
  if (binaries === undefined || (asRoot && user === undefined)) {
    const tried = binaries === undefined ? 'no postgres and initdb' : 'no user to run it as, and root is refused'
    throw serviceErrors.create('TM_SERVICE_UNAVAILABLE', {
      service: 'Postgres',
      tried: [tried],
      remedy: postgresRemedy,
    })
  }
  const [port] = (await freePorts(1)) as [number]
  const directory = makePrivateDirectory('postgres')
  if (user !== undefined) chownSync(directory, user.uid, user.gid)
  try {
    const server = new LocalPostgres(binaries, port, directory, options)
    await server.restart({ wipeData: true })
    return server
  } catch (error) {
    removePrivateDirectory(directory)
    throw error
  }
}

class LocalPostgres extends OwnedServer implements PostgresServer {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly url: string
  readonly dataDirectory: string
  readonly #directory: string
  readonly #binaries: PostgresBinaries
  readonly #user = serverUser()
  #options: PostgresServerOptions

  constructor(binaries: PostgresBinaries, port: number, directory: string, options: PostgresServerOptions) {
    super('Postgres')
    this.#binaries = binaries
    this.port = port
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`
    this.#directory = directory
    this.dataDirectory = join(directory, 'data')
    this.#options = options
  }

  override pause(): void {
    const { pid } = this.started()
    // The one that starts others first, so that none is missed.
    super.pause()
    signalAll(childProcesses(pid), 'SIGSTOP')
  }

  override resume(): void {
    const { pid } = this.started()
    signalAll(childProcesses(pid), 'SIGCONT')
    super.resume()
  }

  override async kill(): Promise<void> {
    if (this.process === undefined || this.state() === 'dead') return
    const children = childProcesses(this.process.pid)
    await this.process.kill()
    // Its processes end when they notice; until then a new server finds the shared memory in use.
    signalAll(children, 'SIGKILL')
    await waitUntilGone(children, 5_000)
  }

  override async stop(): Promise<void> {
    if (this.state() === 'paused') this.resume()
    await super.stop()
  }

  async restart(changes: PostgresRestartOptions = {}): Promise<void> {
    await this.stop()
    this.#options = { ...this.#options, config: { ...this.#options.config, ...changes.config } }
    if (changes.wipeData === true) await this.#createCluster()
    if (changes.standby !== undefined) this.#setStandby(changes.standby)
    const settings = Object.entries(postgresSettings(this.port, this.#options))
    const owned = await startOwnedProcess({
      name: `postgres 127.0.0.1:${this.port}`,
      command: this.#binaries.server,
      args: ['-D', this.dataDirectory, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      directory: this.#directory,
      // The polite signal of Postgres waits for its clients to leave.
      stopSignal: 'SIGINT',
      ...(this.#user === undefined ? {} : { user: this.#user }),
    })
    this.process = owned
    try {
      await waitUntilReady({
        service: 'Postgres',
        address: `127.0.0.1:${this.port}`,
        timeoutMs: this.#options.readyTimeoutMs ?? 30_000,
        probe: (timeoutMs) => probePostgres(this.host, this.port, timeoutMs),
        owned,
      })
    } catch (error) {
      await owned.kill()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.stop()
    removePrivateDirectory(this.#directory)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #createCluster(): Promise<void> {
    rmSync(this.dataDirectory, { recursive: true, force: true })
    const { password } = this.#options
    const auth =
      password === undefined ? ['--auth=trust'] : ['--auth=scram-sha-256', `--pwfile=${this.#passwordFile(password)}`]
    const args = [
      '-D',
      this.dataDirectory,
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
      ...auth,
    ]
    mkdirSync(this.#directory, { recursive: true })
    await runProgram(this.#binaries.initdb, args, this.#directory, this.#user)
  }

  #passwordFile(password: string): string {
    const file = join(this.#directory, 'password')
    writeFileSync(file, `${password}\n`, { mode: 0o600 })
    if (this.#user !== undefined) chownSync(file, this.#user.uid, this.#user.gid)
    return file
  }

  #setStandby(standby: boolean): void {
    const file = join(this.dataDirectory, 'standby.signal')
    if (!standby) return rmSync(file, { force: true })
    writeFileSync(file, '')
    if (this.#user !== undefined) chownSync(file, this.#user.uid, this.#user.gid)
  }
}

function runProgram(
  command: string,
  args: readonly string[],
  cwd: string,
  user: { readonly uid: number; readonly gid: number } | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], ...user })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => (output = `${output}${data}`.slice(-2_000)))
    const died = (exit: string): Error =>
      serviceErrors.create('TM_SERVICE_DIED', {
        service: 'initdb',
        exit,
        log: output === '' ? '' : `\n${output.trim()}`,
      })
    child.once('error', (error) => reject(died(error.message)))
    child.once('close', (code, signal) => (code === 0 ? resolve() : reject(died(signal ?? `exit code ${code}`))))
  })
}
