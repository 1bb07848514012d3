import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'tsup'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/** A module that reads a WebAssembly file from beside itself stays where it is, in the folder of its client. */
const wasmInPlace: Plugin = {
  name: 'wasm-in-place',
  setup(builder) {
    builder.onResolve({ filter: /^@platformatic\/wasm-utils$/ }, ({ path, importer }) => ({
      path: createRequire(importer).resolve(path),
      external: true,
    }))
  },
}

/** The programs of the example as plain JavaScript, so that a test can start them hundreds of times. */
export interface CompiledPrograms {
  readonly projector: string
  readonly producer: string
  readonly recompute: string
  remove(): void
}

const example = dirname(import.meta.dirname)

/** What clients load where it is there, and do without elsewhere. */
const optionalClients = ['@node-rs/crc32', 'pg-native', 'protobufjs']

/** What CommonJS modules expect to find, inside an ES module. */
const commonJsNames = [
  `import { createRequire as requireOf } from 'node:module'`,
  `import { dirname as folderOf } from 'node:path'`,
  `import { fileURLToPath as pathOf } from 'node:url'`,
  'const require = requireOf(import.meta.url), __filename = pathOf(import.meta.url), __dirname = folderOf(__filename)',
].join('\n')

/** Compiles the programs with all they are made of into a folder of this process, inside the example for its packages. */
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
    // Everything comes in, also most clients: hundreds of modules would take most of the start of every process. What stays
    // outside loads a native library or a WebAssembly file from beside itself.
    noExternal: [/^(?!@confluentinc\/kafka-javascript|@electric-sql\/pglite|node:)/],
    external: ['@confluentinc/kafka-javascript', '@electric-sql/pglite', ...optionalClients],
    banner: { js: commonJsNames },
    esbuildPlugins: [wasmInPlace],
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
