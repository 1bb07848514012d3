import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import type { Package, Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { root } from './workspace.ts'
import type { Manifest } from './workspace.ts'

const run = promisify(execFile)
const pnpm = join(root, '.cache/pnpm/node_modules/pnpm/bin/pnpm.cjs')

/** A package as a registry would get it. */
export interface PackedPackage {
  readonly name: string
  /** The tarball's place. */
  readonly tarball: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * Packs what a folder holds: one package, or with `names` those packages of the workspace whose root it is.
 *
 * Cost: about a second and a half for each package.
 */
export async function packPackages(
  folder: string,
  destination: string,
  names: readonly string[] = [],
): Promise<readonly PackedPackage[]> {
  mkdirSync(destination, { recursive: true })
  const chosen = names.length === 0 ? [] : ['--recursive', ...names.flatMap((name) => ['--filter', name])]
  const args = [pnpm, ...chosen, 'pack', '--pack-destination', destination, '--json']
  const { stdout } = await run(process.execPath, args, { cwd: folder, maxBuffer: 16_000_000, timeout: 120_000 })
  const answer = JSON.parse(stdout) as { name: string; filename: string } | { name: string; filename: string }[]
  return [answer].flat().map(({ name, filename }) => {
    return { name, tarball: filename, bytes: new Uint8Array(readFileSync(filename)) }
  })
}

/** What publint says of a tarball, suggestions included. */
export async function publintFaults({ bytes }: PackedPackage): Promise<readonly string[]> {
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, level: 'suggestion', strict: true })
  return messages.map((message) => `${message.code}: ${formatMessage(message, pkg) ?? message.path.join('.')}`)
}

/**
 * How a consumer's compiler fails to find or read the types of a tarball.
 *
 * Order: resolution of Node 10 is left out, since the packages need a Node that knows exports maps. Of `require()` in a
 * CommonJS file only the note that it loads an ES module is expected: the supported Nodes do that.
 */
export async function typesFaults({ bytes }: PackedPackage): Promise<readonly string[]> {
  const result = await checkPackage(createPackageFromTarballData(bytes))
  if (result.types === false) return ['it ships no types']
  return result.problems.filter((problem) => !isExpected(problem)).map((problem) => JSON.stringify(problem))
}

function isExpected(problem: Problem): boolean {
  if (problem.kind === 'CJSResolvesToESM') return true
  return 'resolutionKind' in problem && problem.resolutionKind === 'node10'
}

/**
 * Where the exports map and the shipped files disagree, both ways.
 *
 * Shape: one sentence a fault: a target that is not shipped, a built file that no entry reaches, a source map that names a source
 * that is not shipped, a file that has no business in a tarball, a dependency range that only the workspace understands.
 */
export function fileFaults({ bytes }: PackedPackage): readonly string[] {
  const pack = createPackageFromTarballData(bytes)
  const home = `/node_modules/${pack.packageName}`
  const files = new Set(pack.listFiles().map((file) => file.slice(home.length + 1)))
  const manifest = JSON.parse(pack.readFile(`${home}/package.json`)) as Manifest
  const targets = Object.values(manifest.exports ?? {}).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  const entries = [...targets, ...Object.values(manifest.bin ?? {})].map((target) => target.replace(/^\.\//, ''))
  const reached = reachedFrom(entries, (file) => (files.has(file) ? pack.readFile(`${home}/${file}`) : ''))
  const built = [...files].filter((file) => file.startsWith('dist/') && !file.endsWith('.map'))
  const foreign = [...files].filter(
    (file) => !/^(?:dist\/|src\/|(?:package\.json|README\.md|SPEC\.md|LICENSE)$)/.test(file),
  )
  return [
    ...entries.filter((file) => !files.has(file)).map((file) => `exports names ${file}, which is not shipped`),
    ...built.filter((file) => !reached.has(file)).map((file) => `${file} is shipped, and no entry reaches it`),
    ...foreign.map((file) => `${file} has no business in the tarball`),
    ...brokenMaps(pack, home, files),
    ...Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
      .filter(([, range]) => /^(?:workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `it asks for ${name} by ${range}, which only the workspace understands`),
  ]
}

/** Every file reached from the entries by relative imports; a declaration's `./x.js` means `x.d.ts`. */
function reachedFrom(entries: readonly string[], read: (file: string) => string): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [...entries]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    if (!file.startsWith('dist/')) continue
    for (const [, specifier] of read(file).matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
      const target = join(file, '..', specifier!)
      waiting.push(file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target)
    }
  }
  return reached
}

function brokenMaps(pack: Package, home: string, files: ReadonlySet<string>): readonly string[] {
  return [...files]
    .filter((file) => file.endsWith('.map'))
    .flatMap((file) => {
      const { sources } = JSON.parse(pack.readFile(`${home}/${file}`)) as { sources: readonly string[] }
      const lost = sources.filter((source) => !files.has(join(file, '..', source)))
      return lost.map((source) => `${file} names ${source}, which is not shipped`)
    })
}
