import { readFileSync } from 'node:fs'

/**
 * The most memory this process has held at once, in megabytes.
 *
 * Linux keeps it for the program itself; what `getrusage` tells there survives the start of a program, so that a process
 * started by a larger one would be told the size of that one.
 */
export function peakMegabytes(): number {
  const { maxRSS } = process.resourceUsage()
  if (process.platform !== 'linux') return maxRSS / 1_024
  const match = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  if (match === null) throw new Error('/proc/self/status tells no VmHWM')
  return Number(match[1]) / 1_024
}
