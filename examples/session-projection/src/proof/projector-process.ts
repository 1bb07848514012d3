import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** One line of the projector's log. */
export interface LogLine {
  readonly msg: string
  readonly level: number
  readonly [field: string]: unknown
}

/** How a projector ended. */
export interface ProjectorExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A projector running as a process of its own. */
export interface ProjectorProcess {
  readonly pid: number
  readonly lines: readonly LogLine[]
  readonly exited: Promise<ProjectorExit>
  stderr(): string
  /** The first line that fits, also a past one; fails when the process ends or the time is over without it. */
  line(what: string, fits: (line: LogLine) => boolean, deadlineMs: number): Promise<LogLine>
  /** The address it listens on. */
  url(deadlineMs: number): Promise<string>
  signal(signal: NodeJS.Signals): void
}

/** How to start one. */
export interface ProjectorProcessOptions {
  /** The program, TypeScript or compiled; it gets the same loader flags as this process. */
  readonly script: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly onLine?: (line: LogLine) => void
}

const outputCharactersMax = 100_000
const linesMax = 20_000

/** Starts a projector; it never outlives an orderly end of this process. */
export function startProjectorProcess(options: ProjectorProcessOptions): ProjectorProcess {
  const flags = options.script.endsWith('.ts') ? loaderFlags() : []
  const child = spawn(process.execPath, [...flags, options.script, ...options.args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  })
  const lines: LogLine[] = []
  const waiting = new Set<() => void>()
  let [errors, over] = ['', false]
  const changed = (): void => [...waiting].forEach((look) => look())
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = parseLine(text)
    lines.push(line)
    if (lines.length > linesMax) lines.shift()
    options.onLine?.(line)
    changed()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-outputCharactersMax)
  })
  const endWithParent = (): void => void child.kill('SIGKILL')
  process.once('exit', endWithParent)
  const exited = new Promise<ProjectorExit>((resolve, reject) => {
    child.once('error', reject)
    // After "close", unlike "exit", everything the process wrote has been read.
    child.once('close', (code, signal) => {
      process.removeListener('exit', endWithParent)
      over = true
      resolve({ code, signal })
      changed()
    })
  })
  const line: ProjectorProcess['line'] = (what, fits, deadlineMs) =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer)
        waiting.delete(look)
        act()
      }
      const look = (): void => {
        const found = lines.find(fits)
        if (found !== undefined) settle(() => resolve(found))
        else if (over)
          settle(() => reject(new Error(`the projector ended before it was ${what}: ${tail(lines, errors)}`)))
      }
      const late = (): void => {
        settle(() => reject(new Error(`the projector was not ${what} within ${deadlineMs} ms: ${tail(lines, errors)}`)))
      }
      const timer = setTimeout(late, deadlineMs)
      waiting.add(look)
      look()
    })
  return {
    pid: child.pid ?? -1,
    lines,
    exited,
    stderr: () => errors,
    line,
    async url(deadlineMs) {
      return String((await line('listening', ({ url }) => typeof url === 'string', deadlineMs))['url'])
    },
    signal: (signal) => void child.kill(signal),
  }
}

/** How this process loads TypeScript: the same flags do for its children. */
function loaderFlags(): readonly string[] {
  return process.execArgv.length > 0 ? process.execArgv : ['--import', 'tsx', '--conditions=@tidemark/source']
}

function parseLine(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return { msg: text, level: 0 }
  }
}

function tail(lines: readonly LogLine[], errors: string): string {
  const last = lines.slice(-5).map(({ msg }) => msg)
  return `${last.join(' | ')} ${errors.slice(-500)}`.trim()
}
