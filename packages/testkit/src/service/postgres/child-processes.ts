import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The ids of the processes that a process has started and that still run. */
export function childProcesses(pid: number): readonly number[] {
  const children: number[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(name)
    // The parent is the second field after the name in parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[1] === String(pid) && fields[0] !== 'Z') children.push(Number(name))
  }
  return children
}

/** Signals processes that may have ended meanwhile. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended; nothing is left to be told.
    }
  }
}

/** Waits until processes have ended, or so long. */
export async function waitUntilGone(pids: readonly number[], timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (pids.some(isRunning) && performance.now() < deadline) await sleep(10)
}

function isRunning(pid: number): boolean {
  const stat = readStat(String(pid))
  return stat !== '' && stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}
