import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryPoints } from '../../src/entry-points.ts'
import { dependenciesFromElsewhere, installTarballs, linkPeers, loadEntries } from '../../src/installed-packages.ts'
import type { LoadedEntry } from '../../src/installed-packages.ts'
import { fileFaults, packPackages, publintFaults, typesFaults } from '../../src/packed-package.ts'
import type { PackedPackage } from '../../src/packed-package.ts'
import type { Manifest } from '../../src/workspace.ts'
import { root, workspacePackages } from '../../src/workspace.ts'

const shipped = workspacePackages().filter(({ manifest }) => manifest.private !== true)
const specifiers = shipped.flatMap((pack) => entryPoints(pack).map(({ specifier }) => specifier))
const folder = mkdtempSync(join(tmpdir(), 'tidemark-packed-'))
const consumer = join(folder, 'consumer')
const packed = new Map<string, PackedPackage>()

beforeAll(async () => {
  const names = shipped.map(({ manifest }) => manifest.name)
  for (const each of await packPackages(root, join(folder, 'tarballs'), names)) packed.set(each.name, each)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(shipped)('the tarball of $name', ({ manifest }) => {
  const tarball = (): PackedPackage => packed.get(manifest.name)!

  it('passes publint, suggestions included', async () => {
    expect(await publintFaults(tarball())).toEqual([])
  })

  it('gives every kind of consumer its types', async () => {
    expect(await typesFaults(tarball())).toEqual([])
  })

  it('holds the files its exports name, and nothing built that no entry reaches', () => {
    expect(fileFaults(tarball())).toEqual([])
  })
})

describe('a project that installed the tarballs without a network', () => {
  let alone: Readonly<Record<string, LoadedEntry>>
  let loaded: Readonly<Record<string, LoadedEntry>>
  beforeAll(async () => {
    await installTarballs(consumer, [...packed.values()], dependenciesFromElsewhere(shipped))
    alone = await loadEntries(consumer, specifiers)
    for (const pack of shipped) linkPeers(consumer, pack)
    loaded = await loadEntries(consumer, specifiers)
  })

  it.each(specifiers)('loads %s by import() and by require(), as one module', (specifier) => {
    const entry = loaded[specifier]!
    expect(entry.error).toBeUndefined()
    expect(entry.imported.length).toBeGreaterThan(0)
    expect(entry.required).toEqual(entry.imported)
    expect(entry.same).toBe(true)
  })

  it('misses an absent peer only in the entries that use it', () => {
    const broken = Object.entries(alone).filter(([, { error }]) => error !== undefined)
    expect(broken.map(([specifier, { error }]) => `${specifier}: ${error}`).toSorted()).toEqual([
      '@tidemark/postgres/pg: ERR_MODULE_NOT_FOUND',
      '@tidemark/postgres/pglite: ERR_MODULE_NOT_FOUND',
      '@tidemark/redis/checkpoint: ERR_MODULE_NOT_FOUND',
      '@tidemark/testkit/arbitrary: ERR_MODULE_NOT_FOUND',
    ])
  })
})

describe('the checks of a tarball', () => {
  const planted = join(folder, 'planted')
  const source = join(root, 'packages/core')

  /** Packs a copy of a real package with something wrong in it. */
  async function packPlanted(name: string, spoil: (place: string, manifest: Record<string, unknown>) => void) {
    const place = join(planted, name)
    for (const part of ['dist', 'src', 'README.md', 'SPEC.md'])
      cpSync(join(source, part), join(place, part), { recursive: true })
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest &
      Record<string, unknown>
    spoil(place, manifest)
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
    const [tarball] = await packPackages(place, join(planted, 'tarballs', name))
    return tarball!
  }

  it('find an exports map that names what is not there', async () => {
    const tarball = await packPlanted('wrong-exports', (_, manifest) => {
      manifest['exports'] = { '.': { types: './dist/index.d.ts', default: './dist/main.js' } }
    })
    expect(fileFaults(tarball)).toContain('exports names dist/main.js, which is not shipped')
    expect(fileFaults(tarball)).toContain('dist/index.js is shipped, and no entry reaches it')
    expect((await publintFaults(tarball)).join('\n')).toContain('FILE_DOES_NOT_EXIST')
    await installTarballs(join(planted, 'consumer'), [tarball])
    const { [tarball.name]: entry } = await loadEntries(join(planted, 'consumer'), [tarball.name])
    expect(entry).toMatchObject({ imported: [], error: 'MODULE_NOT_FOUND' })
  })

  it('find types that a consumer cannot reach, and types that lie about the module', async () => {
    const hidden = await packPlanted('wrong-types', (_, manifest) => {
      manifest['exports'] = { '.': { types: './dist/gone.d.ts', default: './dist/index.js' } }
    })
    expect((await typesFaults(hidden)).join('\n')).toContain('FallbackCondition')
    const lying = await packPlanted('lying-types', (place, manifest) => {
      cpSync(join(place, 'dist/index.d.ts'), join(place, 'dist/index.d.cts'))
      manifest['exports'] = { '.': { types: './dist/index.d.cts', default: './dist/index.js' } }
    })
    expect((await typesFaults(lying)).join('\n')).toContain('FalseCJS')
  })

  it('find a left-over, a lost source and a range of the workspace', async () => {
    const tarball = await packPlanted('left-over', (place, manifest) => {
      writeFileSync(join(place, 'dist/chunk-old.js'), 'export const old = 1\n')
      writeFileSync(join(place, 'notes.txt'), 'not for users\n')
      rmSync(join(place, 'src/offset.ts'))
      manifest['files'] = ['dist', 'src', 'notes.txt']
      manifest['peerDependencies'] = { planted: 'file:../planted' }
    })
    expect(fileFaults(tarball)).toEqual([
      'dist/chunk-old.js is shipped, and no entry reaches it',
      'notes.txt has no business in the tarball',
      'dist/index.js.map names ../src/offset.ts, which is not shipped',
      'it asks for planted by file:../planted, which only the workspace understands',
    ])
  })
})
