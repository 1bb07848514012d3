import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Ran } from './recorded-host.ts'

const root = join(import.meta.dirname, '../../..')
const program = join(import.meta.dirname, '../src/tidemark.ts')

/** How a command is run as a process of its own. */
export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Megabytes of heap it may have. */
  readonly heapMb?: number
  /** Called with everything standard error has said so far, whenever it says more. */
  readonly onStderr?: (text: string, child: ChildProcess) => void
}

/** Runs a command line as a user would, with nothing of this environment but what finding programs needs. */
export function runCommand(argv: readonly string[], options: ChildOptions = {}): Promise<Ran> {
  const heap = options.heapMb === undefined ? [] : [`--max-old-space-size=${options.heapMb}`]
  const args = [...heap, '--import', 'tsx', '--conditions=@tidemark/source', program, ...argv]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env['PATH'], ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
    options.onStderr?.(stderr, child)
  })
  // A process that does not end by itself is a fault of its own; it is ended here so that nothing stays behind.
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
  return new Promise((resolve) => {
    child.on('close', (exitCode) => {
      clearTimeout(timer)
      resolve({ exitCode: exitCode ?? -1, stdout, stderr })
    })
  })
}
