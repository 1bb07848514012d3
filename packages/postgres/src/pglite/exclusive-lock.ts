import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { describeOwner, takeLock } from '@tidemark/core/exclusive-lock'
import type { HereAndNow, ProcessSighting } from '@tidemark/core/exclusive-lock'
import { postgresErrors } from '../errors.ts'
import { nodeLockFiles } from './node-lock-files.ts'

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
export function takeExclusiveLock({ file, auditFile, here, look, nowMs }: LockOptions): ExclusiveLock {
  const taking = takeLock({
    file,
    files: nodeLockFiles,
    here,
    look,
    pid: process.pid,
    nonce: randomBytes(16).toString('hex'),
    onTakeOver(from, by, reason) {
      const line = { at: new Date(nowMs()).toISOString(), event: 'taken-over', reason, from, by }
      appendFileSync(auditFile, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    },
  })
  if (taking.kind === 'held') {
    const { owner, reason } = taking
    throw postgresErrors.create('TM_POSTGRES_DIRECTORY_LOCKED', { file, owner: describeOwner(owner), reason })
  }
  const { lock } = taking
  return {
    file,
    verify() {
      if (!lock.isHeld()) throw postgresErrors.create('TM_POSTGRES_DIRECTORY_LOST', { file })
    },
    release: lock.release,
  }
}
