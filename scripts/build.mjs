#!/usr/bin/env node
// Builds dist of every package in dependency order, two at a time.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, toolEntry } from './act/paths.mjs'
import { runNode } from './act/run-command.mjs'
import { runMain, seconds } from './act/step-log.mjs'
import { buildRounds } from './plan/build-order.mjs'

function buildablePackages() {
  return readdirSync(join(root, 'packages'))
    .map((folder) => join(root, 'packages', folder))
    .filter((folder) => existsSync(join(folder, 'tsup.config.ts')))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      return { name: manifest.name, folder, dependencies }
    })
}

/** Builds all; stops after the first round with a failure: { failed: [{ name, output }], built }. */
export async function build() {
  const packages = buildablePackages()
  const folderOf = new Map(packages.map(({ name, folder }) => [name, folder]))
  const failed = []
  let built = 0
  for (const round of buildRounds(packages)) {
    const waiting = [...round]
    const worker = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const { code, output, durationMs } = await runNode([toolEntry.tsup], {
          cwd: folderOf.get(name),
          timeoutMs: 300_000,
          env: { NO_COLOR: '1' },
        })
        process.stdout.write(`  ${name}: ${code === 0 ? 'built' : 'failed'} (${seconds(durationMs)})\n`)
        if (code === 0) built += 1
        else failed.push({ name, output })
      }
    }
    await Promise.all([worker(), worker()])
    if (failed.length > 0) break
  }
  return { failed, built }
}

async function main() {
  const { failed } = await build()
  for (const { name, output } of failed) process.stderr.write(`\n${name}:\n${output}\n`)
  return failed.length === 0 ? 0 : 1
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main)
