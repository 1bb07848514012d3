import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { postgresErrors } from '../errors.ts'
import { decodeOwner, describeOwner, encodeOwner, judgeOwner } from './lock-owner.ts'
import type { HereAndNow, LockOwner, ProcessSighting } from './lock-owner.ts'

/** The right to be the only process on a directory, until released or until the process ends. */
export interface ExclusiveLock {
  readonly file: string
  /** @throws {TidemarkError} TM_POSTGRES_DIRECTORY_LOST when the file no longer names this holder. */
  verify(): void
  release(): void
}

/** What a lock is taken with. */
export interface LockOptions {
  /** The lock file, beside the directory it stands for. */
  readonly file: string
  /** Where takeovers are written down, a JSON object a line. */
  readonly auditFile: string
  readonly here: HereAndNow
  readonly look: (pid: number) => ProcessSighting
  readonly nowMs: () => number
}

/**
 * Takes a lock, or takes it over from an owner that is certainly gone and writes that down.
 *
 * Synchronous, because nothing else may happen in between and it happens once. Promises: PGS-21, PGS-22.
 * @throws {TidemarkError} TM_POSTGRES_DIRECTORY_LOCKED naming the owner and why it is not taken over.
 */
export function takeExclusiveLock(options: LockOptions): ExclusiveLock {
  const { file, here, look } = options
  const self = look(process.pid)
  const owner: LockOwner = {
    ...here,
    pid: process.pid,
    startTicks: (self.kind === 'running' ? self.startTicks : undefined) ?? 'unknown',
    nonce: randomBytes(16).toString('hex'),
  }
  const text = encodeOwner(owner)
  const own = `${file}.${owner.nonce}`
  writeFileSync(own, text, { flag: 'wx', mode: 0o600 })
  try {
    // A link appears with its content or fails because the name is taken; there is never an empty lock file.
    if (!tryLink(own, file)) {
      takeOver(options, owner)
      if (!tryLink(own, file)) throw locked(file, readOwner(file), 'it was taken over in the same moment')
    }
  } finally {
    rmSync(own, { force: true })
  }
  return {
    file,
    verify() {
      if (readText(file) !== text) throw postgresErrors.create('TM_POSTGRES_DIRECTORY_LOST', { file })
    },
    release() {
      if (readText(file) === text) rmSync(file, { force: true })
    },
  }
}

/** Removes the lock of an owner that is gone, or says why it stays. */
function takeOver(options: LockOptions, by: LockOwner): void {
  const { file, auditFile, here, look, nowMs } = options
  const judged = readText(file)
  if (judged === undefined) return
  const owner = decodeOwner(judged)
  if (owner === undefined) throw locked(file, undefined, 'its content names no owner, so that nobody can be asked')
  const verdict = judgeOwner(owner, here, look)
  if (verdict.kind === 'held') throw locked(file, owner, verdict.reason)
  const aside = `${file}.stale-${by.nonce}`
  try {
    renameSync(file, aside)
  } catch {
    // Somebody else took it over first; the link that follows decides.
    return
  }
  try {
    // Between the judgement and the rename another process may have taken over: then its lock goes back.
    if (readText(aside) !== judged) {
      tryLink(aside, file)
      throw locked(file, readOwner(aside), 'it was taken over in the same moment')
    }
    const line = { at: new Date(nowMs()).toISOString(), event: 'taken-over', reason: verdict.reason, from: owner, by }
    appendFileSync(auditFile, `${JSON.stringify(line)}\n`, { mode: 0o600 })
  } finally {
    rmSync(aside, { force: true })
  }
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

function readOwner(file: string): LockOwner | undefined {
  return decodeOwner(readText(file) ?? '')
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function locked(file: string, owner: LockOwner | undefined, reason: string): Error {
  return postgresErrors.create('TM_POSTGRES_DIRECTORY_LOCKED', { file, owner: describeOwner(owner), reason })
}
