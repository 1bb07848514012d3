import { spawn } from 'node:child_process'

/** How a program ended. */
export interface ProgramRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly tookMs: number
}

/** Runs a compiled program to its end; one that does not end in time is killed, and has no exit code. */
export async function runProgram(
  script: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly deadlineMs: number },
): Promise<ProgramRun> {
  const startedAt = performance.now()
  // None of the addresses of the run around it: the program gets exactly what the test says.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:KAFKA|REDIS|SESSION|TIDEMARK)_/.test(name))
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(inherited), ...options.env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const timer = setTimeout(() => child.kill('SIGKILL'), options.deadlineMs)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  clearTimeout(timer)
  return { code, stdout, stderr, tookMs: performance.now() - startedAt }
}
