// Reading order: lock-owner (who holds it, and is that one gone) -> lock-files (port) -> take-lock.
export { decodeOwner, describeOwner, encodeOwner, judgeOwner } from './lock-owner.ts'
export type { HereAndNow, LockOwner, OwnerVerdict, ProcessSighting } from './lock-owner.ts'
export type { LockFiles } from './lock-files.ts'
export { takeLock } from './take-lock.ts'
export type { LockRequest, LockTaking, TakenLock } from './take-lock.ts'
