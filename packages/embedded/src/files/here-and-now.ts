import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { HereAndNow, ProcessSighting } from '@tidemark/core/exclusive-lock'

/**
 * Which machine, running and process id namespace this is.
 *
 * Where the system does not tell (no /proc), the parts are one fixed word: then the running and the start of a process cannot
 * be compared, and a lock is taken over only when no process has its id. A machine without an id of its own (many containers) says none.
 */
export function hereAndNow(): HereAndNow {
  const machine = machineOf(readText('/etc/machine-id'))
  return {
    host: hostname(),
    ...(machine === undefined ? {} : { machine }),
    bootId: readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown',
    pidNamespace: readLink('/proc/self/ns/pid') ?? 'unknown',
  }
}

/** What stands for a machine id in files that others may read, or `undefined` where the text is none. Source: machine-id(5). */
export function machineOf(machineId: string | undefined): string | undefined {
  const id = machineId?.trim() ?? ''
  // The id itself is confidential, and a machine that was not set up yet has a word in its place.
  return /^[0-9a-f]{32}$/.test(id)
    ? createHash('sha256').update(`tidemark lock ${id}`).digest('hex').slice(0, 32)
    : undefined
}

/** What runs under a process id. */
export function lookAtProcess(pid: number): ProcessSighting {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM says that it runs, as somebody else's.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return { kind: 'gone' }
  }
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return { kind: 'running', startTicks: undefined }
  // The second field is the name in parentheses and may hold blanks. The state follows it, the start is the 20th from there.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A process that has ended but was not yet waited for holds nothing any more.
  if (fields[0] === 'Z' || fields[0] === 'X') return { kind: 'gone' }
  return { kind: 'running', startTicks: fields[19] }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
