import { createHash, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { embeddedErrors } from '../errors.ts'

/** The right to be a directory's only writer, until released or until the process ends. */
export interface DirectoryLock {
  readonly path: string
  /** @throws {TidemarkError} TM_EMBEDDED_LOCK_LOST when the lock file no longer names this holder. */
  verify(): void
  release(): void
}

interface Holder {
  readonly pid: number
  readonly host: string
  /** A digest of the machine's own id, `unknown` where it has none: one host name may be given to several machines. */
  readonly machine: string
  /** When the process started and in which boot, so that a reused process id is not taken for the holder. */
  readonly start: string
  readonly nonce: string
}

const unknownMachine = 'unknown'

/**
 * Takes the writer's lock of a directory, or takes it over from a process that no longer exists.
 *
 * Synchronous, because nothing else may happen in between and it happens once.
 * @throws {TidemarkError} TM_EMBEDDED_LOCKED naming the holder.
 */
export function acquireDirectoryLock(
  directory: string,
  name: string,
  machine: string = machineDigest(),
): DirectoryLock {
  const path = join(directory, name)
  const holder: Holder = {
    pid: process.pid,
    host: hostname(),
    machine,
    start: processStart(process.pid) ?? 'unknown',
    nonce: randomBytes(16).toString('hex'),
  }
  const text = `${JSON.stringify(holder)}\n`
  const own = `${path}.${holder.nonce}`
  writeFileSync(own, text, { flag: 'wx' })
  try {
    // A link appears with its content or fails because the name is taken; there is never an empty lock file.
    if (!tryLink(own, path)) {
      removeStale(path, machine)
      if (!tryLink(own, path)) throw locked(path, describe(readHolder(path)))
    }
  } finally {
    rmSync(own, { force: true })
  }
  return {
    path,
    verify() {
      if (readText(path) !== text) throw embeddedErrors.create('TM_EMBEDDED_LOCK_LOST', { file: path })
    },
    release() {
      if (readText(path) === text) rmSync(path, { force: true })
    },
  }
}

function removeStale(path: string, machine: string): void {
  const judged = readText(path)
  if (judged === undefined) return
  const holder = parseHolder(judged)
  if (holder === undefined) throw locked(path, 'an unreadable lock file')
  if (isAlive(holder, machine)) throw locked(path, describe(holder))
  const aside = `${path}.stale-${randomBytes(8).toString('hex')}`
  try {
    renameSync(path, aside)
  } catch {
    // Somebody else took it over first; the link that follows decides.
    return
  }
  try {
    // Between the judgement and the rename another process may have taken over: then its lock goes back.
    if (readText(aside) !== judged) {
      tryLink(aside, path)
      throw locked(path, describe(readHolder(aside)))
    }
  } finally {
    rmSync(aside, { force: true })
  }
}

function isAlive(holder: Holder, machine: string): boolean {
  // The process ids of another host mean nothing here, so its lock is never judged stale.
  if (holder.host !== hostname()) return true
  if (holder.machine !== machine && holder.machine !== unknownMachine && machine !== unknownMachine) return true
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const start = processStart(holder.pid)
  return start === undefined || holder.start === 'unknown' || start === holder.start
}

/** The start of a process as the kernel counts it, where the system says. */
function processStart(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  const boot = readText('/proc/sys/kernel/random/boot_id')
  if (stat === undefined || boot === undefined) return undefined
  // The second field is the name in parentheses and may hold blanks; the start time is the 20th after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[19] === undefined ? undefined : `${boot.trim()}:${fields[19]}`
}

/** Stands for the machine's id, which is confidential, in a file that others may read. Source: machine-id(5). */
function machineDigest(): string {
  const id = readText('/etc/machine-id')?.trim() ?? ''
  if (!/^[0-9a-f]{32}$/.test(id)) return unknownMachine
  return createHash('sha256').update(`tidemark lock ${id}`).digest('hex').slice(0, 32)
}

function readHolder(path: string): Holder | undefined {
  return parseHolder(readText(path) ?? '')
}

function parseHolder(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as Partial<Holder> | null
    const { pid, host, machine = unknownMachine, start, nonce } = value ?? {}
    if (!Number.isSafeInteger(pid) || typeof host !== 'string') return undefined
    if (typeof start !== 'string' || typeof nonce !== 'string') return undefined
    if (typeof machine !== 'string') return undefined
    return { pid: pid!, host, machine, start, nonce }
  } catch {
    return undefined
  }
}

function describe(holder: Holder | undefined): string {
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (existsSync(to)) return false
    throw error
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function locked(file: string, holder: string): Error {
  return embeddedErrors.create('TM_EMBEDDED_LOCKED', { file, holder })
}
