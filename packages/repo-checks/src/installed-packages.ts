import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { PackedPackage } from './packed-package.ts'
import { root } from './workspace.ts'
import type { WorkspacePackage } from './workspace.ts'

const run = promisify(execFile)

/** How a specifier loaded in a process of its own: the names it exports, or why it did not. */
export interface LoadedEntry {
  readonly imported: readonly string[]
  readonly required: readonly string[]
  /** Whether both ways gave the same values, so that a class is one class. */
  readonly same: boolean
  /** The code or message of what was thrown. */
  readonly error?: string
}

/** Where the workspace holds what packages depend on from elsewhere: a project without a network has it from there. */
export function dependenciesFromElsewhere(packages: readonly WorkspacePackage[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { folder, manifest } of packages) {
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (!name.startsWith('@tidemark/')) found[name] = realpathSync(join(root, folder, 'node_modules', name))
    }
  }
  return found
}

/**
 * Installs tarballs into a new project with npm, without a network and without the peers.
 *
 * Throws: whatever npm says when a tarball asks for something that neither another tarball nor `elsewhere` brings.
 */
export async function installTarballs(
  folder: string,
  packed: readonly PackedPackage[],
  elsewhere: Readonly<Record<string, string>> = {},
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const files = [...packed.map(({ name, tarball }) => [name, tarball] as const), ...Object.entries(elsewhere)]
  const dependencies = Object.fromEntries(files.map(([name, file]) => [name, `file:${file}`]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, dependencies }))
  const flags = ['--offline', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  const cache = ['--cache', join(folder, '.npm')]
  await run('npm', ['install', ...flags, ...cache], { cwd: folder, timeout: 120_000, env: plainEnvironment() })
}

/** Gives the project the peers of a package, as the workspace has them. */
export function linkPeers(folder: string, pack: WorkspacePackage): void {
  for (const name of Object.keys(pack.manifest.peerDependencies ?? {})) {
    const target = join(folder, 'node_modules', name)
    // Another package of the project may have the same peer.
    if (existsSync(target)) continue
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(realpathSync(join(root, pack.folder, 'node_modules', name)), target)
  }
}

const loader = `
const { createRequire } = require('node:module')
const load = createRequire(process.cwd() + '/consumer.cjs')
const main = async () => {
  const answer = {}
  for (const specifier of process.argv.slice(1)) {
    try {
      const imported = await import(load.resolve(specifier))
      const required = load(specifier)
      const same = Object.keys(imported).every((name) => imported[name] === required[name])
      answer[specifier] = { imported: Object.keys(imported).sort(), required: Object.keys(required).sort(), same }
    } catch (error) {
      answer[specifier] = { imported: [], required: [], same: false, error: String(error.code ?? error.message) }
    }
  }
  console.log(JSON.stringify(answer))
}
main()
`

/** Loads entries in a project, by `import()` and by `require()`, in one plain Node process. */
export async function loadEntries(
  folder: string,
  specifiers: readonly string[],
): Promise<Readonly<Record<string, LoadedEntry>>> {
  const args = ['--no-warnings', '--input-type=commonjs', '--eval', loader, '--', ...specifiers]
  const { stdout } = await run(process.execPath, args, { cwd: folder, timeout: 60_000, env: plainEnvironment() })
  return JSON.parse(stdout) as Record<string, LoadedEntry>
}

/** What the test runner and npm left in the environment is none of a consumer's. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(?:npm_|NODE_|VITEST|TIDEMARK_)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}
