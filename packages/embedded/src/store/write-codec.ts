import { decodeOffset } from '@tidemark/core'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import type { MemoryData, MemoryValue } from '@tidemark/checkpoint/memory'

/**
 * The writes of a step as JSON arrays without the outer brackets, so that several steps join into one frame.
 *
 * Shape: `["zadd",key,mode,score,member]` and so on, in the order of the vocabulary's fields.
 */
export function encodeWrites(writes: readonly ProjectionWrite[]): string {
  return writes.map((write) => JSON.stringify(encodeWrite(write))).join(',')
}

/** The payload of a frame that holds the steps. */
export function joinSteps(steps: readonly string[]): Buffer {
  return Buffer.from(`[${steps.filter((step) => step !== '').join(',')}]`, 'utf8')
}

/** The writes a payload stands for, or `undefined` when it is not one. */
export function decodeWrites(payload: Buffer): readonly ProjectionWrite[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(payload.toString('utf8'))
  } catch {
    return undefined
  }
  if (!Array.isArray(parsed)) return undefined
  const writes: ProjectionWrite[] = []
  for (const row of parsed as readonly unknown[]) {
    const write = Array.isArray(row) ? decodeWrite(row as readonly unknown[]) : undefined
    if (write === undefined) return undefined
    writes.push(write)
  }
  return writes
}

function encodeWrite(write: ProjectionWrite): readonly (string | number)[] {
  switch (write.op) {
    case 'zadd':
      return [write.op, write.key, write.mode, write.score, write.member]
    case 'zrem':
    case 'sadd':
    case 'srem':
      return [write.op, write.key, write.member]
    case 'hset':
      return [write.op, write.key, write.field, write.value]
    case 'hdel':
      return [write.op, write.key, write.field]
    case 'set':
      return [write.op, write.key, write.value]
    case 'setIfGreater':
      return [write.op, write.key, write.value.toString(10)]
    case 'del':
      return [write.op, write.key]
  }
}

function decodeWrite(row: readonly unknown[]): ProjectionWrite | undefined {
  const [op, key, a, b, c] = row
  if (typeof key !== 'string') return undefined
  if (op === 'zadd') {
    const isMode = a === 'GT' || a === 'LT' || a === 'ANY'
    return isMode && Number.isSafeInteger(b) && typeof c === 'string'
      ? { op, key, mode: a, score: b as number, member: c }
      : undefined
  }
  if (op === 'del') return { op, key }
  if (typeof a !== 'string') return undefined
  switch (op) {
    case 'zrem':
    case 'sadd':
    case 'srem':
      return { op, key, member: a }
    case 'hset':
      return typeof b === 'string' ? { op, key, field: a, value: b } : undefined
    case 'hdel':
      return { op, key, field: a }
    case 'set':
      return { op, key, value: a }
    case 'setIfGreater': {
      const value = decodeOffset(a)
      return value === undefined ? undefined : { op, key, value }
    }
    default:
      return undefined
  }
}

/** The writes that make a keyspace out of an empty one, in chunks of about a given size. */
export function* dumpKeyspace(data: MemoryData, chunkBytes: number): Generator<Buffer> {
  let steps: string[] = []
  let length = 0
  for (const [key, value] of data.values) {
    for (const write of valueWrites(key, value)) {
      const step = encodeWrites([write])
      steps.push(step)
      length += step.length
      if (length < chunkBytes) continue
      yield joinSteps(steps)
      steps = []
      length = 0
    }
  }
  if (steps.length > 0) yield joinSteps(steps)
}

function* valueWrites(key: string, value: MemoryValue): Generator<ProjectionWrite> {
  switch (value.kind) {
    case 'string':
      yield { op: 'set', key, value: value.value }
      return
    case 'hash':
      for (const [field, text] of value.fields) yield { op: 'hset', key, field, value: text }
      return
    case 'set':
      for (const member of value.members) yield { op: 'sadd', key, member }
      return
    case 'sorted-set':
      for (const [member, score] of value.scores) yield { op: 'zadd', key, mode: 'ANY', score, member }
  }
}
