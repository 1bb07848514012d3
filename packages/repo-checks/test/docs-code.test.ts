import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { compileDocs, docsModules, runnable } from '../src/docs-program.ts'
import type { DocsModule } from '../src/docs-program.ts'
import { codeBlocks, sections } from '../src/page-sections.ts'
import { readText, root } from '../src/workspace.ts'

const modules = docsModules()

// Inside the package, so that the test runner transforms what it loads from there.
mkdirSync(join(root, 'packages/repo-checks/.tmp'), { recursive: true })
const folder = mkdtempSync(join(root, 'packages/repo-checks/.tmp/docs-'))
const startedIn = process.cwd()
beforeAll(() => process.chdir(folder))
afterAll(() => {
  process.chdir(startedIn)
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a piece of documentation in the folder of this test; what it printed, line by line. */
async function linesPrinted(module: DocsModule, name: string): Promise<readonly string[]> {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...words) => void lines.push(words.map(String).join(' ')))
  try {
    writeFileSync(join(folder, name), runnable(module))
    await import(join(folder, name))
  } finally {
    log.mockRestore()
  }
  return lines
}

/** What stands behind `console.log(…) // `, up to an explanation after a colon. */
function promisedOutput(text: string): readonly string[] {
  return [...text.matchAll(/^console\.log\(.*\) \/\/ (.+?)(?:: .*)?$/gm)].map(([, output]) => output!)
}

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

describe('what the documentation says is printed', () => {
  const told = modules.filter(({ text }) => promisedOutput(text).length > 0 && !/^declare /m.test(text))

  it('is told in some places', () => {
    expect(told.map(({ page }) => page)).toEqual(
      expect.arrayContaining(['packages/core/README.md', 'packages/log/README.md']),
    )
  })

  it.each(told)('is printed: $page', async (module) => {
    expect(await linesPrinted(module, `told-${told.indexOf(module)}.ts`)).toEqual(promisedOutput(module.text))
  })
})

describe('the usage in the README', () => {
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
    for (const run of [1, 2]) {
      const said = printed.text.split('\n').filter((line) => line.startsWith(`${run}: `))
      const lines = await linesPrinted(usage, `usage-${run}.ts`)
      expect(lines, `run ${run}`).toEqual(said.map((line) => line.slice(3)))
    }
  }, 60_000)
})
