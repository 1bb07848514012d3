import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kafkaVersion } from './kafka-jars.mjs'
import { root } from './paths.mjs'
import { runCommand } from './run-command.mjs'

/** The commit that is checked out and whether tracked files differ from it; `unknown` without git. */
export async function checkedOutCommit() {
  const head = await runCommand('git', ['rev-parse', 'HEAD'], { cwd: root, timeoutMs: 30_000 })
  if (head.code !== 0) return { commit: 'unknown', dirty: true }
  const status = await runCommand('git', ['status', '--porcelain', '--untracked-files=no'], {
    cwd: root,
    timeoutMs: 30_000,
  })
  return { commit: head.stdout.trim(), dirty: status.stdout.trim() !== '' }
}

/** The version of the Postgres that tests would start: Debian's newest, else the one on PATH. */
async function postgresVersion(folder = '/usr/lib/postgresql') {
  const versions = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : []
  const newest = versions.sort((a, b) => b - a)[0]
  const command = newest === undefined ? 'postgres' : join(folder, newest, 'bin', 'postgres')
  const { stdout } = await runCommand(command, ['--version'], { timeoutMs: 10_000 })
  return /PostgreSQL\) (\S+)/.exec(stdout)?.[1] ?? 'unknown'
}

/** Versions that a result depends on. */
export async function usedVersions() {
  const redis = await runCommand('redis-server', ['--version'], { timeoutMs: 10_000 })
  const postgres = await postgresVersion()
  const lock = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const pinned = (name) => new RegExp(`^\\s+'?${name}'?: (\\S+)$`, 'm').exec(lock)?.[1] ?? 'unknown'
  return {
    node: process.version,
    kafka: kafkaVersion,
    postgres,
    redis: /v=(\S+)/.exec(redis.stdout)?.[1] ?? 'unknown',
    '@confluentinc/kafka-javascript': pinned('@confluentinc/kafka-javascript'),
    '@platformatic/kafka': pinned('@platformatic/kafka'),
    ioredis: pinned('ioredis'),
    pg: pinned('pg'),
    '@electric-sql/pglite': pinned('@electric-sql/pglite'),
  }
}
