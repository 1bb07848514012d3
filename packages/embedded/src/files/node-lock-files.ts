import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { LockFiles } from '@tidemark/core/exclusive-lock'

/** The files of a lock on this machine's file system. */
export const nodeLockFiles: LockFiles = {
  create(path, text) {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
  },
  link(from, to) {
    try {
      linkSync(from, to)
      return true
    } catch (error) {
      if (existsSync(to)) return false
      throw error
    }
  },
  read(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      // A lock that cannot be read is nobody's to hold and nobody's to remove.
      return undefined
    }
  },
  remove(path) {
    rmSync(path, { force: true })
  },
}
