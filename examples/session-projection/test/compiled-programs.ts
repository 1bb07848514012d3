import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'tsup'

/** The programs of the example as plain JavaScript, so that a test can start them hundreds of times. */
export interface CompiledPrograms {
  readonly projector: string
  readonly producer: string
  readonly recompute: string
  remove(): void
}

const example = dirname(import.meta.dirname)

/** Compiles the programs with the library's sources into a folder of this process, inside the example for its packages. */
export async function compilePrograms(): Promise<CompiledPrograms> {
  const parent = join(example, '.tmp')
  mkdirSync(parent, { recursive: true })
  const outDir = mkdtempSync(join(parent, 'programs-'))
  const entry = Object.fromEntries(
    ['projector', 'producer', 'recompute'].map((name) => [name, join(example, 'src', `${name}.ts`)]),
  )
  await build({
    entry,
    outDir,
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    // The library comes in as source; its clients stay packages, whatever folder the test was started in.
    noExternal: [/^@tidemark\//],
    external: [
      '@confluentinc/kafka-javascript',
      '@opentelemetry/api',
      '@platformatic/kafka',
      'fastify',
      'ioredis',
      'pino',
      'prom-client',
    ],
    esbuildOptions: (options) => {
      options.conditions = ['@tidemark/source']
      options.absWorkingDir = example
    },
    config: false,
    silent: true,
    clean: false,
  })
  const script = (name: string): string => join(outDir, `${name}.js`)
  return {
    projector: script('projector'),
    producer: script('producer'),
    recompute: script('recompute'),
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  }
}
