/** Who holds a lock, as its file says. */
export interface LockOwner {
  readonly host: string
  /** A digest of the machine's own id, where it has one: host names alone are given to several machines. */
  readonly machine?: string
  /** The process id namespace; process ids of another one mean nothing here. */
  readonly pidNamespace: string
  /** The running of the machine. */
  readonly bootId: string
  readonly pid: number
  /** When the process started, in ticks since the boot: a process id is given out again, this with it is not. */
  readonly startTicks: string
  /** 32 hexadecimal digits, never used twice. */
  readonly nonce: string
}

/** What is known of a process id on this machine. */
export type ProcessSighting =
  { readonly kind: 'gone' } | { readonly kind: 'running'; readonly startTicks: string | undefined }

/** Whether a lock may be taken over, and why or why not. */
export type OwnerVerdict =
  { readonly kind: 'dead'; readonly reason: string } | { readonly kind: 'held'; readonly reason: string }

/** Where a judgement is made. */
export type HereAndNow = Pick<LockOwner, 'host' | 'machine' | 'pidNamespace' | 'bootId'>

/** What an owner says who cannot know when it started. */
export const UNKNOWN_START = 'unknown'

/**
 * Whether the owner of a lock is certainly gone.
 *
 * Only what is certain counts: an owner elsewhere cannot be looked at, and one that cannot be told from the process that
 * has its id now is taken for alive. Where either side knows no machine id, the host name stands for the machine.
 * Promises: COR-12.
 */
export function judgeOwner(owner: LockOwner, here: HereAndNow, look: (pid: number) => ProcessSighting): OwnerVerdict {
  if (owner.host !== here.host) return { kind: 'held', reason: `it belongs to another host, ${owner.host}` }
  // Pods of one name on several nodes share a directory over the network; another boot id then is another machine's.
  if (owner.machine !== undefined && here.machine !== undefined && owner.machine !== here.machine) {
    return { kind: 'held', reason: `it belongs to another machine that is called ${owner.host}, too` }
  }
  // After a boot nothing of before runs, whatever the namespaces were called then.
  if (owner.bootId !== here.bootId) return { kind: 'dead', reason: 'the machine has started anew since' }
  if (owner.pidNamespace !== here.pidNamespace) {
    return { kind: 'held', reason: `it belongs to another process id namespace, ${owner.pidNamespace}` }
  }
  const seen = look(owner.pid)
  if (seen.kind === 'gone') return { kind: 'dead', reason: `process ${owner.pid} does not exist` }
  if (seen.startTicks === undefined || owner.startTicks === UNKNOWN_START) {
    return { kind: 'held', reason: `a process ${owner.pid} runs and its start cannot be compared` }
  }
  if (seen.startTicks !== owner.startTicks) {
    return { kind: 'dead', reason: `process id ${owner.pid} was given to another process since` }
  }
  return { kind: 'held', reason: `process ${owner.pid} runs` }
}

/** The text of a lock file. */
export function encodeOwner(owner: LockOwner): string {
  return `${JSON.stringify({ v: 1, ...owner })}\n`
}

/** The owner that a lock file names, or `undefined` when it is none. */
export function decodeOwner(text: string): LockOwner | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { v, host, machine, pidNamespace, bootId, pid, startTicks, nonce } = value as Record<string, unknown>
  if (v !== 1 || !Number.isSafeInteger(pid) || (pid as number) < 1) return undefined
  const texts = [host, machine === undefined ? 'none' : machine, pidNamespace, bootId, startTicks]
  if (!texts.every((one) => typeof one === 'string' && one !== '')) return undefined
  // It becomes part of a file's name.
  if (typeof nonce !== 'string' || !/^[0-9a-f]{32}$/.test(nonce)) return undefined
  const known = machine === undefined ? {} : { machine }
  return { host, ...known, pidNamespace, bootId, pid, startTicks, nonce } as LockOwner
}

/** An owner for messages. */
export function describeOwner(owner: LockOwner | undefined): string {
  return owner === undefined ? 'an unreadable owner' : `process ${owner.pid} on ${owner.host}`
}
