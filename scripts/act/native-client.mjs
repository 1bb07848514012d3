import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { nativeClientKey } from '../plan/native-client-key.mjs'
import { nodeHeadersFolder, onPath } from './machine-facts.mjs'
import { machineCache, repositoryCache, root } from './paths.mjs'
import { runCommand, runNode, tailOf } from './run-command.mjs'
import { StepError } from './step-log.mjs'

const prebuiltTimeoutMs = 30_000
const compileTimeoutMs = 1_200_000

/** The installed client package, links resolved. */
export function clientFolder() {
  const link = join(root, 'packages', 'kafka', 'node_modules', '@confluentinc', 'kafka-javascript')
  if (!existsSync(link))
    throw new StepError('the Kafka client package is not installed', 'run `node scripts/bootstrap.mjs`')
  return realpathSync(link)
}

/** Whether Node can load the client; asked in a process of its own, since a broken binary may crash it. */
export async function clientLoads(folder = clientFolder()) {
  const { code } = await runNode(['-e', `require(${JSON.stringify(folder)})`], { timeoutMs: 60_000 })
  return code === 0
}

function keptBuilds(folder) {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const key = nativeClientKey({
    clientVersion: version,
    platform: process.platform,
    arch: process.arch,
    nodeAbi: process.versions.modules,
    libc: process.report.getReport().header.glibcVersionRuntime === undefined ? 'other' : 'glibc',
  })
  return [join(repositoryCache, 'native', key), join(machineCache, 'native', key)]
}

/** Whether a finished build is kept on this machine. */
export function clientIsKept(folder = clientFolder()) {
  return keptBuilds(folder).some((kept) => existsSync(kept))
}

/** Copies a kept build into the package; true when it then loads. A kept build that does not load is left out of use. */
export async function restoreClient(folder = clientFolder()) {
  for (const kept of keptBuilds(folder)) {
    if (!existsSync(kept)) continue
    installBuild(kept, folder)
    if (await clientLoads(folder)) {
      keepBuild(folder)
      return true
    }
    rmSync(join(folder, 'build'), { recursive: true, force: true })
  }
  return false
}

/** Downloads the vendor's binary, if its host can be reached in time. */
export async function fetchPrebuiltClient(folder = clientFolder()) {
  const tool = join(dirname(dirname(folder)), '@mapbox', 'node-pre-gyp', 'bin', 'node-pre-gyp')
  if (!existsSync(tool)) return false
  const { code } = await runNode([tool, 'install'], { cwd: folder, timeoutMs: prebuiltTimeoutMs })
  if (code === 0 && (await clientLoads(folder))) {
    keepBuild(folder)
    return true
  }
  rmSync(join(folder, 'build'), { recursive: true, force: true })
  return false
}

/**
 * Compiles the client against the system's libraries, in a copy, so that an interrupted build leaves nothing half done.
 *
 * Why not node-gyp alone: its own rules configure and make librdkafka as one target, which fails in a parallel build and
 * otherwise starts as many compilers as there are files.
 */
export async function compileClient(folder = clientFolder()) {
  const work = mkdtempSync(join(tmpdir(), 'tidemark-native-'))
  try {
    const skipped = new Set([join(folder, 'node_modules'), join(folder, 'build')])
    cpSync(folder, work, { recursive: true, filter: (source) => !skipped.has(source) })
    await runBuildSteps(folder, work)
    installBuild(await collectBuild(work), folder)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  if (!(await clientLoads(folder))) {
    const { output } = await runNode(['-e', `require(${JSON.stringify(folder)})`])
    throw new StepError(`the Kafka client was compiled but does not load:\n${tailOf(output, 12)}`)
  }
  keepBuild(folder)
}

async function runBuildSteps(folder, work) {
  const gyp = join(
    repositoryCache,
    'pnpm',
    'node_modules',
    'pnpm',
    'dist',
    'node_modules',
    'node-gyp',
    'bin',
    'node-gyp.js',
  )
  const headers = nodeHeadersFolder()
  const env = {
    CKJS_LINKING: 'dynamic',
    // The copy has no node_modules; its build asks for `nan` by name.
    NODE_PATH: dirname(dirname(folder)),
    ...(headers === undefined ? {} : { npm_config_nodedir: headers }),
  }
  const jobs = String(availableParallelism())
  const steps = [
    ['node-gyp configure', process.execPath, [gyp, 'configure']],
    ['configure librdkafka', process.execPath, [join(work, 'util', 'configure')]],
    ['make librdkafka', 'make', ['-j', jobs, '-C', join(work, 'deps', 'librdkafka'), 'libs', 'install-subdirs']],
    ['node-gyp build', process.execPath, [gyp, 'build', '--jobs', jobs]],
  ]
  for (const [name, command, args] of steps) {
    const { code, output, timedOut } = await runCommand(command, args, { cwd: work, env, timeoutMs: compileTimeoutMs })
    if (code === 0) continue
    const what = timedOut ? 'ran out of time' : 'failed'
    throw new StepError(`compiling the Kafka client: ${name} ${what}:\n${tailOf(output, 20)}`, compileRemedy(headers))
  }
}

function compileRemedy(headers) {
  if (headers === undefined) {
    return `this Node (${process.version}) has no header files beside it: install Node with its headers, or set npm_config_nodedir to a folder with include/node/node.h`
  }
  return 'install the packages that `TIDEMARK_SYSTEM_PACKAGES=print node scripts/bootstrap.mjs` names, then run again'
}

/** Keeps what is needed to run: the add-on and the two shared libraries beside it. */
async function collectBuild(work) {
  const collected = join(work, 'collected')
  mkdirSync(join(collected, 'Release'), { recursive: true })
  mkdirSync(join(collected, 'deps'))
  cpSync(
    join(work, 'build', 'Release', 'confluent-kafka-javascript.node'),
    join(collected, 'Release', 'confluent-kafka-javascript.node'),
  )
  for (const name of readdirSync(join(work, 'build', 'deps'))) {
    if (/\.so\.1$|\.1\.dylib$/.test(name)) cpSync(join(work, 'build', 'deps', name), join(collected, 'deps', name))
  }
  if (onPath('strip') && process.platform === 'linux') {
    // Debug symbols are most of its size, and this is copied into every clone.
    const files = readdirSync(join(collected, 'deps')).map((name) => join(collected, 'deps', name))
    await runCommand('strip', ['-S', ...files])
  }
  return collected
}

function installBuild(from, folder) {
  rmSync(join(folder, 'build'), { recursive: true, force: true })
  cpSync(from, join(folder, 'build'), { recursive: true })
}

/** Another clone on this machine, or a re-install in this one, then needs no compiler. */
function keepBuild(folder) {
  for (const kept of keptBuilds(folder)) {
    if (existsSync(kept)) continue
    const partial = `${kept}.${process.pid}`
    mkdirSync(dirname(kept), { recursive: true })
    cpSync(join(folder, 'build'), partial, { recursive: true })
    try {
      renameSync(partial, kept)
    } catch {
      // Another process kept the same build first.
      rmSync(partial, { recursive: true, force: true })
    }
  }
}
