import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'tsup'

/** A compiled program, ready to be run by Node alone. */
export interface CompiledProgram {
  readonly file: string
  remove(): void
}

/**
 * A source of the bench and the packages it takes as one plain JavaScript file, in a folder of this process.
 *
 * Compiled with what the packages are built with, and as they are: what runs sources directly adds a call to every function
 * within a function to keep its name, which nobody who installed the packages pays for.
 */
export async function compileProgram(source: string): Promise<CompiledProgram> {
  const home = dirname(dirname(import.meta.dirname))
  mkdirSync(join(home, '.tmp'), { recursive: true })
  const outDir = mkdtempSync(join(home, '.tmp', 'bench-'))
  const remove = (): void => rmSync(outDir, { recursive: true, force: true })
  const name = basename(source, '.ts')
  try {
    await build({
      entry: { [name]: source },
      outDir,
      format: ['esm'],
      target: 'node20',
      platform: 'node',
      noExternal: [/^@tidemark\//],
      external: ['@confluentinc/kafka-javascript', '@platformatic/kafka', 'ioredis'],
      esbuildOptions: (options) => {
        options.conditions = ['@tidemark/source']
        options.absWorkingDir = home
      },
      config: false,
      silent: true,
      clean: false,
    })
  } catch (error) {
    remove()
    throw error
  }
  return { file: join(outDir, `${name}.js`), remove }
}
