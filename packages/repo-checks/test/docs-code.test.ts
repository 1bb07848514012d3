import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { compileDocs, docsModules, runnable } from '../src/docs-program.ts'
import { codeBlocks, sections } from '../src/page-sections.ts'
import { readText, root } from '../src/workspace.ts'

const modules = docsModules()

describe('code in the documentation', () => {
  it('compiles against the sources', () => {
    expect(compileDocs(modules)).toEqual([])
    expect(modules.length).toBeGreaterThan(3)
  }, 120_000)

  it('would not compile with a mistake in it', () => {
    const planted = [
      {
        page: 'planted.md',
        line: 10,
        text: `import { offsetOf } from '@tidemark/core'\nexport const x: string = offsetOf(1)`,
      },
      { page: 'planted.md', line: 20, text: `import { nothing } from '@tidemark/log'` },
    ]
    const found = compileDocs(planted)
    expect(found).toHaveLength(2)
    expect(found[0]).toContain('planted.md:12 ')
    expect(found[1]).toContain('planted.md:21 ')
  }, 120_000)

  it('is marked as what it is: every fence has a language', () => {
    const bare = modules.flatMap(({ page }) => codeBlocks(readText(page)).filter(({ language }) => language === ''))
    expect(bare).toEqual([])
  })
})

describe('the usage in the README', () => {
  // Inside the package, so that the test runner transforms what it loads from there.
  mkdirSync(join(root, 'packages/repo-checks/.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, 'packages/repo-checks/.tmp/usage-'))
  const startedIn = process.cwd()
  afterAll(() => {
    process.chdir(startedIn)
    rmSync(folder, { recursive: true, force: true })
  })
  const usage = modules.find(({ page }) => page === 'README.md')!
  const printed = codeBlocks(sections(readText('README.md')).find(({ title }) => title === 'Usage')!.body).find(
    ({ language }) => language === 'text',
  )!

  it('fits 20 lines', () => {
    // The block before it only makes a log to read.
    const [, block] = codeBlocks(readText('README.md')).filter(({ language }) => language === 'ts')
    expect(block!.flags).toEqual(['continued'])
    expect(block!.text.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20)
  })

  it('prints what the README says it prints, twice the same: the second run resumes', async () => {
    process.chdir(folder)
    for (const run of [1, 2]) {
      const lines: string[] = []
      const log = vi
        .spyOn(console, 'log')
        .mockImplementation((...words) => void lines.push(words.map(String).join(' ')))
      const file = join(folder, `usage-${run}.ts`)
      writeFileSync(file, runnable(usage))
      await import(file)
      log.mockRestore()
      expect(lines, `run ${run}`).toEqual(
        printed.text
          .split('\n')
          .filter((line) => line.startsWith(`${run}: `))
          .map((line) => line.slice(3)),
      )
    }
  }, 60_000)
})
