import { join } from 'node:path'
import { runTidemark } from '@tidemark/cli'
import type { CommandHost } from '@tidemark/cli'

/** What a command line of a test came to. */
export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** The module for --project. */
export const projectFile: string = join(import.meta.dirname, 'dispatch-project.ts')

/** Runs a command line in this process, with nothing of the environment but what is given. */
export async function tidemark(
  argv: readonly string[],
  more: Partial<Pick<CommandHost, 'env' | 'signal'>> & { readonly isTTY?: boolean } = {},
): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = (lines: string[]) => ({
    write: (text: string) => void lines.push(text),
    isTTY: more.isTTY === true,
    columns: undefined,
  })
  const exitCode = await runTidemark({
    argv,
    env: more.env ?? {},
    cwd: import.meta.dirname,
    stdout: terminal(out),
    stderr: terminal(err),
    signal: more.signal ?? new AbortController().signal,
  })
  return { exitCode, stdout: out.join(''), stderr: err.join('') }
}

/** The same with --json, the answer read. */
export async function tidemarkJson<T = Record<string, unknown>>(
  argv: readonly string[],
  more: Parameters<typeof tidemark>[1] = {},
): Promise<T> {
  const { stdout, exitCode } = await tidemark([...argv, '--json'], more)
  const report = JSON.parse(stdout) as T & { readonly exitCode: number }
  if (report.exitCode !== exitCode) throw new Error(`exit code ${exitCode}, the report says ${report.exitCode}`)
  return report
}
