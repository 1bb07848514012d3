import { utf8Length } from '@tidemark/core'
import type { ProjectionWrite } from '@tidemark/checkpoint'

/** Writes in the form the scripts take: distinct keys, a program over them, and its values. */
export interface EncodedWrites {
  readonly keys: readonly string[]
  /** Runs `<letter><mark><count>;`, see the script's vocabulary. */
  readonly program: string
  /** A JSON array of strings. Every argument costs the client more than what stands in it, so there is one. */
  readonly values: string
}

/** What a buffer collected: writes and the upper estimate of their bytes. */
export interface StepWrites {
  readonly writes: readonly ProjectionWrite[]
  readonly byteCount: number
}

/** Consecutive writes of one kind on one key; what one command can do. */
export interface WriteRun {
  readonly letter: RunLetter
  count: number
  readonly values: string[]
}

/** The kinds of run: ZADD GT, LT, plain; ZREM; SADD, SREM; HSET, HDEL; SET; raise; DEL. */
export type RunLetter = 'G' | 'L' | 'A' | 'Z' | 'S' | 'R' | 'H' | 'D' | 'W' | 'M' | 'X'

const zaddLetters = { GT: 'G', LT: 'L', ANY: 'A' } as const

/**
 * Groups writes by key, keeping their order on each key.
 *
 * The order between keys does not matter: the step is atomic, or its writes commute. Fewer commands and fewer arguments
 * are what makes a step fast, on the client more than on the server.
 */
export function groupWrites(writes: readonly ProjectionWrite[], dataPrefix: string): ReadonlyMap<string, WriteRun[]> {
  const groups = new Map<string, WriteRun[]>()
  for (const write of writes) {
    const key = dataPrefix === '' ? write.key : dataPrefix + write.key
    const letter = letterOf(write)
    const runs = groups.get(key)
    const last = runs?.[runs.length - 1]
    if (last === undefined || last.letter !== letter) {
      const run: WriteRun = { letter, count: 1, values: [] }
      addValues(write, run.values)
      if (runs === undefined) groups.set(key, [run])
      else runs.push(run)
    } else if (letter === 'W') {
      // Only the last of several replacements is ever seen.
      last.values[0] = (write as { readonly value: string }).value
    } else if (letter !== 'X') {
      last.count += 1
      addValues(write, last.values)
    }
  }
  return groups
}

/** The script form of writes. */
export function encodeWrites(writes: readonly ProjectionWrite[], dataPrefix: string): EncodedWrites {
  const keys: string[] = []
  const values: string[] = []
  let program = ''
  for (const [key, runs] of groupWrites(writes, dataPrefix)) {
    keys.push(key)
    let mark = '!'
    for (const run of runs) {
      program += run.letter + mark + run.count + ';'
      for (const value of run.values) values.push(value)
      mark = '+'
    }
  }
  return { keys, program, values: JSON.stringify(values) }
}

/**
 * Writes cut into stretches that one script may hold, in order.
 *
 * Shape: never empty; no writes give one empty stretch. A single write is at most 192 KiB, so each fits alone.
 */
export function cutWrites(
  step: StepWrites,
  limits: { readonly writesMax: number; readonly bytesMax: number },
  dataPrefix: string,
): readonly (readonly ProjectionWrite[])[] {
  const { writes } = step
  const prefixBytes = utf8Length(dataPrefix)
  const bytesAll = step.byteCount + prefixBytes * writes.length
  // The usual batch was kept within the limits while it was collected; it is not measured a second time.
  if (writes.length <= limits.writesMax && bytesAll <= limits.bytesMax) return [writes]
  const cuts: ProjectionWrite[][] = [[]]
  let bytes = 0
  for (const write of writes) {
    const size = writeBytes(write) + prefixBytes
    const current = cuts[cuts.length - 1]!
    if (current.length > 0 && (current.length >= limits.writesMax || bytes + size > limits.bytesMax)) {
      cuts.push([write])
      bytes = size
    } else {
      current.push(write)
      bytes += size
    }
  }
  return cuts
}

/** What a write takes at most in a command, headers included. */
function writeBytes(write: ProjectionWrite): number {
  let bytes = 32 + utf8Length(write.key)
  const values: string[] = []
  addValues(write, values)
  for (const value of values) bytes += utf8Length(value)
  return bytes
}

/** The kind of run a write belongs to. */
function letterOf(write: ProjectionWrite): RunLetter {
  switch (write.op) {
    case 'zadd':
      return zaddLetters[write.mode]
    case 'zrem':
      return 'Z'
    case 'sadd':
      return 'S'
    case 'srem':
      return 'R'
    case 'hset':
      return 'H'
    case 'hdel':
      return 'D'
    case 'set':
      return 'W'
    case 'setIfGreater':
      return 'M'
    case 'del':
      return 'X'
  }
}

/** Appends the values of a write as texts, in the order its command takes them; the key is not one of them. */
function addValues(write: ProjectionWrite, values: string[]): void {
  switch (write.op) {
    case 'zadd':
      values.push(String(write.score), write.member)
      return
    case 'zrem':
    case 'sadd':
    case 'srem':
      values.push(write.member)
      return
    case 'hset':
      values.push(write.field, write.value)
      return
    case 'hdel':
      values.push(write.field)
      return
    case 'set':
      values.push(write.value)
      return
    case 'setIfGreater':
      values.push(String(write.value))
      return
    case 'del':
  }
}
