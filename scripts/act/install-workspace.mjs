import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pnpmEntry, repositoryCache, root } from './paths.mjs'
import { runCommand, runNode, tailOf } from './run-command.mjs'
import { StepError } from './step-log.mjs'

const networkRemedy = 'check that the npm registry is reachable (npm ping), then run again'

/** The exact pnpm version that the root manifest demands. */
export function demandedPnpm(manifest) {
  const match = /^pnpm@(\d+\.\d+\.\d+)/.exec(manifest.packageManager ?? '')
  if (match === null) throw new StepError('package.json has no packageManager of the form pnpm@x.y.z')
  return match[1]
}

/** Puts exactly the demanded pnpm into `.cache/pnpm`. */
export async function installPnpm() {
  const version = demandedPnpm(readManifest(join(root, 'package.json')))
  const folder = join(repositoryCache, 'pnpm')
  const installed = join(folder, 'node_modules', 'pnpm', 'package.json')
  if (existsSync(installed) && existsSync(pnpmEntry) && readManifest(installed).version === version)
    return 'already there'
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
  const { code, output } = await runCommand('npm', [...args, `pnpm@${version}`], { cwd: folder, timeoutMs: 180_000 })
  if (code !== 0) throw new StepError(`npm could not install pnpm ${version}:\n${tailOf(output, 12)}`, networkRemedy)
  return `pnpm ${version}`
}

/** Installs the workspace exactly as the lockfile says; nothing is built. */
export async function installWorkspace() {
  const stampFile = join(root, 'node_modules', '.tidemark-install')
  const stamp = workspaceStamp()
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp && everyPackageIsLinked())
    return 'already there'
  const args = [pnpmEntry, 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only']
  const { code, output } = await runNode(args, { cwd: root, env: { CI: 'true' }, timeoutMs: 900_000 })
  if (code !== 0) {
    const outdated = output.includes('ERR_PNPM_OUTDATED_LOCKFILE')
    const remedy = outdated
      ? 'a package.json changed: run `node .cache/pnpm/node_modules/pnpm/bin/pnpm.cjs install` and commit pnpm-lock.yaml'
      : networkRemedy
    throw new StepError(`pnpm install failed:\n${tailOf(output, 15)}`, remedy)
  }
  writeFileSync(stampFile, stamp)
}

/** Changes with everything that decides what an install lays down. */
function workspaceStamp() {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\n`)
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...packageManifests()]
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function packageManifests() {
  return ['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => join(folder, name, 'package.json'))
      .filter((file) => existsSync(join(root, file)))
      .sort(),
  )
}

/** A package whose dependencies were removed by hand must not pass as installed. */
function everyPackageIsLinked() {
  return packageManifests().every((file) => {
    const manifest = readManifest(join(root, file))
    const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    return names.every((name) => existsSync(join(root, file, '..', 'node_modules', name)))
  })
}

function readManifest(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
