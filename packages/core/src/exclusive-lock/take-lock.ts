import { decodeOwner, encodeOwner, judgeOwner, UNKNOWN_START } from './lock-owner.ts'
import type { HereAndNow, LockOwner, OwnerVerdict, ProcessSighting } from './lock-owner.ts'
import type { LockFiles } from './lock-files.ts'

/** What a lock is taken with. */
export interface LockRequest {
  /** The lock file. Files beside it whose names begin with its name and a dot belong to the lock too. */
  readonly file: string
  readonly files: LockFiles
  readonly here: HereAndNow
  readonly look: (pid: number) => ProcessSighting
  readonly pid: number
  /** 32 random hexadecimal digits. */
  readonly nonce: string
  /** Told before the lock of an owner that is gone is removed. */
  readonly onTakeOver?: (from: LockOwner, by: LockOwner, reason: string) => void
}

/** The right to be the only one, until released or until the process ends. */
export interface TakenLock {
  /** Whether the lock file still names this holder. */
  isHeld(): boolean
  release(): void
}

/** A lock, or who has it and why it is not taken over; an owner that cannot be read is `undefined`. */
export type LockTaking =
  | { readonly kind: 'taken'; readonly lock: TakenLock }
  | { readonly kind: 'held'; readonly owner: LockOwner | undefined; readonly reason: string }

/**
 * Takes a lock, or takes it over from an owner that is certainly gone.
 *
 * A lock that somebody holds is never moved, not for a moment: the right to remove the lock of a dead owner is a lock of
 * its own, named by that owner's nonce, and whoever has it looks once more before it removes anything. A process that dies
 * while it takes over leaves that lock behind, and it is taken over in the same way.
 * Promises: COR-12, COR-13.
 */
export function takeLock(request: LockRequest): LockTaking {
  const { file, files, here, look, pid, nonce } = request
  const self = look(pid)
  const startTicks = (self.kind === 'running' ? self.startTicks : undefined) ?? UNKNOWN_START
  const by: LockOwner = { ...here, pid, startTicks, nonce }
  const text = encodeOwner(by)
  const own = `${file}.${nonce}`
  files.create(own, text)
  try {
    const refusal = claim({ ...request, by, own }, file, 0)
    if (refusal !== undefined) return refusal
  } finally {
    files.remove(own)
  }
  const isHeld = (): boolean => files.read(file) === text
  return {
    kind: 'taken',
    lock: {
      isHeld,
      release() {
        if (isHeld()) files.remove(file)
      },
    },
  }
}

type Refusal = Extract<LockTaking, { kind: 'held' }>
type Claim = LockRequest & { readonly by: LockOwner; readonly own: string }

/** Each level is a process that died while it took over from the one before. */
const LEVELS_MAX = 8

/** Gives the name to the claimant, or says who has it. A link appears with its content: there is never an empty lock file. */
function claim(claimant: Claim, name: string, level: number): Refusal | undefined {
  const { file, files, here, look, by, own, onTakeOver } = claimant
  if (files.link(own, name)) return undefined
  const judged = files.read(name)
  if (judged === undefined) return linkOr(claimant, name)
  const owner = decodeOwner(judged)
  if (owner === undefined) {
    return { kind: 'held', owner, reason: 'its content names no owner, so that nobody can be asked' }
  }
  const verdict: OwnerVerdict = judgeOwner(owner, here, look)
  if (verdict.kind === 'held') return { kind: 'held', owner, reason: verdict.reason }
  if (level === LEVELS_MAX) return { kind: 'held', owner, reason: `${name} is left of too many takeovers` }
  const right = `${file}.takeover-${owner.nonce}`
  const refusal = claim(claimant, right, level + 1)
  if (refusal !== undefined) return refusal
  try {
    // Who had the right before may have used it, and then another one holds this name.
    if (files.read(name) === judged) {
      if (level === 0) onTakeOver?.(owner, by, verdict.reason)
      files.remove(name)
    }
  } finally {
    files.remove(right)
  }
  return linkOr(claimant, name)
}

function linkOr({ files, own }: Claim, name: string): Refusal | undefined {
  if (files.link(own, name)) return undefined
  const owner = decodeOwner(files.read(name) ?? '')
  return { kind: 'held', owner, reason: 'it was taken in the same moment' }
}
