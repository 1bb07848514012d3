import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { compileProgram } from './compile-program.ts'
import type { Place } from './contenders.ts'

/** Which contender runs as a process. */
export type ChildKind = 'ours' | 'none' | 'set' | 'read'

/** What a process tells, line by line. */
export type ChildLine =
  | { readonly start: readonly number[] }
  | { readonly startOf: readonly [partition: number, offset: number] }
  | { readonly done: readonly [partition: number, next: number] }
  | { readonly logged: string }
  | { readonly end: { readonly ms: number; readonly rssMegabytes: number } }

/** The contenders as one plain JavaScript program, so that neither memory nor starting time is the compiler's. */
export interface ChildProgram {
  start(kind: ChildKind, place: Place, batch: number, records: number, onLine: (line: ChildLine) => void): ChildRun
  remove(): void
}

/** One run of a process. */
export interface ChildRun {
  kill(): void
  /** 0 when everything was taken in. */
  readonly exit: Promise<{ readonly code: number | null; readonly errors: string }>
}

/** Compiles the program into a folder of this process. */
export async function compileChildProgram(): Promise<ChildProgram> {
  const program = await compileProgram(join(import.meta.dirname, 'contender-process.ts'))
  const running = new Set<ChildProcess>()
  // A process that outlived an interrupted bench would go on writing.
  process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))
  return {
    start(kind, place, batch, records, onLine) {
      const { brokers, redisUrl, topic, partitions } = place
      const args = [kind, brokers.join(','), redisUrl, topic, partitions, batch, records].map(String)
      const child = spawn(process.execPath, [program.file, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      running.add(child)
      let errors = ''
      child.stderr.on('data', (data: Buffer) => (errors = (errors + data.toString()).slice(-2_000)))
      createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line) as ChildLine))
      const exit = new Promise<{ code: number | null; errors: string }>((resolve) => {
        child.once('close', (code) => {
          running.delete(child)
          resolve({ code, errors })
        })
      })
      return { kill: () => void child.kill('SIGKILL'), exit }
    },
    remove: () => program.remove(),
  }
}
