import { runCommand, tailOf } from './run-command.mjs'
import { StepError } from './step-log.mjs'

const lockTimeoutSeconds = 300
const aptOptions = ['-o', `DPkg::Lock::Timeout=${lockTimeoutSeconds}`]

/**
 * Installs Debian packages. The caller has made sure that this process is root and has said which packages.
 *
 * Why RUNLEVEL: a package that brings a daemon must not start it here; tests start their own on free ports.
 */
export async function installSystemPackages(packages) {
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const { code, output, timedOut } = await runCommand('apt-get', [...aptOptions, ...args], {
      env,
      timeoutMs: 1_200_000,
    })
    if (code === 0) continue
    const why = timedOut ? 'did not end within 20 minutes' : `failed with exit code ${code}`
    throw new StepError(
      `apt-get ${args[0]} ${why}:\n${tailOf(output, 15)}`,
      'check the network and the package sources, then run again',
    )
  }
}
