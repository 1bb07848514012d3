import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { apiReports } from '../../src/api-report.ts'
import type { ApiReport } from '../../src/api-report.ts'
import { exists, filesUnder, readText, workspacePackages } from '../../src/workspace.ts'
import type { WorkspacePackage } from '../../src/workspace.ts'

const shipped = workspacePackages().filter(({ manifest }) => manifest.private !== true)
const reports = apiReports(shipped)

/** Types that a user of the report's entry can import from no entry of the same package (a catalogue is read as a value). */
function unnameable({ specifier, unreachable }: ApiReport): readonly string[] {
  const home = specifier.split('/').slice(0, 2).join('/')
  const siblings = reports.filter((other) => `${other.specifier}/`.startsWith(`${home}/`))
  return unreachable.filter(
    (name) => !/(?:ErrorSpecs|Details)$/.test(name) && !siblings.some(({ exported }) => exported.has(name)),
  )
}

describe('the reports on the public API', () => {
  it('are one for every entry point, and none for an entry that is gone', () => {
    const kept = filesUnder('packages').filter((file) => file.endsWith('.api.md'))
    expect(kept).toEqual(reports.map(({ file }) => file).toSorted())
  })
})

describe.each(reports)('$specifier', (report) => {
  it('offers what its report says; `npm run build && npm run api` writes it anew', () => {
    expect(exists(report.file), report.file).toBe(true)
    expect(report.text).toBe(readText(report.file))
  })

  it('has declarations that compile for a user, and names something', () => {
    expect(report.faults).toEqual([])
    expect(report.exported.size).toBeGreaterThan(0)
  })

  it('documents every name it exports', () => {
    expect(report.undocumented).toEqual([])
  })

  it('exports every type that its signatures name', () => {
    expect(unnameable(report)).toEqual([])
  })
})

describe('the reports themselves', () => {
  const base = mkdtempSync(join(tmpdir(), 'tidemark-api-test-'))
  afterAll(() => rmSync(base, { recursive: true, force: true }))
  const plantedPackage = (name: string): WorkspacePackage => {
    const types = './dist/index.d.ts'
    const exports = { '.': { '@tidemark/source': './src/index.ts', types, default: './dist/index.js' } }
    return { name, folder: `packages/${name}`, manifest: { name: `@tidemark/${name}`, exports } }
  }
  const plant = (declarations: Readonly<Record<string, string>>): Readonly<Record<string, ApiReport>> => {
    const packs = Object.entries(declarations).map(([name, text]) => {
      const pack = plantedPackage(name)
      mkdirSync(join(base, pack.folder, 'dist'), { recursive: true })
      writeFileSync(join(base, pack.folder, 'package.json'), JSON.stringify({ ...pack.manifest, version: '0.0.0' }))
      writeFileSync(join(base, pack.folder, 'dist/index.d.ts'), text)
      return pack
    })
    return Object.fromEntries(apiReports(packs, base).map((report, at) => [packs[at]!.name, report]))
  }

  it('refuse a package that was not built', () => {
    const unbuilt = plantedPackage('unbuilt')
    expect(() => apiReports([unbuilt], base)).toThrow(/not built: packages\/unbuilt\/dist\/index.d.ts/)
  })

  it('find a name without a docstring, a hidden type, declarations that do not compile and a changed signature', () => {
    const { spoilt, overloaded, before, after } = plant({
      spoilt: [
        'interface Hidden { readonly a: string }',
        '/** Documented. */',
        'declare function shown(input: Hidden): Promise<string, number>',
        'declare const bare: number',
        'export { bare, shown }',
      ].join('\n'),
      overloaded: [
        '/** One docstring for all overloads. */',
        'export declare function twice(of: string): string',
        'export declare function twice(of: number): number',
      ].join('\n'),
      before: '/** Counts. */\nexport declare function count(text: string): number\n',
      after: '/** Counts. */\nexport declare function count(text: string): bigint\n',
    })
    expect(spoilt).toMatchObject({ undocumented: ['bare'], unreachable: ['Hidden'] })
    expect(spoilt!.faults.join('\n')).toContain('Promise')
    expect(overloaded).toMatchObject({ undocumented: [], exported: new Set(['twice']) })
    expect(before).toMatchObject({ undocumented: [], unreachable: [], exported: new Set(['count']) })
    expect(after!.text.replace('after', 'before')).not.toBe(before!.text)
    expect(after!.text.replace('after', 'before').replace('bigint', 'number')).toBe(before!.text)
  })
})
