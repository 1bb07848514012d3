import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** What this clone may throw away: the package manager, stamps, results of runs. */
export const repositoryCache = join(root, '.cache')

/** What clones on one machine share: the broker's jars and the built native client. TIDEMARK_CACHE moves it. */
export const machineCache = process.env.TIDEMARK_CACHE || join(homedir(), '.cache', 'tidemark')

/** The package manager as the bootstrap installed it. */
export const pnpmEntry = join(repositoryCache, 'pnpm', 'node_modules', 'pnpm', 'bin', 'pnpm.cjs')

/** The JavaScript entry of a root development tool, so that no shell wrapper is needed. */
export const toolEntry = {
  prettier: join(root, 'node_modules', 'prettier', 'bin', 'prettier.cjs'),
  oxlint: join(root, 'node_modules', 'oxlint', 'bin', 'oxlint'),
  knip: join(root, 'node_modules', 'knip', 'bin', 'knip.js'),
  tsc: join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
  vitest: join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  tsup: join(root, 'node_modules', 'tsup', 'dist', 'cli-default.js'),
}

/** Node arguments that run a TypeScript file on the workspace's sources. */
export const sourceRunArgs = ['--import', 'tsx', '--conditions=@tidemark/source']
