#!/usr/bin/env node
// `npm run demo [-- --embedded]`: kills a projector halfway, restarts it, recreates its topic, and proves that the sessions equal the log.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bootstrap } from './bootstrap.mjs'
import { root, sourceRunArgs } from './act/paths.mjs'
import { readCommand } from './act/read-command.mjs'
import { runNode } from './act/run-command.mjs'
import { holdServices } from './act/service-holder.mjs'
import { runMain, StepError } from './act/step-log.mjs'
import { swallowedFlagHint } from './plan/child-environment.mjs'
import { demoBackend } from './plan/demo-backend.mjs'

const demoFile = join(root, 'examples', 'session-projection', 'src', 'demo.ts')
const demoTimeoutMs = 600_000

/**
 * Runs the demo once.
 *
 * Shape: options = { services: boolean, complaints: string[], from: 'source' | 'dist', echo: boolean };
 * gives { code, output, says, used: [{ service, backend }] }.
 */
export async function runDemo({ services, complaints = [], from, echo }) {
  if (!existsSync(demoFile)) throw new StepError('the demo is missing: examples/session-projection/src/demo.ts')
  const nothing = async () => {}
  const asked = !services
    ? { services: { 'real services': { error: 'not asked for' } }, close: nothing }
    : complaints.length > 0
      ? { services: { bootstrap: { error: complaints.join('; ') } }, close: nothing }
      : await holdServices(['kafka', 'redis'])
  try {
    const { env, says } = demoBackend(asked.services)
    if (echo) process.stdout.write(`${says.join('\n  ')}\n`)
    const args = from === 'source' ? sourceRunArgs : ['--import', 'tsx']
    const { code, output } = await runNode([...args, demoFile], { cwd: root, env, echo, timeoutMs: demoTimeoutMs })
    return { code, output, says, used: usedServices(asked.services) }
  } finally {
    await asked.close()
  }
}

function usedServices(services) {
  const entries = Object.entries(services)
  if (entries.some(([, { error }]) => error !== undefined)) return []
  return entries.map(([service, { backend }]) => ({ service, backend }))
}

async function main() {
  const command = readCommand('demo')
  if (command === undefined) return 0
  const { flags } = command
  const hint = swallowedFlagHint(process.env, 'demo')
  if (hint !== undefined) process.stdout.write(`${hint}\n`)
  const services = flags.embedded !== true
  // Nothing of the demo runs on Postgres.
  const named = { redis: Boolean(process.env.REDIS_URL), kafka: Boolean(process.env.KAFKA_BROKERS), postgres: true }
  const { complaints } = await bootstrap({ services: services ? 'if-possible' : 'none', named })
  const { code } = await runDemo({ services, complaints, from: 'source', echo: true })
  return code ?? 1
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main)
