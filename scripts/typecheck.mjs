#!/usr/bin/env node
// Types: the whole workspace as one program, then every package by its own tsconfig, where the pure ones have no host types.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, toolEntry } from './act/paths.mjs'
import { runNode } from './act/run-command.mjs'
import { runMain, seconds } from './act/step-log.mjs'

/** The programs to check: { name, project }. A package without sources yet has nothing to check. */
export function typePrograms() {
  const packages = readdirSync(join(root, 'packages'))
    .map((name) => ({ name, project: join(root, 'packages', name, 'tsconfig.json') }))
    .filter(({ name, project }) => existsSync(project) && hasSources(join(root, 'packages', name, 'src')))
  return [{ name: 'workspace', project: join(root, 'tsconfig.json') }, ...packages]
}

function hasSources(folder) {
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((file) => file.endsWith('.ts'))
}

/** Checks all; { failed: [{ name, output }], checked }. Two at a time, for two cores. */
export async function typecheck() {
  const waiting = typePrograms()
  const checked = waiting.length
  const failed = []
  const worker = async () => {
    for (let program = waiting.shift(); program !== undefined; program = waiting.shift()) {
      const args = [toolEntry.tsc, '-p', program.project, '--noEmit', '--pretty', 'false']
      const { code, output, durationMs } = await runNode(args, { cwd: root, timeoutMs: 300_000 })
      process.stdout.write(`  ${program.name}: ${code === 0 ? 'ok' : 'errors'} (${seconds(durationMs)})\n`)
      if (code !== 0) failed.push({ name: program.name, output })
    }
  }
  await Promise.all([worker(), worker()])
  return { failed, checked }
}

async function main() {
  const { failed } = await typecheck()
  for (const { name, output } of failed) process.stderr.write(`\n${name}:\n${output}\n`)
  return failed.length === 0 ? 0 : 1
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main)
