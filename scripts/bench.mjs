#!/usr/bin/env node
// `npm run bench -- [name] [metric…] [--quick] [--json]`: runs packages/*/bench/*.bench.ts one after the other; a JSON
// object a line, or a table. Metrics and --quick are for benches that know them.
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bootstrap } from './bootstrap.mjs'
import { root, sourceRunArgs } from './act/paths.mjs'
import { readCommand } from './act/read-command.mjs'
import { runNode, tailOf } from './act/run-command.mjs'
import { runMain, seconds, StepError } from './act/step-log.mjs'
import { benchTable, readBenchOutput } from './plan/bench-table.mjs'
import { swallowedFlagHint } from './plan/child-environment.mjs'

const timeoutMs = 1_800_000

function findBenches(name) {
  const all = readdirSync(join(root, 'packages')).flatMap((packageName) => {
    const folder = join(root, 'packages', packageName, 'bench')
    if (!existsSync(folder)) return []
    const files = readdirSync(folder).filter((file) => file.endsWith('.bench.ts'))
    return files.map((file) => ({ name: `${packageName}/${basename(file, '.bench.ts')}`, file: join(folder, file) }))
  })
  const chosen = name === undefined ? all : all.filter((bench) => bench.name.includes(name))
  if (chosen.length > 0) return chosen.sort((a, b) => a.name.localeCompare(b.name))
  const known = all.map((bench) => bench.name).join(', ') || 'none'
  throw new StepError(name === undefined ? 'there is no bench' : `no bench is called ${name}`, `known: ${known}`)
}

async function main() {
  const command = readCommand('bench')
  if (command === undefined) return 0
  const { flags, words } = command
  const benches = findBenches(words[0])
  const args = [...words.slice(1), ...(flags.quick === true ? ['--quick'] : [])]
  // With --json, standard output carries results only.
  const say = (text) => (flags.json ? process.stderr : process.stdout).write(text)
  const hint = swallowedFlagHint(process.env, 'bench')
  if (hint !== undefined) say(`${hint}\n`)
  await quietly(flags.json === true, () => bootstrap({ services: 'required' }))
  const results = []
  let bad = 0
  for (const bench of benches) {
    say(`- ${bench.name}\n`)
    const { code, stdout, output, durationMs } = await runNode([...sourceRunArgs, bench.file, ...args], {
      cwd: root,
      timeoutMs,
      // A long bench says on standard error where it is.
      onError: (data) => process.stderr.write(data),
    })
    const read = readBenchOutput(stdout)
    read.remarks.forEach((remark) => say(`  ${remark}\n`))
    if (flags.json) read.results.forEach((result) => process.stdout.write(`${JSON.stringify(result)}\n`))
    results.push(...read.results)
    const complaint =
      code !== 0 ? `exit code ${code}` : read.results.length === 0 ? 'it printed no result' : read.faults[0]
    if (complaint !== undefined) {
      bad += 1
      process.stderr.write(`FAILED ${bench.name}: ${complaint}\n${tailOf(output, 30)}\n`)
    }
    say(`  ${read.results.length} results (${seconds(durationMs)})\n`)
  }
  if (!flags.json) process.stdout.write(`\n${benchTable(results)}\n`)
  return bad === 0 ? 0 : 1
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
