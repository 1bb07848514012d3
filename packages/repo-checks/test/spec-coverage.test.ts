import { describe, expect, it } from 'vitest'
import { definedIds, idsIn, promisedIds, titleIds } from '../src/spec-ids.ts'
import { exists, readText, root, sourceFiles, testFiles, workspacePackages } from '../src/workspace.ts'

interface Case {
  readonly id: string
  readonly promises: readonly string[]
}

interface GateList {
  readonly gates: readonly { readonly id: string }[]
}

const shipped = workspacePackages().filter((pack) => pack.manifest.private !== true)
const specs = shipped
  .filter(({ folder }) => exists(`${folder}/SPEC.md`))
  .map(({ folder, name }) => {
    return { name, file: `${folder}/SPEC.md`, ids: definedIds(readText(`${folder}/SPEC.md`)) }
  })
const promises = new Map(specs.flatMap(({ file, ids }) => ids.map((id) => [id, file] as const)))
const gates = new Set((JSON.parse(readText('scripts/gates.json')) as GateList).gates.map(({ id }) => id))

const tests = testFiles()
  .filter((file) => file.endsWith('.test.ts') && !file.startsWith('packages/repo-checks/'))
  .map((file) => ({ file, text: readText(file) }))
const titles = tests.flatMap(({ file, text }) => titleIds(text).map((id) => ({ id, file })))

// Contract cases are data: a case becomes a title where its list is registered, with its own id and its promises.
const caseLists = (await import(`${root}/packages/testkit/src/contract/index.ts`)) as Readonly<Record<string, unknown>>
const cases = Object.entries(caseLists).flatMap(([list, value]) =>
  Array.isArray(value) ? (value as readonly Case[]).map((each) => ({ ...each, list })) : [],
)
const registered = (list: string): boolean =>
  tests.some(({ text }) => new RegExp(String.raw`registerCases\(\s*${list}\b`).test(text))
const tested = new Set([
  ...titles.map(({ id }) => id),
  ...cases.filter(({ list }) => registered(list)).flatMap(({ id, promises }) => [id, ...promises]),
])
const caseIds = new Set(cases.map(({ id }) => id))

describe('promises and tests', () => {
  it.each(shipped)('$name states its promises in a SPEC.md', ({ folder }) => {
    expect(exists(`${folder}/SPEC.md`)).toBe(true)
    expect(definedIds(readText(`${folder}/SPEC.md`)).length).toBeGreaterThan(0)
  })

  it.each(specs)('every promise of $name is stated once, under one prefix', ({ ids }) => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(new Set(ids.map((id) => id.split('-')[0])).size).toBe(1)
  })

  it.each(specs)('every promise of $name has a test that names it', ({ ids }) => {
    expect(ids.filter((id) => !tested.has(id))).toEqual([])
  })

  it('every id in a title is a promise, a contract gate, a public case or a contract case', () => {
    const unknown = titles.filter(({ id }) => !promises.has(id) && !gates.has(id) && !caseIds.has(id))
    expect(unknown.map(({ id, file }) => `${id} in ${file}`)).toEqual([])
  })

  it('every contract case is registered somewhere, once by id, and checks promises that exist', () => {
    expect(cases.length).toBeGreaterThan(20)
    expect(cases.filter(({ list }) => !registered(list)).map(({ id }) => id)).toEqual([])
    expect(caseIds.size).toBe(cases.length)
    const unknown = cases.flatMap(({ id, promises: own }) =>
      own.filter((promise) => !promises.has(promise) && !gates.has(promise)).map((promise) => `${promise} in ${id}`),
    )
    expect(unknown).toEqual([])
  })

  it('every promise that a docstring refers to exists', () => {
    const unknown = sourceFiles()
      .filter((file) => file.startsWith('packages/') && !file.startsWith('packages/repo-checks/'))
      .flatMap((file) => promisedIds(readText(file)).map((id) => ({ id, file })))
      .filter(({ id }) => !promises.has(id))
    expect(unknown.map(({ id, file }) => `${id} in ${file}`)).toEqual([])
  })

  it('every contract gate and public case is named by a test', () => {
    expect([...gates].filter((gate) => !tested.has(gate))).toEqual([])
  })
})

describe('reading ids', () => {
  it('takes those that open a line of a SPEC as definitions, not mentions', () => {
    const spec = '| CKP-1 | as CKP-9 says |\n- **LOG-2** holds\n## `RED-3`: x\nTST-4. text\nsee CKP-8\n| id | what |\n'
    expect(definedIds(spec)).toEqual(['CKP-1', 'LOG-2', 'RED-3', 'TST-4'])
  })

  it('takes every id in the brackets of a title', () => {
    const test = [
      `it('[CKP-4] [A5] does', () => {})`,
      `it("[CK-07, CK-09] and more", () => {})`,
      'it.each(rows)(`[LOG-1 to LOG-3] $name`, () => {})',
      `describe.each([[1, 2]])('[TST-1] %s', () => {})`,
      `const list = ['[CKP-99]']`,
      `it('reads [a, b] and [1]', () => {})`,
    ]
    const ids = ['CKP-4', 'A5', 'CK-07', 'CK-09', 'LOG-1', 'LOG-2', 'LOG-3', 'TST-1']
    expect(titleIds(test.join('\n')).toSorted()).toEqual(ids.toSorted())
  })

  it('takes promises from docstrings, ranges included', () => {
    expect(promisedIds(' * Promises: CKP-3 to CKP-5, LOG-1. Cost: one.')).toEqual(['CKP-3', 'CKP-4', 'CKP-5', 'LOG-1'])
    expect(idsIn('no brackets, CKP-1')).toEqual([])
  })
})
