import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { architecture, runRules } from '../src/cruise.ts'
import { entryPoints, resolveRelative, workspaceDependencies } from '../src/entry-points.ts'
import { moduleFacts } from '../src/module-facts.ts'
import { impurities } from '../src/purity.ts'
import { readText, sourceFiles, testFiles, workspacePackages } from '../src/workspace.ts'

const packages = workspacePackages()
const { directions, pure, pureLibraries, testkitUsers, clients, clientTesters, clientPassers } = architecture
const entrySources = new Set(packages.flatMap((pack) => entryPoints(pack).map((entry) => entry.source)))

describe('the direction of dependencies', () => {
  it('knows every package of the workspace', () => {
    expect(packages.map((pack) => pack.name).filter((name) => directions[name] === undefined)).toEqual([])
  })

  it('holds for every import of every module, types included', async () => {
    const { modules, violations } = await runRules(['packages', 'examples'])
    expect(violations).toEqual([])
    expect(modules).toBeGreaterThan(100)
  })

  it.each(packages)('allows what the manifest of $name asks for', ({ name, manifest }) => {
    const allowed = directions[name] ?? []
    expect(workspaceDependencies(manifest, 'dependencies').filter((other) => !allowed.includes(other))).toEqual([])
    const forTests = workspaceDependencies(manifest, 'devDependencies')
    // The private package that composes adapters ships nothing, so all it needs is needed for tests.
    const wanted = name === 'gates' ? allowed : testkitUsers.includes(name) ? ['testkit'] : []
    expect(forTests.filter((other) => !wanted.includes(other))).toEqual([])
  })

  it.each(Object.entries(clients))(
    'keeps %s out of every package but %s and the tests on real services',
    (client, owners) => {
      const knowing = [...owners, ...clientTesters, ...clientPassers]
      const others = packages.filter(({ name }) => !knowing.includes(name))
      const naming = others.filter(({ manifest }) =>
        [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies].some(
          (all) => all?.[client] !== undefined,
        ),
      )
      expect(naming.map((pack) => pack.name)).toEqual([])
      for (const owner of packages.filter(({ name }) => owners.includes(name))) {
        expect(Object.keys(owner.manifest.peerDependencies ?? {})).toContain(client)
        expect(Object.keys(owner.manifest.dependencies ?? {})).not.toContain(client)
      }
      for (const { manifest } of packages.filter(({ name }) => clientPassers.includes(name))) {
        expect(Object.keys(manifest.dependencies ?? {})).not.toContain(client)
        expect(manifest.peerDependenciesMeta?.[client]).toEqual({ optional: true })
      }
    },
  )

  it('gives pure packages no dependency from a registry but the ones named for them', () => {
    for (const { name, manifest } of packages.filter((pack) => pure.includes(pack.name))) {
      const outside = Object.keys({
        ...manifest.dependencies,
        ...manifest.peerDependencies,
        ...manifest.devDependencies,
      })
      expect(outside.filter((dependency) => !dependency.startsWith('@tidemark/')).toSorted(), name).toEqual(
        [...(pureLibraries[name] ?? [])].toSorted(),
      )
    }
  })
})

describe('purity', () => {
  const exempt = new Map([
    ['packages/core/src/sha256.ts', 'node'],
    ['packages/core/src/system-clock.ts', 'host'],
  ])
  const pureFiles = sourceFiles().filter((file) => pure.some((name) => file.startsWith(`packages/${name}/src/`)))

  it('holds in every source file of the pure packages', () => {
    const found = pureFiles.flatMap((file) =>
      impurities(file, readText(file))
        .filter((impurity) => exempt.get(file) !== impurity.kind)
        .map(({ line, what }) => `${file}:${line} ${what}`),
    )
    expect(found).toEqual([])
    expect(pureFiles.length).toBeGreaterThan(30)
  })

  it('needs both exemptions, and each for one thing only', () => {
    for (const [file, kind] of exempt) {
      const kinds = new Set(impurities(file, readText(file)).map((impurity) => impurity.kind))
      expect([...kinds], file).toEqual([kind])
    }
  })

  it('is checked by the compiler: no host types', () => {
    for (const name of pure.filter((candidate) => packages.some((pack) => pack.name === candidate))) {
      const { compilerOptions } = JSON.parse(readText(`packages/${name}/tsconfig.json`)) as {
        compilerOptions: Record<string, unknown>
      }
      expect(compilerOptions, name).toMatchObject({ types: [], isolatedDeclarations: true })
    }
  })

  it.each([
    ['Date.now()', 'host'],
    ['new Date()', 'host'],
    ['Math.random()', 'host'],
    ['setTimeout(() => {}, 1)', 'host'],
    ['console.log(1)', 'host'],
    ['process.env.X', 'host'],
    ['globalThis.crypto', 'host'],
  ])('finds a planted %s', (code, kind) => {
    expect(impurities('x.ts', `export const x: unknown = ${code}\n`).map((impurity) => impurity.kind)).toEqual([kind])
  })

  it('finds a planted import from Node, and no fault in a date of a given time or a property of the same name', () => {
    expect(impurities('x.ts', `import { readFileSync } from 'node:fs'\nexport const x = readFileSync\n`)).toHaveLength(
      1,
    )
    expect(
      impurities('x.ts', `export const x = (a: { process: string }): string => a.process + new Date(0)\n`),
    ).toEqual([])
  })
})

