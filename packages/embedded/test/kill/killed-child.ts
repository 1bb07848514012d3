import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The lines a program printed before it was killed. The kill comes a while after its first line. */
export async function linesUntilKilled(program: string, args: readonly string[], afterMs: number): Promise<string[]> {
  const file = join(import.meta.dirname, program)
  const child = spawn(process.execPath, ['--conditions=@tidemark/source', '--import', 'tsx', file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: join(import.meta.dirname, '../../../..'),
  })
  let [out, err] = ['', '']
  let timer: NodeJS.Timeout | undefined
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const giveUp = setTimeout(() => child.kill('SIGKILL'), 60_000)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(giveUp)
  if (signal !== 'SIGKILL' || out === '')
    throw new Error(`${program} ended with ${code ?? signal}: ${err.slice(0, 2_000)}`)
  // The last line may be cut; what was not printed whole was not told to anybody.
  return out.split('\n').slice(0, -1)
}
