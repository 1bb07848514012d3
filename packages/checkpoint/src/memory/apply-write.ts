import { decodeOffset } from '@tidemark/core'
import { checkpointErrors } from '../errors.ts'
import type { ProjectionWrite } from '../projection-write.ts'
import type { MemoryData, MemoryValue } from './memory-data.ts'

/** Takes one applied write back; valid only while it is the latest change of its key. */
export type UndoWrite = () => void

/**
 * Applies one write of the vocabulary to a keyspace, as Redis would.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_WRITE_INVALID when another kind of value stands under the key, or a
 *   `setIfGreater` meets a text that is not a whole number; the keyspace is unchanged then.
 */
export function applyWrite(data: MemoryData, write: ProjectionWrite): UndoWrite {
  switch (write.op) {
    case 'zadd':
      return applyZadd(data, write)
    case 'zrem': {
      const scores = collection(data, write, 'sorted-set')?.scores
      return scores === undefined ? unchanged : removeEntry(data, write.key, scores, write.member)
    }
    case 'sadd':
      return applySadd(data, write)
    case 'srem':
      return applySrem(data, write)
    case 'hset': {
      const fields = collection(data, write, 'hash')?.fields ?? newFields(data, write.key)
      return putEntry(data, write.key, fields, write.field, write.value)
    }
    case 'hdel': {
      const fields = collection(data, write, 'hash')?.fields
      return fields === undefined ? unchanged : removeEntry(data, write.key, fields, write.field)
    }
    case 'set':
      return putValue(data, write.key, { kind: 'string', value: write.value })
    case 'setIfGreater':
      return applySetIfGreater(data, write)
    case 'del':
      return removeValue(data, write.key)
  }
}

/**
 * Applies writes in order, all or none.
 *
 * @throws {TidemarkError} as {@link applyWrite}; every earlier write of the call is taken back then.
 */
export function applyWrites(data: MemoryData, writes: readonly ProjectionWrite[]): void {
  const undos: UndoWrite[] = []
  try {
    for (const write of writes) undos.push(applyWrite(data, write))
  } catch (error) {
    for (const undo of undos.reverse()) undo()
    throw error
  }
}

type Write<Op extends ProjectionWrite['op']> = Extract<ProjectionWrite, { readonly op: Op }>

const unchanged: UndoWrite = () => undefined

function applyZadd(data: MemoryData, write: Write<'zadd'>): UndoWrite {
  const scores = collection(data, write, 'sorted-set')?.scores ?? newScores(data, write.key)
  const held = scores.get(write.member)
  if (held !== undefined) {
    if (write.mode === 'GT' && write.score <= held) return unchanged
    if (write.mode === 'LT' && write.score >= held) return unchanged
  }
  return putEntry(data, write.key, scores, write.member, write.score)
}

function applySadd(data: MemoryData, write: Write<'sadd'>): UndoWrite {
  const held = collection(data, write, 'set')?.members
  if (held?.has(write.member) === true) return unchanged
  const members = held ?? newMembers(data, write.key)
  members.add(write.member)
  return () => {
    members.delete(write.member)
    if (members.size === 0) data.values.delete(write.key)
  }
}

function applySrem(data: MemoryData, write: Write<'srem'>): UndoWrite {
  const value = collection(data, write, 'set')
  if (value === undefined || !value.members.delete(write.member)) return unchanged
  if (value.members.size === 0) data.values.delete(write.key)
  return () => {
    value.members.add(write.member)
    data.values.set(write.key, value)
  }
}

function applySetIfGreater(data: MemoryData, write: Write<'setIfGreater'>): UndoWrite {
  const text = collection(data, write, 'string')?.value
  if (text !== undefined) {
    const held = decodeOffset(text)
    if (held === undefined) throw invalid(write, `the key holds "${text.slice(0, 32)}", not a whole number`)
    if (held >= write.value) return unchanged
  }
  return putValue(data, write.key, { kind: 'string', value: write.value.toString(10) })
}

function collection<Kind extends MemoryValue['kind']>(
  data: MemoryData,
  write: ProjectionWrite,
  kind: Kind,
): Extract<MemoryValue, { readonly kind: Kind }> | undefined {
  const value = data.values.get(write.key)
  if (value === undefined) return undefined
  if (value.kind !== kind) throw invalid(write, `the key holds a ${value.kind}, not a ${kind}`)
  return value as Extract<MemoryValue, { readonly kind: Kind }>
}

function newFields(data: MemoryData, key: string): Map<string, string> {
  const fields = new Map<string, string>()
  data.values.set(key, { kind: 'hash', fields })
  return fields
}

function newScores(data: MemoryData, key: string): Map<string, number> {
  const scores = new Map<string, number>()
  data.values.set(key, { kind: 'sorted-set', scores })
  return scores
}

function newMembers(data: MemoryData, key: string): Set<string> {
  const members = new Set<string>()
  data.values.set(key, { kind: 'set', members })
  return members
}

function putEntry<V>(data: MemoryData, key: string, entries: Map<string, V>, name: string, value: V): UndoWrite {
  const before = entries.get(name)
  entries.set(name, value)
  if (before !== undefined) return () => void entries.set(name, before)
  return () => {
    entries.delete(name)
    if (entries.size === 0) data.values.delete(key)
  }
}

function removeEntry<V>(data: MemoryData, key: string, entries: Map<string, V>, name: string): UndoWrite {
  const before = entries.get(name)
  if (before === undefined) return unchanged
  const holder = data.values.get(key)!
  entries.delete(name)
  if (entries.size === 0) data.values.delete(key)
  return () => {
    entries.set(name, before)
    data.values.set(key, holder)
  }
}

function putValue(data: MemoryData, key: string, value: MemoryValue): UndoWrite {
  const before = data.values.get(key)
  data.values.set(key, value)
  return () => restore(data, key, before)
}

function removeValue(data: MemoryData, key: string): UndoWrite {
  const before = data.values.get(key)
  data.values.delete(key)
  return before === undefined ? unchanged : () => restore(data, key, before)
}

function restore(data: MemoryData, key: string, before: MemoryValue | undefined): void {
  if (before === undefined) data.values.delete(key)
  else data.values.set(key, before)
}

function invalid(write: ProjectionWrite, reason: string): Error {
  return checkpointErrors.create('TM_CHECKPOINT_WRITE_INVALID', { op: write.op, key: write.key.slice(0, 128), reason })
}
