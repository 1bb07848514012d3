import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

/** The repository's root folder. */
export const root: string = resolve(import.meta.dirname, '../../..')

/** What the checks read of a package manifest. */
export interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly engines?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly bin?: Readonly<Record<string, string>>
}

/** One package or example of the workspace. */
export interface WorkspacePackage {
  /** The folder's name, for example `core`. */
  readonly name: string
  /** Relative to the root, for example `packages/core`. */
  readonly folder: string
  readonly manifest: Manifest
}

/** Every package (not examples), in name order. */
export function workspacePackages(): readonly WorkspacePackage[] {
  return packagesIn('packages')
}

/** Every example, in name order. */
export function workspaceExamples(): readonly WorkspacePackage[] {
  return packagesIn('examples')
}

function packagesIn(parent: string): readonly WorkspacePackage[] {
  const names = readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, parent, entry.name, 'package.json')))
    .map((entry) => entry.name)
  return names.sort().map((name) => {
    const folder = `${parent}/${name}`
    return { name, folder, manifest: JSON.parse(readText(`${folder}/package.json`)) as Manifest }
  })
}

const skippedFolders = new Set(['node_modules', 'dist', 'coverage', 'evidence', 'reference'])

/** Every file under a folder, relative to the root with `/`, in order. Generated and hidden folders are left out. */
export function filesUnder(folder: string): readonly string[] {
  const start = join(root, folder)
  if (!existsSync(start)) return []
  const found: string[] = []
  const visit = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const child = join(path, entry.name)
      if (entry.isDirectory()) {
        if (!skippedFolders.has(entry.name) && !entry.name.startsWith('.')) visit(child)
      } else if (entry.isFile()) {
        found.push(relative(root, child).replaceAll('\\', '/'))
      }
    }
  }
  visit(start)
  return found.sort()
}

/** TypeScript sources that ship, of packages and examples. */
export function sourceFiles(): readonly string[] {
  return [...filesUnder('packages'), ...filesUnder('examples')].filter((file) => /\/src\/.*\.ts$/.test(file))
}

/** TypeScript files of tests, tests or not. */
export function testFiles(): readonly string[] {
  return [...filesUnder('packages'), ...filesUnder('examples')].filter((file) => /\/test\/.*\.ts$/.test(file))
}

/** Every Markdown page that a person wrote; the reports on the public API are made. */
export function markdownFiles(): readonly string[] {
  const top = readdirSync(root).filter((name) => name.endsWith('.md'))
  const nested = ['packages', 'examples', 'docs'].flatMap((folder) => filesUnder(folder))
  return [...top, ...nested.filter((file) => file.endsWith('.md') && !file.endsWith('.api.md'))]
}

/** The text of a file named relative to the root. */
export function readText(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** Whether something stands at a path relative to the root. */
export function exists(file: string): boolean {
  return existsSync(join(root, file))
}
