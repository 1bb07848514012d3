import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { newFileProgress } from '../plan/file-progress.mjs'
import { kindOfTestFile } from '../plan/test-stages.mjs'
import { judgeVitestStage } from '../plan/vitest-results.mjs'
import { repositoryCache, root, toolEntry } from './paths.mjs'
import { runNode } from './run-command.mjs'

/** Where the reports of a run are kept. */
export const reportFolder = join(repositoryCache, 'test')

/** Every test file of the workspace: { file (relative to the root), kind }. */
export function findTestFiles() {
  const found = []
  for (const group of ['packages', 'examples']) {
    for (const name of readdirSync(join(root, group))) {
      const folder = join(root, group, name, 'test')
      if (!existsSync(folder)) continue
      for (const entry of readdirSync(folder, { recursive: true })) {
        const kind = kindOfTestFile(entry)
        if (kind !== undefined && !entry.includes('node_modules'))
          found.push({ file: join(group, name, 'test', entry), kind })
      }
    }
  }
  return found.sort((a, b) => a.file.localeCompare(b.file))
}

/**
 * Runs one vitest project, or some files of it, and judges its JSON report.
 *
 * Shape: { passed, failed, skipped, tests, complaint, output, durationMs }; files in `tests` are relative to the root.
 */
export async function runVitest(options) {
  const { project, name = project, files, fileCount, env, timeoutMs, node = process.execPath } = options
  mkdirSync(reportFolder, { recursive: true })
  const reportFile = join(reportFolder, `${name}.json`)
  rmSync(reportFile, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const args = [toolEntry.vitest, 'run', '--config', join(root, 'vitest.workspace.ts'), '--project', project]
  const progressOf = newFileProgress(fileCount)
  const tell = (data) => {
    for (const line of progressOf(String(data))) process.stdout.write(`${line}\n`)
  }
  const run = await runNode([...args, ...reporters, '--passWithNoTests', ...files], {
    cwd: root,
    timeoutMs,
    node,
    // Unit tests are many files and little time.
    onOutput: project === 'unit' ? undefined : tell,
    env: { NO_COLOR: '1', FORCE_COLOR: '0', ...env },
  })
  const report = existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, 'utf8')) : undefined
  const judged = judgeVitestStage({ report, exitCode: run.code, timedOut: run.timedOut, fileCount })
  const tests = judged.tests.map((test) => ({ ...test, file: relative(root, test.file), kind: project }))
  return { ...judged, tests, output: run.output, durationMs: run.durationMs }
}
