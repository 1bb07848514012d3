#!/usr/bin/env node
// `npm run check:fresh [-- --clone] [--chroot=<debootstrapped folder>]`: what a newcomer's machine would meet.
//   always    the decisions for seven kinds of machines, and a bootstrap whose PATH has no tools and whose caches are empty
//   --clone   the same bootstrap, and the offline tests, in a new clone of the committed tree with an empty home
//   --chroot  the bootstrap with a real installation in a bare Debian root (as root; see `chrootRemedy`)
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './act/paths.mjs'
import { readCommand } from './act/read-command.mjs'
import { runCommand, runNode, tailOf } from './act/run-command.mjs'
import { runMain, seconds, StepError } from './act/step-log.mjs'
import { freshMachines } from './plan/fresh-machines.mjs'
import { missingPackages, packageDecision } from './plan/system-packages.mjs'

const chrootRemedy = 'as root: apt-get install debootstrap && debootstrap --variant=minbase bookworm <folder> <mirror>'
const everything = { nativeClient: true, redis: true, kafka: true }

/** A folder that holds only the programs a newcomer surely has: Node, npm and the shell's own. */
function barePath(folder) {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const name of ['sh', 'env', 'uname', 'ldd', 'getconf', 'cat']) {
    const file = ['/bin', '/usr/bin'].map((where) => join(where, name)).find(existsSync)
    if (file !== undefined) symlinkSync(file, join(bin, name))
  }
  symlinkSync(process.execPath, join(bin, 'node'))
  const npm = [join(dirname(process.execPath), 'npm'), '/usr/bin/npm', '/usr/local/bin/npm'].find(existsSync)
  if (npm === undefined) throw new StepError('npm is not beside this Node')
  symlinkSync(npm, join(bin, 'npm'))
  return bin
}

/** The committed tree in a new folder, with nothing installed. */
async function cloneInto(folder) {
  const clone = join(folder, 'clone')
  const { code, output } = await runCommand('git', ['clone', '-q', '--no-hardlinks', root, clone], {
    timeoutMs: 120_000,
  })
  if (code !== 0) throw new StepError(`git clone failed:\n${tailOf(output, 5)}`)
  return clone
}

const checks = []
function report(name, good, detail = '') {
  checks.push(good)
  process.stdout.write(`${good ? 'ok    ' : 'FAILED'} ${name}${good ? '' : `\n${detail}`}\n`)
}

function checkDecisions() {
  for (const { name, facts, isRoot, hasApt, mode, decision, asksFor } of freshMachines) {
    const missing = missingPackages(facts, everything)
    const names = missing.map((one) => one.name)
    const decided = packageDecision({ missing, mode, isRoot, hasApt }).kind
    const good =
      decided === decision && asksFor.every((one) => names.includes(one)) && (asksFor.length > 0 || names.length === 0)
    report(`${name}: ${decided}`, good, `  asked for ${names.join(' ') || 'nothing'}, decided ${decided}`)
  }
}

/** Without tools and without rights to install: it must stop with one line that names everything, and leave no half-built client. */
async function checkBareBootstrap(clone, home, bin) {
  const env = bareEnvironment(home, bin, 'print')
  const from = performance.now()
  const { code, output } = await runNode(['scripts/bootstrap.mjs', '--services'], {
    cwd: clone,
    env,
    timeoutMs: 600_000,
  })
  const told = ['g++', 'redis-server', 'jre-headless', 'maven'].every((name) => output.includes(name))
  const line = output.split('\n').filter((one) => one.includes('apt-get install -y --no-install-recommends'))
  report(
    `no tools, empty caches: stops with one line to paste (${seconds(performance.now() - from)})`,
    code === 1 && told && line.length === 1,
    tailOf(output, 15),
  )
}

async function checkOfflineTests(clone, home, bin) {
  const env = bareEnvironment(home, bin, 'never')
  const args = ['scripts/test.mjs', '--offline', '--only=unit']
  const { code, output } = await runNode(args, { cwd: clone, env, timeoutMs: 900_000 })
  report(
    'no tools, empty caches: `npm test -- --offline --only=unit` passes',
    code === 0 && /^\d+ passed, 0 failed$/m.test(output),
    tailOf(output, 30),
  )
}

function bareEnvironment(home, bin, mode) {
  return {
    PATH: bin,
    HOME: home,
    JAVA_HOME: '',
    TIDEMARK_CACHE: join(home, 'cache'),
    TIDEMARK_KAFKA_HOME: '',
    TIDEMARK_SYSTEM_PACKAGES: mode,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'xdg-cache'),
    KAFKA_BROKERS: '',
    REDIS_URL: '',
  }
}

/** A bare Debian with Node alone: the bootstrap installs everything, and a second run has nothing left to do. */
async function checkChroot(folder) {
  if (process.getuid?.() !== 0 || !existsSync(join(folder, 'etc', 'debian_version'))) {
    throw new StepError(`${folder} is not a Debian root, or this is not root`, chrootRemedy)
  }
  const clone = await cloneInto(mkdtempSync(join(folder, 'tmp', 'tidemark-')))
  const inside = clone.slice(folder.length)
  const env = ['HOME=/root', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']
  const run = (script) => {
    const command = `cd ${inside} && node scripts/${script}`
    return runCommand('chroot', [folder, '/usr/bin/env', '-i', ...env, '/bin/sh', '-c', command], {
      timeoutMs: 2_400_000,
    })
  }
  const first = await run('bootstrap.mjs --services')
  report(
    `a bare Debian root: bootstrap installs everything (${seconds(first.durationMs)})`,
    first.code === 0,
    tailOf(first.output, 20),
  )
  const second = await run('bootstrap.mjs --services')
  report(
    `the same again: nothing left to do (${seconds(second.durationMs)})`,
    second.code === 0 && second.durationMs < 20_000,
    tailOf(second.output, 20),
  )
  rmSync(dirname(clone), { recursive: true, force: true })
}

async function main() {
  const command = readCommand('check:fresh')
  if (command === undefined) return 0
  const { flags } = command
  checkDecisions()
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-fresh-'))
  try {
    const home = join(folder, 'home')
    mkdirSync(home)
    const bin = barePath(folder)
    const clone = await cloneInto(folder)
    if (existsSync(join(process.env.HOME ?? '/', '.npmrc')))
      cpSync(join(process.env.HOME ?? '/', '.npmrc'), join(home, '.npmrc'))
    await checkBareBootstrap(clone, home, bin)
    if (flags.clone) await checkOfflineTests(clone, home, bin)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (typeof flags.chroot === 'string') await checkChroot(flags.chroot)
  const failed = checks.filter((good) => !good).length
  process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

await runMain(main)
