import { describe, expect, it } from 'vitest'
import { codeTables } from '../src/error-codes.ts'
import { anchorOf, sections } from '../src/page-sections.ts'
import { exists, filesUnder, readText, testFiles } from '../src/workspace.ts'

const tables = await codeTables()
const rows = tables.flatMap(({ file, page, codes, remedyOf }) =>
  codes.map((code) => ({ file, page, code, remedy: remedyOf(code) })),
)
const isCode = (title: string): boolean => /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(title)
const entriesOf = (page: string) => (exists(page) ? sections(readText(page)).filter(({ title }) => isCode(title)) : [])

describe('every code has a page entry and every entry a code', () => {
  it('reads the tables of every package that has one', () => {
    expect(tables.length).toBeGreaterThanOrEqual(6)
    expect(rows.length).toBeGreaterThan(60)
    expect(rows.map(({ page, code }) => `${page}#${code}`).filter((each, at, all) => all.indexOf(each) !== at)).toEqual(
      [],
    )
  })

  it.each(tables)('$page explains every code of $file', ({ page, codes }) => {
    expect(exists(page), `${page} exists`).toBe(true)
    const anchors = entriesOf(page).map(({ title }) => anchorOf(title))
    expect(codes.filter((code) => !anchors.includes(code.toLowerCase()))).toEqual([])
  })

  it('no page explains a code that does not exist, or one twice', () => {
    const pages = filesUnder('docs/errors').filter((file) => file.endsWith('.md'))
    for (const page of pages) {
      const codes = new Set(rows.filter((row) => row.page === page).map((row) => row.code))
      const titles = entriesOf(page).map(({ title }) => title)
      expect(
        titles.filter((title) => !codes.has(title)),
        page,
      ).toEqual([])
      expect(
        titles.filter((title, at) => titles.indexOf(title) !== at),
        page,
      ).toEqual([])
    }
  })

  it.each(tables)('$page says of each code its cause, what to check and what is safe to do', ({ page }) => {
    const thin = entriesOf(page).flatMap(({ title, body }) =>
      ['Cause', 'Check', 'Remedy']
        .filter((label) => labelled(body, label).length < 10)
        .map((label) => `${title}: ${label}`),
    )
    expect(thin).toEqual([])
  })

  it('the index leads to every page', () => {
    const index = readText('docs/errors/index.md')
    expect(
      [...new Set(tables.map(({ page }) => page))].filter(
        (page) => !index.includes(`(${page.slice('docs/errors/'.length)})`),
      ),
    ).toEqual([])
  })
})

describe('the tables themselves', () => {
  it('give every code a remedy of one sentence or more', () => {
    expect(rows.filter(({ remedy }) => !/^[A-Z].{15,}[.!]$/s.test(remedy)).map(({ code }) => code)).toEqual([])
  })
})

describe('every code is raised by a test', () => {
  const texts = testFiles()
    .filter((file) => !file.startsWith('packages/repo-checks/'))
    .map((file) => readText(file))
  // Contract cases are tests, kept as data in the source of the test kit.
  const cases = filesUnder('packages/testkit/src/contract').map((file) => readText(file))
  const all = [...texts, ...cases].join('\n')

  it.each(tables)('those of $file', ({ codes }) => {
    expect(codes.filter((code) => !new RegExp(String.raw`['"\`:\s]${code}\b`).test(all))).toEqual([])
  })
})

/** The text after a label such as `**Cause.**` or `- Check:`, up to the next label. */
function labelled(body: string, label: string): string {
  const start = new RegExp(
    String.raw`^[\s*-]*${label === 'Check' ? '(?:What to )?[Cc]heck' : label}\b[^\n:.*]*[.:*]+`,
    'm',
  ).exec(body)
  if (start === null) return ''
  const rest = body.slice(start.index + start[0].length)
  const next = /\n[\s*-]*(?:Cause|(?:What to )?[Cc]heck|Remedy)\b/.exec(rest)
  return rest
    .slice(0, next?.index)
    .replaceAll(/[\s*]+/g, ' ')
    .trim()
}
