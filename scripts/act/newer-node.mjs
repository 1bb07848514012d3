import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { machineCache } from './paths.mjs'
import { runCommand, tailOf } from './run-command.mjs'
import { StepError } from './step-log.mjs'

const major = 24

/** Whether npm carries a ready Node for this machine. */
export function newerNodeExists() {
  return process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)
}

/** A Node 24 binary beside the one that runs this, from npm; installed once per machine. */
export async function newerNode() {
  const packageName = `node-${process.platform}-${process.arch}`
  const folder = join(machineCache, `node-${major}`)
  const binary = join(folder, 'node_modules', packageName, 'bin', 'node')
  if (existsSync(binary)) return binary
  mkdirSync(folder, { recursive: true })
  const args = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ]
  const { code, output } = await runCommand('npm', [...args, `${packageName}@${major}`], {
    cwd: folder,
    timeoutMs: 300_000,
  })
  if (code !== 0 || !existsSync(binary)) {
    throw new StepError(
      `npm could not install ${packageName}@${major}:\n${tailOf(output, 8)}`,
      'check that the npm registry is reachable',
    )
  }
  return binary
}
