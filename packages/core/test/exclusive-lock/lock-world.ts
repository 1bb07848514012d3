import { encodeOwner, takeLock } from '@tidemark/core/exclusive-lock'
import type { LockFiles, LockTaking, TakenLock } from '@tidemark/core/exclusive-lock'

export const here = { host: 'h1', pidNamespace: 'pid:[1]', bootId: 'b1' }
export const FILE = '/d/lock'
export const nonceOf = (pid: number): string => String(pid).padStart(32, '0')

class Killed extends Error {}

/** What happens to a process just before one of its operations on files. */
export type Interruption = (pid: number, operation: number) => 'go-on' | 'die'

/** A directory that processes share, whose every operation can be preceded by whatever other processes do. */
export class LockWorld {
  readonly names: Map<string, string> = new Map()
  readonly alive: Set<number> = new Set()
  readonly holders: Map<number, TakenLock> = new Map()
  readonly takings: Map<number, LockTaking> = new Map()
  readonly faults: string[] = []
  readonly #interruption: Interruption
  readonly #corrupt: (files: LockFiles) => LockFiles

  constructor(interruption: Interruption = () => 'go-on', corrupt: (files: LockFiles) => LockFiles = (files) => files) {
    this.#interruption = interruption
    this.#corrupt = corrupt
  }

  /** Leaves a file of a process that is gone. */
  leave(name: string, pid: number): void {
    this.names.set(name, encodeOwner({ ...here, pid, startTicks: String(pid), nonce: nonceOf(pid) }))
  }

  /** One process takes the lock and goes on living with it, unless it is interrupted for good. */
  run(pid: number): void {
    this.alive.add(pid)
    try {
      const taking = takeLock({
        file: FILE,
        files: this.#corrupt(this.#filesOf(pid)),
        here,
        pid,
        nonce: nonceOf(pid),
        look: (other) => (this.alive.has(other) ? { kind: 'running', startTicks: String(other) } : { kind: 'gone' }),
      })
      if (!this.alive.has(pid)) return
      this.takings.set(pid, taking)
      if (taking.kind === 'taken') this.holders.set(pid, taking.lock)
    } catch (error) {
      if (!(error instanceof Killed)) throw error
    }
    this.#check(`after process ${pid}`)
  }

  end(pid: number): void {
    this.alive.delete(pid)
    this.holders.delete(pid)
  }

  #check(when: string): void {
    if (this.holders.size > 1) this.faults.push(`${when}: ${[...this.holders.keys()].join(' and ')} hold it`)
    for (const [pid, lock] of this.holders) if (!lock.isHeld()) this.faults.push(`${when}: ${pid} lost it`)
  }

  #filesOf(pid: number): LockFiles {
    let operation = 0
    const before = (): void => {
      // What a killed process would have done on its way out is not done.
      if (!this.alive.has(pid)) throw new Killed()
      const interruption = this.#interruption(pid, operation)
      operation += 1
      if (interruption === 'die') this.end(pid)
      if (!this.alive.has(pid)) throw new Killed()
    }
    // A holder that looks at its own lock is not a moment of taking one.
    const inTaking = (): boolean => !this.takings.has(pid)
    return {
      create: (path, text) => {
        before()
        if (this.names.has(path)) throw new Error(`${path} exists`)
        this.names.set(path, text)
      },
      link: (from, to) => {
        before()
        if (this.names.has(to)) return false
        this.names.set(to, this.names.get(from)!)
        return true
      },
      read: (path) => {
        if (inTaking()) before()
        return this.names.get(path)
      },
      remove: (path) => {
        before()
        this.names.delete(path)
      },
    }
  }
}
