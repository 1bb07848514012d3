#!/usr/bin/env node
// `npm run gates -- [prefix] [--list] [--full] [--strict]`: runs the test files that carry the gates' ids, a verdict per gate.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap } from './bootstrap.mjs'
import { loadGates } from './act/load-gates.mjs'
import { root } from './act/paths.mjs'
import { readCommand } from './act/read-command.mjs'
import { tailOf } from './act/run-command.mjs'
import { checkedOutCommit, usedVersions } from './act/run-record.mjs'
import { runSeed } from './act/run-seed.mjs'
import { findTestFiles, reportFolder, runVitest } from './act/run-vitest.mjs'
import { runMain, seconds } from './act/step-log.mjs'
import { readBackends } from './act/used-backends.mjs'
import { swallowedFlagHint } from './plan/child-environment.mjs'
import { failedTestLines } from './plan/failed-tests.mjs'
import { gateEvidence } from './plan/gate-evidence.mjs'
import { measureLine, readMeasures } from './plan/gate-measures.mjs'
import { chooseGates, gateLine, gateList, gatesFail, gatesLine, idsInSource, judgeGates } from './plan/gate-report.mjs'

const kinds = ['unit', 'property', 'sim', 'service']
const hour = 3_600_000
/** The longest one kind of tests may take: a thousand kills of real processes take more than an hour on two cores. */
const longestMs = (size) => (size === 'full' ? 4 * hour : hour)
const backendsFile = join(reportFolder, 'backends.jsonl')
const measuresFile = join(reportFolder, 'measures.jsonl')

/** The files whose text carries one of the ids, by kind. */
function filesOf(gates) {
  const ids = new Set(gates.map(({ id }) => id))
  const files = findTestFiles().filter(({ file }) => {
    return [...idsInSource(readFileSync(join(root, file), 'utf8'))].some((id) => ids.has(id))
  })
  return kinds.map((kind) => ({ kind, files: files.filter((one) => one.kind === kind).map(({ file }) => file) }))
}

async function runFiles(groups, env) {
  const tests = []
  for (const { kind, files } of groups) {
    if (files.length === 0) continue
    process.stdout.write(`- ${kind}: ${files.length} files\n`)
    const timeoutMs = longestMs(env.TIDEMARK_SIZE)
    const result = await runVitest({ project: kind, files, fileCount: files.length, env, timeoutMs })
    process.stdout.write(`  ${result.passed} passed, ${result.failed} failed (${seconds(result.durationMs)})\n`)
    if (result.failed > 0) process.stdout.write(`${tailOf(result.output, 120)}\n`)
    // A file that could not be run carries no titles: every gate it should show is failed, not missing.
    for (const file of files) {
      const ran = result.tests.some((test) => test.file === file && test.title !== unrunnable)
      if (!ran || result.complaint !== undefined) tests.push(...brokenFile(file, kind))
    }
    tests.push(...result.tests)
  }
  return tests
}

const unrunnable = '(the file could not be run)'

function brokenFile(file, kind) {
  return [...idsInSource(readFileSync(join(root, file), 'utf8'))].map((id) => ({
    title: `[${id}] ${unrunnable}`,
    status: 'failed',
    file,
    kind,
  }))
}

async function writeEvidence(verdicts, run) {
  const folder = join(root, 'docs', 'evidence')
  mkdirSync(folder, { recursive: true })
  for (const verdict of verdicts.filter(({ status }) => status !== 'missing')) {
    writeFileSync(join(folder, `${verdict.id}.json`), `${JSON.stringify(gateEvidence(verdict, run), null, 2)}\n`)
  }
}

async function main() {
  const command = readCommand('gates')
  if (command === undefined) return 0
  const { flags, words } = command
  const hint = swallowedFlagHint(process.env, 'gates')
  if (hint !== undefined) process.stdout.write(`${hint}\n`)
  const { milestone, gates } = loadGates()
  const chosen = chooseGates(gates, words[0])
  if (flags.list) {
    for (const line of gateList(chosen)) process.stdout.write(`${line}\n`)
    return 0
  }
  const groups = filesOf(chosen)
  const seed = runSeed()
  const size = flags.full ? 'full' : (process.env.TIDEMARK_SIZE ?? 'ci')
  process.stdout.write(`seed ${seed}, size ${size}\n`)
  const needsServices = groups.some(({ kind, files }) => kind === 'service' && files.length > 0)
  await bootstrap({ services: needsServices ? 'required' : 'none' })

  const from = performance.now()
  rmSync(backendsFile, { force: true })
  rmSync(measuresFile, { force: true })
  const before = await checkedOutCommit()
  const env = {
    TIDEMARK_SEED: seed,
    TIDEMARK_SIZE: size,
    TIDEMARK_BACKENDS_FILE: backendsFile,
    TIDEMARK_MEASURES_FILE: measuresFile,
  }
  const tests = await runFiles(groups, env)
  const verdicts = judgeGates(chosen, tests)
  const backends = readBackends(backendsFile, false)
  const measures = readMeasures(existsSync(measuresFile) ? readFileSync(measuresFile, 'utf8') : '')
  if (flags.full) {
    const after = await checkedOutCommit()
    const dirty = before.dirty || after.dirty || before.commit !== after.commit
    const durationMs = performance.now() - from
    const versions = await usedVersions()
    await writeEvidence(verdicts, {
      commit: before.commit,
      dirty,
      seed,
      size,
      at: new Date().toISOString(),
      versions,
      durationMs,
      backends,
      measures,
    })
  }
  process.stdout.write(`${backends}\n`)
  for (const measure of measures) process.stdout.write(`${measureLine(measure)}\n`)
  for (const verdict of verdicts) process.stdout.write(`${gateLine(verdict)}\n`)
  for (const line of failedTestLines(tests)) process.stdout.write(`${line}\n`)
  process.stdout.write(`${gatesLine(verdicts)}\n`)
  return gatesFail(verdicts, { named: words.length > 0, strict: flags.strict === true, milestone }) ? 1 : 0
}

await runMain(main)
