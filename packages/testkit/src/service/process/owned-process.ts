import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceErrors } from '../errors.ts'

/** What to run, and where it keeps its files. */
export interface OwnedProcessOptions {
  /** How errors name it, for example `redis-server 127.0.0.1:40001`. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** A private directory; it is removed when the process that owns it dies, and on `remove`. */
  readonly directory: string
  readonly env?: Readonly<Record<string, string>>
  /** How long a polite stop may take before SIGKILL. */
  readonly stopTimeoutMs?: number
  /** The polite signal; SIGTERM unless said. */
  readonly stopSignal?: NodeJS.Signals
  /** Whom to run it as; needs to be root. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/** Where a started server is in its life. */
export type ProcessState = 'running' | 'paused' | 'dead'

/** One server process that is ended by its id, whatever happens to the process that started it. */
export interface OwnedProcess {
  readonly pid: number
  state(): ProcessState
  /** How it ended, once it has. */
  exit(): string | undefined
  /** The last lines it printed, for an error message. */
  logTail(): string
  /** SIGSTOP: the socket stays open, nothing answers. */
  pause(): void
  resume(): void
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>
  /** The polite signal, then SIGKILL after the time-out; waits until it is gone. */
  stop(): Promise<void>
}

/** The end of a log, small enough for an error message. */
export function logTailOf(file: string, bytesMax: number = 2_000): string {
  try {
    const text = readFileSync(file, 'utf8').trim()
    return text === '' ? '' : `\n${text.slice(-bytesMax)}`
  } catch {
    return ''
  }
}

/**
 * Starts a server whose output goes to `<directory>/log`.
 *
 * Promises: no orphan. A shell holds a pipe from this process; when the pipe closes, even by SIGKILL of this process, it
 * kills the server by id and removes its directory.
 * Throws: TM_SERVICE_DIED when the command cannot be run at all.
 */
export async function startOwnedProcess(options: OwnedProcessOptions): Promise<OwnedProcess> {
  const logFile = join(options.directory, 'log')
  const log = openSync(logFile, 'a')
  const child = spawn(options.command, options.args, {
    cwd: options.directory,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', log, log],
    ...options.user,
  })
  closeSync(log)
  await spawned(child, options.name)
  const pid = child.pid as number
  const watchdog = startWatchdog(pid, options.directory)
  let state: ProcessState = 'running'
  let exit: string | undefined
  const gone = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      state = 'dead'
      exit = signal ?? `exit code ${code}`
      watchdog.kill('SIGKILL')
      watchdog.stdin?.destroy()
      resolve()
    })
  })
  const invalid = (action: string): Error =>
    serviceErrors.create('TM_SERVICE_STATE_INVALID', { service: options.name, action, state })

  const kill = async (): Promise<void> => {
    if (state === 'dead') return
    child.kill('SIGKILL')
    await gone
  }
  return {
    pid,
    state: () => state,
    exit: () => exit,
    logTail: () => logTailOf(logFile),
    pause() {
      if (state !== 'running') throw invalid('pause')
      child.kill('SIGSTOP')
      state = 'paused'
    },
    resume() {
      if (state !== 'paused') throw invalid('resume')
      child.kill('SIGCONT')
      state = 'running'
    },
    kill,
    async stop() {
      if (state === 'dead') return
      // A stopped process would keep the polite signal pending for ever.
      if (state === 'paused') child.kill('SIGCONT')
      child.kill(options.stopSignal ?? 'SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), options.stopTimeoutMs ?? 5_000)
      await gone
      clearTimeout(timer)
    },
  }
}

function spawned(child: ChildProcess, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (cause) => {
      reject(serviceErrors.create('TM_SERVICE_DIED', { service: name, exit: cause.message, log: '' }, { cause }))
    })
  })
}

/** Its own process group: Ctrl-C on a terminal must not end the one that cleans up. */
function startWatchdog(pid: number, directory: string): ChildProcess {
  // `read` is built into the shell: nothing of the watchdog outlives its own SIGKILL.
  const script = 'read -r _; kill -9 "$1" 2>/dev/null; sleep 0.2; rm -rf "$2"'
  const watchdog = spawn('/bin/sh', ['-c', script, 'sh', String(pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watchdog.once('error', () => {
    throw new Error(`no /bin/sh to watch over process ${pid}`)
  })
  watchdog.unref()
  // The pipe must live as long as this process, yet not keep it alive.
  const pipe = watchdog.stdin as unknown as { unref?: () => void; on(event: 'error', listener: () => void): void }
  pipe.on('error', () => {})
  pipe.unref?.()
  return watchdog
}
