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
import { gateEvidence } from './plan/gate-evidence.mjs'
import { readMeasures } from './plan/gate-measures.mjs'
import { chooseGates, gateList, gatesFail, idsInSource, judgeGates } from './plan/gate-report.mjs'
import { gateSummary, testsOfGates } from './plan/gate-summary.mjs'

const kinds = ['unit', 'property', 'sim', 'service']
const hour = 3_600_000
/** The longest one kind of tests may take: a thousand kills of real processes take more than an hour on two cores. */
const longestMs = (size) => (size === 'full' ? 4 * hour : hour)
const backendsFile = join(reportFolder, 'backends.jsonl')
const measuresFile = join(reportFolder, 'measures.jsonl')

/** The files whose text carries one of the ids, by kind: { kind, files: [{ file, ids }] }. */
function filesOf(gates) {
  const chosen = new Set(gates.map(({ id }) => id))
  const files = findTestFiles()
    .map(({ file, kind }) => {
      const ids = [...idsInSource(readFileSync(join(root, file), 'utf8'))]
      return { file, kind, ids: ids.filter((id) => chosen.has(id)) }
    })
    .filter(({ ids }) => ids.length > 0)
  return kinds.map((kind) => ({ kind, files: files.filter((one) => one.kind === kind) }))
}

async function runFiles(groups, env) {
  const tests = []
  for (const { kind, files } of groups) {
    if (files.length === 0) continue
    process.stdout.write(`- ${kind}: ${files.length} files\n`)
    const timeoutMs = longestMs(env.TIDEMARK_SIZE)
    const names = files.map(({ file }) => file)
    const result = await runVitest({ project: kind, files: names, fileCount: files.length, env, timeoutMs })
    process.stdout.write(`  ${result.passed} passed, ${result.failed} failed (${seconds(result.durationMs)})\n`)
    if (result.failed > 0) process.stdout.write(`${tailOf(result.output, 120)}\n`)
    tests.push(...testsOfGates(kind, files, result))
  }
  return tests
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
  const durationMs = performance.now() - from
  const measures = readMeasures(existsSync(measuresFile) ? readFileSync(measuresFile, 'utf8') : '')
  if (flags.full) {
    const after = await checkedOutCommit()
    const dirty = before.dirty || after.dirty || before.commit !== after.commit
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
  const took = seconds(durationMs)
  const summary = gateSummary({ verdicts, tests, backends, measures, took, seed, size, prefix: words[0] })
  for (const line of summary) process.stdout.write(`${line}\n`)
  return gatesFail(verdicts, { named: words.length > 0, strict: flags.strict === true, milestone }) ? 1 : 0
}

await runMain(main)
