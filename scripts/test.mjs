#!/usr/bin/env node
// `npm test`: bootstrap, then every stage in order. Flags: --offline, --size=ci|full, --only=<stage,stage>.
// With CI set, the pure kinds of tests run once more on Node 24.
// The last line is `N passed, N failed`.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap } from './bootstrap.mjs'
import { build } from './build.mjs'
import { runDemo } from './demo.mjs'
import { typecheck } from './typecheck.mjs'
import { readBackends, recordBackends } from './act/used-backends.mjs'
import { loadGates } from './act/load-gates.mjs'
import { root, toolEntry } from './act/paths.mjs'
import { newerNode, newerNodeExists } from './act/newer-node.mjs'
import { readCommand } from './act/read-command.mjs'
import { runNode, tailOf } from './act/run-command.mjs'
import { runSeed } from './act/run-seed.mjs'
import { findTestFiles, reportFolder, runVitest } from './act/run-vitest.mjs'
import { runMain, seconds, StepError } from './act/step-log.mjs'
import { swallowedFlagHint } from './plan/child-environment.mjs'
import { failedTestLines } from './plan/failed-tests.mjs'
import { gateLine, gatesFail, gatesLine, judgeGates } from './plan/gate-report.mjs'
import { filesOfStage, planStages } from './plan/test-stages.mjs'
import { UsageError } from './plan/usage-error.mjs'
import { closingLine } from './plan/vitest-results.mjs'

const shownLines = 300
const backendsFile = join(reportFolder, 'backends.jsonl')

/** What every stage gives: { passed, failed, skipped, tests, complaint?, output? }. */
const check = (good, output) => ({ passed: good ? 1 : 0, failed: good ? 0 : 1, skipped: 0, tests: [], output })

async function runTool(tool, args) {
  const { code, output } = await runNode([toolEntry[tool], ...args], {
    cwd: root,
    timeoutMs: 300_000,
    env: { NO_COLOR: '1' },
  })
  return check(code === 0, output)
}

const checks = {
  format: () => runTool('prettier', ['--check', '.']),
  async lint() {
    const rules = await runTool('oxlint', ['--deny-warnings'])
    return rules.failed > 0 ? rules : runTool('knip', ['--no-progress'])
  },
  async types() {
    const { failed } = await typecheck()
    return check(failed.length === 0, failed.map(({ name, output }) => `${name}:\n${output}`).join('\n'))
  },
  async build() {
    const { failed, built } = await build()
    return check(failed.length === 0 && built > 0, failed.map(({ name, output }) => `${name}:\n${output}`).join('\n'))
  },
  async example({ offline }) {
    const { code, output, says, used } = await runDemo({ services: !offline, from: 'dist', echo: false })
    recordBackends(backendsFile, used)
    process.stdout.write(`  ${says.join('\n  ')}\n`)
    const embeddedByAccident = !offline && says[0].startsWith('backend: embedded')
    return check(code === 0 && !embeddedByAccident, `${says.join('\n')}\n${output}`)
  },
}

async function runStage(stage, options) {
  if (stage.kind === 'check') return checks[stage.name](options)
  const project = stage.project ?? stage.name
  const files = filesOfStage(stage, options.files)
  const node = stage.newerNode ? await newerNode() : process.execPath
  const env = { TIDEMARK_SEED: options.seed, TIDEMARK_SIZE: options.size, TIDEMARK_BACKENDS_FILE: backendsFile }
  // Vitest looks for a whole project's files by itself, so that a file this run does not know of shows in the count.
  const named = stage.newerNode ? files : []
  const { name, timeoutMs } = stage
  return runVitest({ project, name, files: named, fileCount: files.length, env, timeoutMs, node })
}

/** A stage that throws has failed; what was thrown is its output. */
async function tryStage(stage, options) {
  try {
    return await runStage(stage, options)
  } catch (error) {
    const remedy = error instanceof StepError && error.remedy !== undefined ? `\nwhat helps: ${error.remedy}` : ''
    return { ...check(false, `${error?.stack ?? error}${remedy}`), complaint: 'it could not be run' }
  }
}

