#!/usr/bin/env node
// Installs what is missing: `node scripts/bootstrap.mjs [--services]`. Needs Node and npm, nothing else.
import { pathToFileURL } from 'node:url'
import { tryNativeClient } from './build-native-client.mjs'
import { fetchKafkaJars, kafkaJarsAreThere } from './act/kafka-jars.mjs'
import { installPnpm, installWorkspace } from './act/install-workspace.mjs'
import { installSystemPackages } from './act/install-system-packages.mjs'
import { compilerReady, debianMajor, javaMajor, onPath, postgresIsThere } from './act/machine-facts.mjs'
import { clientLoads, compileClient } from './act/native-client.mjs'
import { readCommand } from './act/read-command.mjs'
import { runMain, step, StepError } from './act/step-log.mjs'
import { installLine, missingPackages, packageDecision } from './plan/system-packages.mjs'
import { nodeIsSupported } from './plan/tool-versions.mjs'

/**
 * Brings the clone to the point where tests can run. Every step is skipped when it is already done.
 *
 * Shape: wanted = { services: 'required' | 'if-possible' | 'none', named: { redis, kafka, postgres } }; `named` says which services
 * the caller takes from the environment, so that nothing is installed for them. The result { complaints } lists what could not be
 * had, and is empty unless services were wanted only if possible.
 * Throws: StepError with the remedy.
 */
export async function bootstrap(wanted) {
  if (!nodeIsSupported(process.version)) {
    throw new StepError(
      `this is Node ${process.version}; the project needs 20.19.4 or newer`,
      'install Node 20 LTS or newer',
    )
  }
  await step('package manager', installPnpm)
  await step('workspace packages, as the lockfile says', installWorkspace)
  if (wanted.services === 'none') return { complaints: [] }
  const complaints = []
  const attempt = async (work) => {
    try {
      return await work()
    } catch (error) {
      if (wanted.services === 'required' || !(error instanceof StepError)) throw error
      complaints.push(error.remedy === undefined ? error.message : `${error.message} (${error.remedy})`)
      return undefined
    }
  }
  await step('native Kafka client', async () => ((await tryNativeClient()) ? 'loads' : 'has to be compiled'))
  const local = { redis: !wanted.named?.redis, kafka: !wanted.named?.kafka, postgres: !wanted.named?.postgres }
  await attempt(() => installMissingPackages(local))
  if (!(await clientLoads())) {
    await attempt(() => step('compile the native Kafka client (1-3 minutes, once per machine)', () => compileClient()))
  }
  if (local.kafka) await attempt(() => step('Kafka broker jars', fetchKafkaJars))
  return { complaints }
}

async function installMissingPackages(local) {
  const missing = missingPackages(await machineFacts(), { nativeClient: true, ...local })
  const decision = packageDecision({
    missing,
    mode: process.env.TIDEMARK_SYSTEM_PACKAGES || 'auto',
    isRoot: process.getuid?.() === 0,
    hasApt: debianMajor() !== undefined && onPath('apt-get'),
  })
  const names = missing.map(({ name }) => name)
  switch (decision.kind) {
    case 'nothing':
      return
    case 'install':
      for (const [reason, group] of Object.entries(groupByReason(missing))) {
        process.stdout.write(`  to ${reason}: ${group.join(' ')}\n`)
      }
      return step('system packages (Debian, listed above)', () => installSystemPackages(names))
    case 'tell':
      throw new StepError(`system packages are missing: ${names.join(' ')}`, `as root on Debian: ${installLine(names)}`)
    case 'go-without':
      process.stdout.write(`  TIDEMARK_SYSTEM_PACKAGES=never: going on without ${names.join(' ')}\n`)
  }
}

function groupByReason(missing) {
  const groups = {}
  for (const { name, reason } of missing) (groups[reason] ??= []).push(name)
  return groups
}

async function machineFacts() {
  return {
    nativeClientLoads: await clientLoads(),
    compilerReady: await compilerReady(),
    redisServer: onPath('redis-server'),
    postgresServer: postgresIsThere(),
    javaMajor: await javaMajor(),
    kafkaJars: kafkaJarsAreThere(),
    maven: onPath('mvn'),
    debianMajor: debianMajor(),
  }
}

async function main() {
  const command = readCommand('bootstrap')
  if (command === undefined) return
  await bootstrap({ services: command.flags.services ? 'required' : 'none' })
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main)
