import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describeOwner, takeLock } from '@tidemark/core/exclusive-lock'
import type { HereAndNow } from '@tidemark/core/exclusive-lock'
import { embeddedErrors } from '../errors.ts'
import { hereAndNow, lookAtProcess } from './here-and-now.ts'
import { nodeLockFiles } from './node-lock-files.ts'

/** The right to be a directory's only writer, until released or until the process ends. */
export interface DirectoryLock {
  readonly path: string
  /** @throws {TidemarkError} TM_EMBEDDED_LOCK_LOST when the lock file no longer names this holder. */
  verify(): void
  release(): void
}

/**
 * Takes the writer's lock of a directory, or takes it over from a process that no longer exists.
 *
 * Synchronous, because nothing else may happen in between and it happens once. Promises: EMB-3.
 * @throws {TidemarkError} TM_EMBEDDED_LOCKED naming the holder.
 */
export function acquireDirectoryLock(directory: string, name: string, here: HereAndNow = hereAndNow()): DirectoryLock {
  const path = join(directory, name)
  const taking = takeLock({
    file: path,
    files: nodeLockFiles,
    here,
    look: lookAtProcess,
    pid: process.pid,
    nonce: randomBytes(16).toString('hex'),
  })
  if (taking.kind === 'held') {
    const { owner, reason } = taking
    throw embeddedErrors.create('TM_EMBEDDED_LOCKED', { file: path, holder: describeOwner(owner), reason })
  }
  const { lock } = taking
  return {
    path,
    verify() {
      if (!lock.isHeld()) throw embeddedErrors.create('TM_EMBEDDED_LOCK_LOST', { file: path })
    },
    release: lock.release,
  }
}
