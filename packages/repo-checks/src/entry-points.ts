import { dirname, join } from 'node:path'
import type { Manifest, WorkspacePackage } from './workspace.ts'

/** One entry of an exports map. */
export interface EntryPoint {
  /** What a user imports, for example `@tidemark/redis/checkpoint`. */
  readonly specifier: string
  /** Relative to the root, for example `packages/redis/src/checkpoint/index.ts`. */
  readonly source: string
  readonly types: string
  readonly dist: string
  /** The conditions in their order; Node and TypeScript take the first that fits. */
  readonly conditions: readonly string[]
}

/** The entry points of a package; `./package.json` is none. */
export function entryPoints(pack: WorkspacePackage): readonly EntryPoint[] {
  return Object.entries(pack.manifest.exports ?? {}).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return []
    const inPackage = (path: string | undefined): string => (path === undefined ? '' : join(pack.folder, path))
    return [
      {
        specifier: join(pack.manifest.name, subpath),
        source: inPackage(target['@tidemark/source']),
        types: inPackage(target['types']),
        dist: inPackage(target['default']),
        conditions: Object.keys(target),
      },
    ]
  })
}

/** A program that a package installs: the built file and the source of the same name. */
export interface Program {
  readonly source: string
  readonly dist: string
}

/** The programs of a package. */
export function programs(pack: WorkspacePackage): readonly Program[] {
  return Object.values(pack.manifest.bin ?? {}).map((target) => {
    const dist = join(pack.folder, target)
    return { source: dist.replace('/dist/', '/src/').replace(/\.js$/, '.ts'), dist }
  })
}

/** The file a relative specifier names, relative to the root. */
export function resolveRelative(fromFile: string, specifier: string): string {
  return join(dirname(fromFile), specifier)
}

/** Every dependency a manifest names, by kind. */
export function workspaceDependencies(manifest: Manifest, kind: 'dependencies' | 'devDependencies'): readonly string[] {
  return Object.keys(manifest[kind] ?? {}).flatMap((name) => {
    const match = /^@tidemark\/(.+)$/.exec(name)
    return match === null ? [] : [match[1]!]
  })
}