describe('barrels', () => {
  const facts = sourceFiles()
    .filter((file) => file.startsWith('packages/'))
    .map((file) => moduleFacts(file, readText(file)))

  it('are entry points: an index.ts that is none does not exist', () => {
    const indexes = facts.map(({ file }) => file).filter((file) => file.endsWith('/index.ts'))
    expect(indexes.filter((file) => !entrySources.has(file))).toEqual([])
  })

  it('are one per entry point, with named exports', () => {
    expect(facts.filter(({ starExports }) => starExports > 0).map(({ file }) => file)).toEqual([])
    for (const { file, exports, reexports } of facts.filter((fact) => entrySources.has(fact.file))) {
      expect(exports, `${file} declares nothing of its own`).toEqual([])
      expect(reexports.length, file).toBeGreaterThan(0)
    }
  })

  it('are imported by nobody in their own package', () => {
    const found = facts.flatMap(({ file, specifiers }) =>
      specifiers
        .filter((specifier) => specifier.startsWith('.') && entrySources.has(resolveRelative(file, specifier)))
        .map((specifier) => `${file} imports ${specifier}`),
    )
    expect(found).toEqual([])
  })

  it('re-export from an entry point only: other files declare what they export', () => {
    const passing = facts.filter(({ file, reexports }) => !entrySources.has(file) && reexports.length > 0)
    expect(passing.map(({ file }) => file)).toEqual([])
  })

  it('are the only way into another package', () => {
    // The house's own checks may look behind the barrels of others; nobody else may.
    const others = [...sourceFiles(), ...testFiles()].filter((file) => !file.startsWith('packages/repo-checks/'))
    const found = others.flatMap((file) => {
      const home = file.split('/').slice(0, 2).join('/')
      return moduleFacts(file, readText(file))
        .specifiers.filter(
          (specifier) => specifier.startsWith('.') && !resolveRelative(file, specifier).startsWith(`${home}/`),
        )
        .map((specifier) => `${file} imports ${specifier}`)
    })
    expect(found).toEqual([])
  })
})

describe('the rules themselves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-rules-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const plant = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }

  it('find every planted breach', async () => {
    plant('packages/core/src/a.ts', `import { b } from './b.ts'\nexport const a = b\n`)
    plant('packages/core/src/b.ts', `import type { a } from './a.ts'\nexport const b: typeof a = 1\n`)
    plant('packages/log/src/reads.ts', `import { readFileSync } from 'node:fs'\nexport const reads = readFileSync\n`)
    plant('packages/log/src/upwards.ts', `import { c } from '../../checkpoint/src/c.ts'\nexport const upwards = c\n`)
    plant('packages/checkpoint/src/c.ts', `import { w } from '../../window/src/w.ts'\nexport const c = w\n`)
    plant('packages/window/src/w.ts', `export const w = 1\n`)
    plant('packages/checkpoint/test/c.test.ts', `import { t } from '../../testkit/src/t.ts'\nexport const c = t\n`)
    plant('packages/testkit/src/t.ts', `export const t = 1\n`)
    plant('packages/redis/test/r.test.ts', `import { k } from '../../kafka/src/k.ts'\nexport const r = k\n`)
    plant('packages/kafka/src/k.ts', `import { t } from '../../testkit/src/t.ts'\nexport const k = t\n`)
    const { violations } = await runRules(['packages'], folder)
    const broken = new Set(violations.map(({ rule, from }) => `${rule} ${from}`))
    expect([...broken].sort()).toEqual(
      [
        'adapters-never-import-each-other packages/redis/test/r.test.ts',
        'direction-of-checkpoint packages/checkpoint/src/c.ts',
        'direction-of-kafka packages/kafka/src/k.ts',
        'direction-of-log packages/log/src/upwards.ts',
        'domain-packages-never-use-testkit packages/checkpoint/test/c.test.ts',
        'no-cycles packages/core/src/a.ts',
        'pure-packages-know-no-host packages/log/src/reads.ts',
        'testkit-is-for-tests packages/kafka/src/k.ts',
      ].sort(),
    )
  })
})