function printStage(stage, result, durationMs) {
  const { passed, failed, skipped, complaint } = result
  const counts = stage.kind === 'vitest' ? `: ${closingLine({ passed, failed, skipped })}` : ''
  process.stdout.write(`${failed === 0 ? 'ok    ' : 'FAILED'} ${stage.name}${counts} (${seconds(durationMs)})\n`)
  if (failed === 0) return
  if (complaint !== undefined) process.stdout.write(`  ${complaint}\n`)
  process.stdout.write(`${tailOf(result.output ?? '', shownLines)}\n\n`)
}

/** What failed in a stage, said again at the end: a stage without tests of its own stands for itself. */
function failuresOf(stage, { failed, tests, complaint, output = '' }) {
  const own = tests.filter(({ status }) => status === 'failed')
  if (failed === own.length) return own
  const why = complaint ?? tailOf(output, 8)
  return [...own, { file: 'stage', title: stage.name, status: 'failed', why }]
}

/** The gates this run had to show; counted as one check. Only judged when all kinds of tests ran. */
function judgeRunGates(tests) {
  const { milestone, gates } = loadGates()
  const verdicts = judgeGates(gates, tests)
  const bad = verdicts.filter(
    ({ status, milestone: due }) => status === 'failed' || (status === 'missing' && due <= milestone),
  )
  process.stdout.write(`${gatesLine(verdicts)}\n`)
  for (const verdict of bad) process.stdout.write(`  ${gateLine(verdict)}\n`)
  return check(!gatesFail(verdicts, { named: false, strict: false, milestone }))
}

async function main() {
  const command = readCommand('test')
  if (command === undefined) return 0
  const { flags } = command
  const options = {
    offline: flags.offline === true,
    size: flags.size ?? process.env.TIDEMARK_SIZE ?? 'ci',
    only: flags.only,
  }
  const inCi = Boolean(process.env.CI) && !options.offline
  const stages = planStages({ ...options, newerNode: inCi && newerNodeExists() })
  const hint = swallowedFlagHint(process.env, 'test')
  if (hint !== undefined) process.stdout.write(`${hint}\n`)
  const from = performance.now()
  const seed = runSeed()
  process.stdout.write(
    `seed ${seed}, size ${options.size}${options.offline ? ', offline: no service is started or tested' : ''}\n`,
  )

  const needsServices = stages.some(({ name }) => name === 'service' || name === 'example') && !options.offline
  await bootstrap({ services: needsServices ? 'required' : 'none' })
  rmSync(backendsFile, { force: true })
  const files = findTestFiles()
  const results = []
  const failures = []
  for (const stage of stages) {
    const started = performance.now()
    process.stdout.write(`- ${stage.name}\n`)
    const result = await tryStage(stage, { ...options, seed, files })
    printStage(stage, result, performance.now() - started)
    results.push(result)
    failures.push(...failuresOf(stage, result))
  }
  if (options.only === undefined && !options.offline) results.push(judgeRunGates(results.flatMap(({ tests }) => tests)))

  const sum = (field) => results.reduce((total, result) => total + result[field], 0)
  const totals = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
  for (const line of failedTestLines(failures)) process.stdout.write(`${line}\n`)
  process.stdout.write(`${readBackends(backendsFile, options.offline)}\n`)
  process.stdout.write(`took ${seconds(performance.now() - from)}; to repeat: TIDEMARK_SEED=${seed} npm test\n`)
  process.stdout.write(`${closingLine(totals)}\n`)
  return totals.failed === 0 ? 0 : 1
}

/** A run that could not even begin is one failure, said in the same closing words. */
await runMain(async () => {
  try {
    return await main()
  } catch (error) {
    if (error instanceof UsageError) throw error
    const remedy = error instanceof StepError && error.remedy !== undefined ? `\nwhat helps: ${error.remedy}` : ''
    const message = error instanceof StepError ? error.message : (error?.stack ?? error)
    process.stdout.write(`${message}${remedy}\n${closingLine({ passed: 0, failed: 1, skipped: 0 })}\n`)
    return 1
  }
})
