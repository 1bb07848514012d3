import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorOf, relativeLinks, sections } from '../src/page-sections.ts'
import { exists, filesUnder, markdownFiles, readText } from '../src/workspace.ts'

const pages = markdownFiles()

describe('links', () => {
  it('lead to a file and to a heading of it', () => {
    const dead = pages.flatMap((page) =>
      relativeLinks(readText(page))
        .filter(({ target }) => !leadsSomewhere(page, target))
        .map(({ target, line }) => `${page}:${line} ${target}`),
    )
    expect(dead).toEqual([])
    expect(pages.length).toBeGreaterThan(20)
  })

  it('reach every page of the documentation from its index or the README', () => {
    const docs = filesUnder('docs').filter((file) => file.endsWith('.md') && !/\/0000-/.test(file))
    const reached = new Set<string>()
    const visit = (page: string): void => {
      if (reached.has(page) || !exists(page)) return
      reached.add(page)
      for (const { target } of relativeLinks(readText(page))) {
        const path = join(dirname(page), target.split('#')[0]!)
        if (path.endsWith('.md')) visit(path)
      }
    }
    visit('README.md')
    expect(docs.filter((page) => !reached.has(page))).toEqual([])
  })

  it('are found where they stand, and not in code', () => {
    const page = 'see [a](b.md#c), ![p](d.svg)\n`[x](y)`\n```\n[no](no.md)\n```\n[w](https://example.org)\n[r]: e.md\n'
    expect(relativeLinks(page)).toEqual([
      { target: 'b.md#c', line: 1 },
      { target: 'd.svg', line: 1 },
      { target: 'e.md', line: 7 },
    ])
  })

  it('use the anchors that hosts make of headings', () => {
    expect(anchorOf('What it is for, in 10 lines')).toBe('what-it-is-for-in-10-lines')
    expect(anchorOf('TM_CORE_OFFSET_INVALID')).toBe('tm_core_offset_invalid')
  })
})

function leadsSomewhere(page: string, target: string): boolean {
  const [path, anchor] = target.split('#') as [string, string | undefined]
  const file = path === '' ? page : join(dirname(page), path)
  if (!exists(file)) return false
  if (anchor === undefined || !file.endsWith('.md')) return true
  return sections(readText(file)).some(({ title }) => anchorOf(title) === anchor)
}
