import { describe, expect, it } from 'vitest'
import { entryPoints, programs } from '../src/entry-points.ts'
import { exists, filesUnder, readText, root, workspaceExamples, workspacePackages } from '../src/workspace.ts'
import type { Manifest, WorkspacePackage } from '../src/workspace.ts'

const packages = workspacePackages()
const shipped = packages.filter(({ manifest }) => manifest.private !== true)
const rootManifest = JSON.parse(readText('package.json')) as {
  version?: string
  private?: boolean
  engines: Record<string, string>
}

describe('every package', () => {
  it.each(packages)('$name is named after its folder and is an ES module', ({ name, manifest }) => {
    expect(manifest).toMatchObject({ name: `@tidemark/${name}`, type: 'module' })
  })

  it('examples and the root are private', () => {
    expect([...workspaceExamples().map(({ manifest }) => manifest.private), rootManifest.private].every(Boolean)).toBe(
      true,
    )
  })
})

describe.each(shipped)('the published package $name', (pack: WorkspacePackage) => {
  const { folder, manifest } = pack
  const entries = entryPoints(pack)

  it('says licence, engines and that importing it does nothing', () => {
    expect(manifest).toMatchObject({ license: 'Apache-2.0', engines: rootManifest.engines, sideEffects: false })
    expect(manifest.exports?.['./package.json']).toBe('./package.json')
  })

  it('has an entry point, and for each the source condition first, then types, then default', () => {
    expect(entries.length).toBeGreaterThan(0)
    for (const entry of entries)
      expect(entry.conditions, entry.specifier).toEqual(['@tidemark/source', 'types', 'default'])
  })

  it('has a source behind every entry point, and the built file of the same name', () => {
    for (const { source, dist, types } of entries) {
      expect(exists(source), source).toBe(true)
      expect(dist).toBe(source.replace('/src/', '/dist/').replace(/\.ts$/, '.js'))
      expect(types).toBe(source.replace('/src/', '/dist/').replace(/\.ts$/, '.d.ts'))
    }
  })

  it('has a source that starts with a hashbang behind every program', () => {
    for (const { source } of programs(pack)) expect(readText(source)).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  it('builds exactly its entry points and programs', async () => {
    const { default: config } = (await import(`${root}/${folder}/tsup.config.ts`)) as {
      default: { entry: Record<string, string>; format: string[] }
    }
    expect(config.format).toEqual(['esm'])
    const built = Object.entries(config.entry).map(([out, from]) => `${folder}/${from} -> ${folder}/dist/${out}.js`)
    const due = [...entries, ...programs(pack)].map(({ source, dist }) => `${source} -> ${dist}`)
    expect(built.toSorted()).toEqual(due.toSorted())
  })

  it('ships source, build, promises and readme, and the files it lists exist', () => {
    expect(manifest.files).toEqual(['dist', 'src', 'SPEC.md', 'README.md'])
    expect(['SPEC.md', 'README.md'].filter((file) => !exists(`${folder}/${file}`))).toEqual([])
  })

  it('asks for workspace packages by a range and for clients as peers', () => {
    for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
      if (name.startsWith('@tidemark/')) expect(range, name).toBe('workspace:^')
    }
    for (const name of Object.keys(manifest.peerDependencies ?? {})) {
      expect(Object.keys(manifest.devDependencies ?? {}), `${name} is tested against`).toContain(name)
    }
  })
})

describe('the list of dependencies', () => {
  it('names every dependency from a registry, and none that is not there', () => {
    const rootDev = Object.keys((JSON.parse(readText('package.json')) as Manifest).devDependencies ?? {})
    const asked = [...packages, ...workspaceExamples()].flatMap(({ manifest }) => [
      ...Object.keys(manifest.dependencies ?? {}),
      ...Object.keys(manifest.devDependencies ?? {}),
      ...Object.keys(manifest.peerDependencies ?? {}),
    ])
    const needed = new Set([...rootDev, ...asked].filter((name) => !name.startsWith('@tidemark/')))
    const rows = readText('docs/adr/dependencies.md').matchAll(/^\| `([^`]+)`/gm)
    expect(new Set([...rows].map(([, name]) => name))).toEqual(needed)
  })
})

describe('the workspace', () => {
  it('has no source that belongs to no package', () => {
    const folders = [...packages, ...workspaceExamples()].map(({ folder }) => `${folder}/`)
    const homeless = ['packages', 'examples']
      .flatMap(filesUnder)
      .filter((file) => !folders.some((each) => file.startsWith(each)))
    expect(homeless).toEqual([])
  })
})
