import { describe, expect, it } from 'vitest'
import { codeTables } from '../src/error-codes.ts'
import { codeBlocks, relativeLinks, sections } from '../src/page-sections.ts'
import { filesUnder, markdownFiles, readText, root } from '../src/workspace.ts'

const tables = await codeTables()
const catalogues = (['refusals', 'dirty'] as const).map((name) => {
  const { codes } = tables.find(({ page }) => page === `docs/errors/${name}.md`)!
  return { name, codes, folder: `docs/runbook/${name}` }
})
const pageOf = (folder: string, code: string): string => `${folder}/${code.toLowerCase().replaceAll('_', '-')}.md`
const rows = catalogues.flatMap(({ name, codes, folder }) =>
  codes.map((code) => ({ name, code, page: pageOf(folder, code) })),
)

describe('the runbook', () => {
  it.each(catalogues)('has a page for every code of $name, and none for a code that is gone', ({ codes, folder }) => {
    expect(filesUnder(folder)).toEqual(codes.map((code) => pageOf(folder, code)).toSorted())
  })

  it.each(rows)('$page says what to look at, what is safe and what never is', ({ name, code, page }) => {
    const text = readText(page)
    const found = sections(text)
    expect(found.map(({ level, title }) => `${level} ${title}`)).toEqual([
      `1 ${code}`,
      '2 Look at',
      '2 Safe',
      '2 Never',
    ])
    const [whole, look, safe, never] = found
    expect(codeBlocks(look!.body).some((block) => /^tidemark (?:explain|inspect|verify) /m.test(block.text))).toBe(true)
    for (const { body } of [safe!, never!])
      expect(body.split('\n').filter((line) => line.startsWith('- '))).not.toEqual([])
    const targets = relativeLinks(whole!.body).map(({ target }) => target)
    expect(targets).toContain(`../../errors/${name}.md#${code.toLowerCase()}`)
  })

  it('is led to by its index, each page once', () => {
    const targets = relativeLinks(readText('docs/runbook/index.md')).map(({ target }) => `docs/runbook/${target}`)
    const pages = targets.filter((target) => /^docs\/runbook\/(?:refusals|dirty)\//.test(target))
    expect(pages.toSorted()).toEqual(rows.map(({ page }) => page).toSorted())
  })
})

interface Command {
  readonly runTidemark: (host: Readonly<Record<string, unknown>>) => Promise<number>
}

/** What `--help` of a command lists: option names, long and short. */
async function optionsOf(command: string): Promise<ReadonlySet<string>> {
  const { runTidemark } = (await import(`${root}/packages/cli/src/index.ts`)) as Command
  let help = ''
  const stdout = { write: (text: string) => (help += text), isTTY: false, columns: 200 }
  const signal = new AbortController().signal
  await runTidemark({ argv: [command, '--help'], env: {}, cwd: root, stdout, stderr: stdout, signal })
  return new Set(help.match(/(?<=[\s,])--?[a-z][a-z-]*/g))
}

describe('command lines of tidemark in the documentation', () => {
  it('name commands and options that exist', async () => {
    const lines = markdownFiles().flatMap((page) => {
      const shell = codeBlocks(readText(page)).filter(({ language }) => language === 'sh')
      const inline = [...readText(page).matchAll(/`(tidemark [^`]+)`/g)].map(([, line]) => line!)
      const blocks = shell.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
      return [...blocks, ...inline].filter((line) => /^tidemark [a-z]/.test(line)).map((line) => ({ page, line }))
    })
    expect(lines.length).toBeGreaterThan(60)
    const wrong: string[] = []
    for (const { page, line } of lines) {
      const [, command = ''] = line.split(' ')
      const known = await optionsOf(command)
      const used = line.match(/(?<=\s)--?[a-z][a-z-]*/g) ?? []
      if (!/^(?:explain|inspect|verify|rebuild)$/.test(command)) wrong.push(`${page}: ${line}`)
      for (const option of used) if (!known.has(option)) wrong.push(`${page}: ${option} in ${line}`)
    }
    expect(wrong).toEqual([])
  })
})
