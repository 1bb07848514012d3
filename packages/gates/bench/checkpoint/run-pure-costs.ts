import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { compileProgram } from './compile-program.ts'

/**
 * Measures the pure metrics of a command line in a compiled process, which prints its results itself.
 *
 * @throws {Error} when the process fails.
 */
export async function runPureCosts(args: readonly string[]): Promise<void> {
  const program = await compileProgram(join(import.meta.dirname, 'pure-costs-process.ts'))
  try {
    const child = spawn(process.execPath, [program.file, ...args], { stdio: ['ignore', 'inherit', 'inherit'] })
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (code !== 0) throw new Error(`the costs of pure code ended with ${String(code)}`)
  } finally {
    program.remove()
  }
}
