import { describe, expect, it } from 'vitest'
import { entryPoints, resolveRelative } from '../src/entry-points.ts'
import { moduleFacts } from '../src/module-facts.ts'
import type { ModuleFacts } from '../src/module-facts.ts'
import { foreignTraces } from '../src/foreign-traces.ts'
import {
  exists,
  filesUnder,
  markdownFiles,
  readText,
  sourceFiles,
  testFiles,
  workspacePackages,
} from '../src/workspace.ts'

const fileLinesMax = 400
const functionLinesMax = 70
const filesPerFolder = 15
const filesPerFolderMax = 20

const sources = new Map<string, ModuleFacts>(sourceFiles().map((file) => [file, moduleFacts(file, readText(file))]))
const packages = workspacePackages()

describe('size', () => {
  it(`keeps every source file within ${fileLinesMax} lines`, () => {
    const long = [...sources.values()].filter(({ lines }) => lines > fileLinesMax)
    expect(long.map(({ file, lines }) => `${file}: ${lines} lines`)).toEqual([])
  })

  it(`keeps every function of the source within ${functionLinesMax} lines`, () => {
    const long = [...sources.values()].flatMap(({ file, functions }) =>
      functions
        .filter(({ lines }) => lines > functionLinesMax)
        .map(({ name, line, lines }) => `${file}:${line} ${name}: ${lines} lines`),
    )
    expect(long).toEqual([])
  })

  it(`keeps every source folder within ${filesPerFolderMax} files`, () => {
    const counts = new Map<string, number>()
    for (const file of sources.keys()) {
      const folder = file.slice(0, file.lastIndexOf('/'))
      // A barrel lists what is there and is no concept of its own.
      if (!file.endsWith('/index.ts')) counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
    const crowded = [...counts].filter(([, count]) => count > filesPerFolder)
    if (crowded.length > 0) console.info(`folders above ${filesPerFolder} files: ${list(crowded)}`)
    expect(crowded.filter(([, count]) => count > filesPerFolderMax)).toEqual([])
  })
})

describe('names', () => {
  const ours = ['packages', 'examples', 'docs', 'scripts'].flatMap((folder) => filesUnder(folder))

  it('say what a file is about: no utils, helpers, common or misc', () => {
    const vague = ours.filter((file) => /(?:^|[/.-])(?:utils?|helpers?|common|misc)(?:[/.-]|$)/i.test(file))
    expect(vague).toEqual([])
  })

  it('are kebab-case', () => {
    const capitals = new Set(['README.md', 'SPEC.md', 'CHANGELOG.md', 'LICENSE'])
    const named = ours.filter((file) => !capitals.has(file.slice(file.lastIndexOf('/') + 1)))
    expect(
      named.filter((file) => !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/.test(nameOf(file))),
    ).toEqual([])
  })

  it('match what the file exports', () => {
    const strangers = [...sources.values()].filter(({ file, exports }) => {
      const words = nameOf(file).replace(/\.ts$/, '').split('-')
      const own = exports.map(({ name }) => name.toLowerCase())
      // The file name and one export share at least one word; an entry point or a program has none to share.
      return exports.length > 0 && !own.some((name) => words.some((word) => name.includes(stem(word))))
    })
    expect(
      strangers.map(({ file, exports }) => `${file} exports ${exports.map(({ name }) => name).join(', ')}`),
    ).toEqual([])
  })
})

describe('docstrings', () => {
  it.each(packages.filter((pack) => entryPoints(pack).length > 0))('stand on everything $name exports', (pack) => {
    const bare = entryPoints(pack).flatMap(({ source }) => {
      const barrel = sources.get(source)
      if (barrel === undefined) return []
      return barrel.reexports.flatMap(({ name, from }) => {
        const declaring = sources.get(resolveRelative(source, from))
        const found = declaring?.exports.find((candidate) => candidate.name === name)
        return found?.documented === true ? [] : [`${name} (${resolveRelative(source, from)})`]
      })
    })
    expect(bare).toEqual([])
  })

  it('and comments make up a readable share of the source', () => {
    for (const { folder, name, manifest } of packages) {
      const facts = [...sources.values()].filter(({ file }) => file.startsWith(`${folder}/`))
      const comments = sum(facts.map(({ commentLines }) => commentLines))
      const code = sum(facts.map(({ codeLines }) => codeLines))
      if (code === 0) continue
      const percent = Math.round((100 * comments) / (comments + code))
      console.info(`comment lines in ${name}: ${percent} % of ${comments + code}`)
      // The house aims at 20 to 30; far outside it either the why is missing or the code is told twice.
      if (manifest.private !== true) expect(percent, name).toBeGreaterThanOrEqual(8)
      expect(percent, name).toBeLessThanOrEqual(40)
    }
  })
})

describe('the project speaks of itself alone', () => {
  const own = [
    ...['packages', 'examples', 'docs', 'scripts', '.ci'].flatMap((folder) => filesUnder(folder)),
    ...markdownFiles(),
    ...['package.json', 'tsconfig.json', 'pnpm-workspace.yaml', 'vitest.workspace.ts', '.dependency-cruiser.cjs'],
  ].filter((file) => exists(file) && /\.(?:ts|mts|mjs|cjs|js|json|md|yaml|yml|lua|sh|svg|txt)$|\/run$/.test(file))

  it('names no path of a machine, no registry host and nothing of a workplace', () => {
    const found = [...new Set(own)].flatMap((file) =>
      foreignTraces(readText(file)).map(({ line, what }) => `${file}:${line} ${what}`),
    )
    expect(found).toEqual([])
    expect(own.length).toBeGreaterThan(100)
  })

  it.each([
    ['see /ho' + 'me/someone/project', 'a path of a machine'],
    ['see /wo' + 'rk/main/x', 'a path of a machine'],
    ['from https://regis' + 'try.npmjs.org/x', 'a registry host'],
    ['as the pro' + 'mpt said', 'a word of a workplace'],
    ['the sub' + 'agent wrote', 'a word of a workplace'],
    ['this was previ' + 'ously a map', 'history in place of a reason'],
  ])('finds a planted trace: %s', (text, what) => {
    expect(foreignTraces(`first line\n${text}\n`)).toEqual([{ line: 2, what: expect.stringContaining(what) }])
  })
})

describe('tests', () => {
  it('have a suffix that says their kind, or are no tests', () => {
    const kinds = /\.(?:property|sim|service)?\.?test\.ts$/
    const stray = testFiles().filter((file) => file.endsWith('.test.ts') && !kinds.test(file))
    expect(stray).toEqual([])
  })

  it('are none of them switched off', () => {
    const off = testFiles().filter((file) =>
      /\b(?:it|test|describe)\.(?:skip|only|todo|skipIf|runIf)\b/.test(readText(file)),
    )
    expect(off.filter((file) => !file.startsWith('packages/repo-checks/'))).toEqual([])
  })
})

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1)
}

function stem(word: string): string {
  return word.length > 4 ? word.slice(0, 4) : word
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function list(counts: readonly (readonly [string, number])[]): string {
  return counts.map(([folder, count]) => `${folder} (${count})`).join(', ')
}
