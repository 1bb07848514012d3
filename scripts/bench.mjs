#!/usr/bin/env node
// `npm run bench -- [name] [metric…] [--quick] [--json]`: runs packages/*/bench/*.bench.ts one after the other; a JSON
// object a line, or a table. Metrics and --quick are for benches that know them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bootstrap } from './bootstrap.mjs'
import { root, sourceRunArgs } from './act/paths.mjs'
import { readCommand } from './act/read-command.mjs'
import { runNode, tailOf } from './act/run-command.mjs'
import { runMain, seconds, StepError } from './act/step-log.mjs'
import { benchComplaint, benchFailureLines } from './plan/bench-complaint.mjs'
import { benchTable, readBenchOutput } from './plan/bench-table.mjs'
import { swallowedFlagHint } from './plan/child-environment.mjs'

const timeoutMs = 1_800_000
const saidMax = 20_000

function findBenches(name) {
  const all = readdirSync(join(root, 'packages')).flatMap((packageName) => {
    const folder = join(root, 'packages', packageName, 'bench')
    if (!existsSync(folder)) return []
    const files = readdirSync(folder).filter((file) => file.endsWith('.bench.ts'))
    return files.map((entry) => {
      const file = join(folder, entry)
      const readsArguments = readFileSync(file, 'utf8').includes('process.argv')
      return { name: `${packageName}/${basename(entry, '.bench.ts')}`, file, readsArguments }
    })
  })
  const chosen = name === undefined ? all : all.filter((bench) => bench.name.includes(name))
  if (chosen.length > 0) return chosen.sort((a, b) => a.name.localeCompare(b.name))
  const known = all.map((bench) => bench.name).join(', ') || 'none'
  throw new StepError(name === undefined ? 'there is no bench' : `no bench is called ${name}`, `known: ${known}`)
}

/** A bench that never looks at its arguments would pass over a metric in silence. */
function refuseUnreadMetrics(benches, metrics) {
  if (metrics.length === 0) return
  const deaf = benches.filter(({ readsArguments }) => !readsArguments)
  if (deaf.length > 0)
    throw new StepError(`${deaf[0].name} has no metrics to choose from, so there is no ${metrics[0]}`)
}

async function main() {
  const command = readCommand('bench')
  if (command === undefined) return 0
  const { flags, words } = command
  const benches = findBenches(words[0])
  refuseUnreadMetrics(benches, words.slice(1))
  const args = [...words.slice(1), ...(flags.quick === true ? ['--quick'] : [])]
  // With --json, standard output carries results only.
  const say = (text) => (flags.json ? process.stderr : process.stdout).write(text)
  const hint = swallowedFlagHint(process.env, 'bench')
  if (hint !== undefined) say(`${hint}\n`)
  await quietly(flags.json === true, () => bootstrap({ services: 'required' }))
  const results = []
  const failures = []
  for (const bench of benches) {
    const inFull = flags.quick === true && !bench.readsArguments
    say(`- ${bench.name}${inFull ? ', in full size: it has no quick one' : ''}\n`)
    let said = ''
    const { code, timedOut, stdout, output, durationMs } = await runNode([...sourceRunArgs, bench.file, ...args], {
      cwd: root,
      timeoutMs,
      // A long bench says on standard error where it is.
      onError: (data) => {
        said = `${said}${data}`.slice(-saidMax)
        process.stderr.write(data)
      },
    })
    const read = readBenchOutput(stdout)
    read.remarks.forEach((remark) => say(`  ${remark}\n`))
    if (flags.json) read.results.forEach((result) => process.stdout.write(`${JSON.stringify(result)}\n`))
    results.push(...read.results)
    const complaint = benchComplaint({ code, timedOut, said }, read)
    if (complaint !== undefined) {
      failures.push({ name: bench.name, complaint })
      process.stderr.write(`FAILED ${bench.name}: ${complaint}\n${tailOf(output, 30)}\n`)
    }
    say(`  ${read.results.length} results (${seconds(durationMs)})\n`)
  }
  if (!flags.json && results.length > 0) process.stdout.write(`\n${benchTable(results)}\n`)
  for (const line of benchFailureLines(failures)) say(`${line}\n`)
  return failures.length === 0 ? 0 : 1
}

/** Sends what the bootstrap says to standard error. */
async function quietly(quiet, work) {
  if (!quiet) return work()
  const write = process.stdout.write
  process.stdout.write = (text) => process.stderr.write(text)
  try {
    return await work()
  } finally {
    process.stdout.write = write
  }
}

await runMain(main)
